#include "nn/norm.h"

#include "ops/batch_norm.h"
#include "ops/rms_norm.h"

namespace heed::nn {

Norm::Norm(ParameterTable& table, const std::string& name, int64_t width, const Options& options)
    : options_(options) {
  using Kind = Initialisation::Kind;
  if (options.kind == NormKind::kLayer) {
    layer_ = LayerNorm(table, name, width, options.epsilon);
    return;
  }
  weight_ = table.add({name + ".weight", {width}, {Kind::kOnes}, {}});
  if (options.kind == NormKind::kRms) return;
  bias_ = table.add({name + ".bias", {width}, {Kind::kZeros}, {}});
  const auto add_statistic = [&](const char* what, Kind begin) {
    ParamSpec spec{name + what, {width}, {begin}, {}, /*trained=*/false};
    spec.momentum = options.momentum;
    return table.add(spec);
  };
  mean_ = add_statistic(".running_mean", Kind::kZeros);
  variance_ = add_statistic(".running_var", Kind::kOnes);
}

Var Norm::forward(Context& context, const Var& x) const {
  switch (options_.kind) {
    case NormKind::kLayer:
      return layer_.forward(context, x);
    case NormKind::kRms:
      return ops::rms_norm(x, context.parameter(weight_), options_.epsilon);
    case NormKind::kBatch:
      break;
  }
  return forward_batch(context, x);
}

/// A single row has no variance: it is normalised by the running averages, even in training.
Var Norm::forward_batch(Context& context, const Var& x) const {
  const Tensor mean = context.values->view(*context.table, mean_);
  const Tensor variance = context.values->view(*context.table, variance_);
  const bool own = context.training && x.value().size() > x.dim(-1);
  ops::RunningMoments moments{own ? Tensor::zeros(mean.shape(), mean.dtype()) : mean,
                              own ? Tensor::zeros(mean.shape(), mean.dtype()) : variance};
  Var y = ops::batch_norm(x, context.parameter(weight_), context.parameter(bias_), moments,
                          {.epsilon = options_.epsilon, .momentum = 1, .training = own});
  context.collect(mean_, moments.mean);
  context.collect(variance_, moments.variance);
  return y;
}

}  // namespace heed::nn
