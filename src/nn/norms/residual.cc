#include "nn/norms/residual.h"

#include "base/check.h"
#include "ops/elementwise.h"

namespace heed::nn {

Residual::Residual(ParameterTable& table, const std::string& prefix, const NormNames& names,
                   const LayerOptions& options, const Position& position)
    : stack_(options.stack), position_(position), norm_first_(options.norm_first), dropout_(options.dropout) {
  const Norm::Options kind{options.norm, options.norm_epsilon, options.norm_weight_offset, options.norm_bias};
  if (!names.norm.empty()) norm_.emplace(table, prefix + names.norm, options.width, kind);
  if (names.output_norm.empty()) return;
  HEED_CHECK(norm_first_);
  output_norm_.emplace(table, prefix + names.output_norm, options.width, kind);
}

Var Residual::add(Context& context, const Var& x, const Var& y) const {
  return ops::add_dropout(x, context.pass(state_id(StateKind::kAdded), y), context.next_dropout(dropout_));
}

Var Residual::normed_sum(Context& context, const Var& x, const Var& y) const {
  if (!norm_ || context.training) return normed(context, norm_, add(context, x, y));
  return norm_->forward_sum(context, x, context.pass(state_id(StateKind::kAdded), y));
}

}  // namespace heed::nn
