#include "nn/norms/batch_norm.h"

#include <algorithm>

#include "ops/norms/batch_norm.h"

namespace heed::nn {
namespace {

template <typename T>
void add(const Tensor& value, Tensor sum) {
  for (int64_t i = 0; i < sum.size(); ++i) sum.data<T>()[i] += value.data<T>()[i];
}

/// Adds to the gradient buffer of a running average.
void collect(const Context& context, ParamRef statistic, const Tensor& value) {
  if (!context.training || context.gradients == nullptr) return;
  Tensor sum = context.gradients->view(*context.table, statistic);
  if (sum.dtype() == DType::kFloat32) {
    add<float>(value, sum);
  } else {
    add<double>(value, sum);
  }
}

template <typename T>
void scale(Tensor x, T factor) {
  for (int64_t i = 0; i < x.size(); ++i) x.data<T>()[i] *= factor;
}

}  // namespace

BatchNorm::BatchNorm(ParameterTable& table, const std::string& name, int64_t width, const Options& options)
    : options_(options) {
  using Kind = Initialization::Kind;
  weight_ = table.add({name + ".weight", {width}, {Kind::kOnes}, {}});
  bias_ = table.add({name + ".bias", {width}, {Kind::kZeros}, {}});
  const auto add_statistic = [&](const char* what, Kind begin) {
    ParamSpec spec{name + what, {width}, {begin}, {}, /*trained=*/false};
    spec.momentum = options.momentum;
    return table.add(spec);
  };
  mean_ = add_statistic(".running_mean", Kind::kZeros);
  variance_ = add_statistic(".running_var", Kind::kOnes);
}

Var BatchNorm::forward(Context& context, const Var& x) const {
  const Tensor mean = context.values->view(*context.table, mean_);
  const Tensor variance = context.values->view(*context.table, variance_);
  const bool own = context.training && x.value().size() > x.dim(-1);
  ops::RunningMoments moments{own ? Tensor::zeros(mean.shape(), mean.dtype()) : mean,
                              own ? Tensor::zeros(mean.shape(), mean.dtype()) : variance};
  Var y = ops::batch_norm(x, context.parameter(weight_), context.parameter(bias_), moments,
                          {.epsilon = options_.epsilon, .momentum = 1, .training = own});
  collect(context, mean_, moments.mean);
  collect(context, variance_, moments.variance);
  return y;
}

RunningStatistics::RunningStatistics(const ParameterTable& table) : table_(table) {
  for (int row = 0; row < table.size(); ++row) {
    if (table[row].momentum > 0) statistics_.push_back({row, {}});
  }
}

void RunningStatistics::weight_shard(ParameterArray& gradients, double share) const {
  for (const Statistic& statistic : statistics_) {
    const Tensor sum = gradients.view(table_, {statistic.row, 1});
    if (sum.dtype() == DType::kFloat32) {
      scale(sum, static_cast<float>(share));
    } else {
      scale(sum, share);
    }
  }
}

void RunningStatistics::take_out(ParameterArray& gradients) {
  for (Statistic& statistic : statistics_) {
    Tensor sum = gradients.view(table_, {statistic.row, 1});
    statistic.collected = sum.to_vector<float>();
    std::fill_n(sum.data<float>(), sum.size(), 0.0f);
  }
}

void RunningStatistics::move(ParameterArray& values) const {
  for (const Statistic& statistic : statistics_) {
    const auto momentum = static_cast<float>(table_[statistic.row].momentum);
    float* value = values.view(table_, {statistic.row, 1}).data<float>();
    for (const float collected : statistic.collected) {
      *value += momentum * (collected - *value);
      ++value;
    }
  }
}

}  // namespace heed::nn
