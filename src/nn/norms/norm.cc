#include "nn/norms/norm.h"

#include "base/check.h"
#include "ops/elementwise.h"
#include "ops/norms/rms_norm.h"

namespace heed::nn {

ParamRef rms_weight(ParameterTable& table, const std::string& name, int64_t width, double offset) {
  HEED_CHECK(offset == 0 || offset == 1);
  const auto first = offset == 1 ? Initialization::Kind::kZeros : Initialization::Kind::kOnes;
  return table.add({name + ".weight", {width}, {first}, {}});
}

Norm::Norm(ParameterTable& table, const std::string& name, int64_t width, const Options& options)
    : options_(options) {
  switch (options.kind) {
    case NormKind::kLayer:
      layer_ = LayerNorm(table, name, width, options.epsilon, options.bias);
      return;
    case NormKind::kRms:
      rms_weight_ = rms_weight(table, name, width, options.weight_offset);
      return;
    case NormKind::kBatch:
      batch_ = BatchNorm(table, name, width, {.epsilon = options.epsilon});
      return;
  }
}

Var Norm::forward(Context& context, const Var& x) const {
  switch (options_.kind) {
    case NormKind::kLayer:
      return layer_.forward(context, x);
    case NormKind::kRms:
      return ops::rms_norm(x, context.parameter(rms_weight_),
                           {.epsilon = options_.epsilon, .weight_offset = options_.weight_offset});
    case NormKind::kBatch:
      return batch_.forward(context, x);
  }
  HEED_CHECK(false);
}

Var Norm::forward_sum(Context& context, const Var& x, const Var& added) const {
  const bool differentiable = context.tape != nullptr || x.wants_gradient() || added.wants_gradient();
  if (options_.kind == NormKind::kLayer && !differentiable) {
    return layer_.forward_sum(context, x.value(), added.value());
  }
  return forward(context, ops::add(x, added));
}

}  // namespace heed::nn
