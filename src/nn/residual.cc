#include "nn/residual.h"

#include "ops/elementwise.h"

namespace heed::nn {

Residual::Residual(ParameterTable& table, const std::string& norm_name, const LayerOptions& options)
    : norm_(table, norm_name, options.width, {options.norm, options.norm_epsilon}),
      norm_first_(options.norm_first),
      dropout_(options.dropout) {}

Var Residual::add(Context& context, const Var& x, const Var& y) const {
  return ops::add_dropout(x, y, context.next_dropout(dropout_));
}

}  // namespace heed::nn
