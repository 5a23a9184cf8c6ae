// Batch norm (Ioffe and Szegedy, 2015), which hardly any Transformer uses and Heed has for comparison.
//
// It differs from every other layer: its result depends on the batch, and it has running averages, which are
// parameters that are not trained by gradients. Everything that follows from this is in this file:
//
// - In training, forward() adds the mean and variance of its batch to the gradient buffers of the running
//   averages, which no gradient uses. So they are summed over shards in the same fixed tree as gradients.
// - RunningStatistics weights each shard, takes the sums out of the gradients before the optimizer sees them,
//   and moves the running averages after the update.
#pragma once

#include <string>
#include <vector>

#include "nn/context.h"

namespace heed::nn {

class BatchNorm {
 public:
  struct Options {
    double epsilon = 1e-5;  ///< added to the variance
    double momentum = 0.1;  ///< how far running averages move towards those of an update
  };
  BatchNorm() = default;
  /// Registers `name`.weight, `name`.bias, `name`.running_mean and `name`.running_var, all (width).
  BatchNorm(ParameterTable& table, const std::string& name, int64_t width, const Options& options);
  /// (..., width) -> the same shape. A batch is what one forward pass of training sees: the tokens of all
  /// sentences of a shard. A single row has no variance: it is normalized by the running averages.
  Var forward(Context& context, const Var& x) const;

 private:
  Options options_;
  ParamRef weight_, bias_, mean_, variance_;
};

/// The running averages of all batch norms of a model, in training.
class RunningStatistics {
 public:
  explicit RunningStatistics(const ParameterTable& table);
  /// After the backward pass of a shard: its statistics count so much. The shares of all shards sum to 1.
  void weight_shard(ParameterArray& gradients, double share) const;
  /// After the shards' gradients were summed: keeps the statistics and sets their place to 0.
  void take_out(ParameterArray& gradients);
  /// After the update: moves the running averages towards what take_out() kept.
  void move(ParameterArray& values) const;

 private:
  struct Statistic {
    int row = 0;
    std::vector<float> collected;
  };
  const ParameterTable& table_;
  std::vector<Statistic> statistics_;
};

}  // namespace heed::nn
