#include "nn/norm.h"

#include "ops/rms_norm.h"

namespace heed::nn {

Norm::Norm(ParameterTable& table, const std::string& name, int64_t width, const Options& options)
    : options_(options) {
  if (options.kind == NormKind::kLayer) {
    layer_ = LayerNorm(table, name, width, options.epsilon);
  } else {
    rms_weight_ = table.add({name + ".weight", {width}, {Initialisation::Kind::kOnes}, {}});
  }
}

Var Norm::forward(Context& context, const Var& x) const {
  if (options_.kind == NormKind::kLayer) return layer_.forward(context, x);
  return ops::rms_norm(x, context.parameter(rms_weight_), options_.epsilon);
}

}  // namespace heed::nn
