// The gradients of a batch: each of its shards passes forward and backward through the model, on all threads
// of all processes, and the gradients are added up in one fixed order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "nn/norms/batch_norm.h"
#include "train/reduce/gradient_exchange.h"
#include "train/reduce/gradient_tree.h"
#include "train/reduce/parameter_slices.h"
#include "train/reduce/reducer.h"
#include "train/tasks/task.h"

namespace heed::train {

/// A shard of a batch on its way forward and backward.
class ShardPass {
 public:
  const Batch& batch() const { return batch_; }
  nn::Context& context() { return context_; }
  /// The derivatives of all parameters. Sections of them are reduced as soon as they are final.
  void backward(const Var& loss);

 private:
  friend class GradientReduction;
  ShardPass(const Batch& batch, std::function<void()> end_forward)
      : batch_(batch), end_forward_(std::move(end_forward)) {}

  const Batch& batch_;
  std::function<void()> end_forward_;
  nn::Context context_;
};

class GradientReduction {
 public:
  struct Options {
    MatmulPrecision precision = MatmulPrecision::kHighest;  ///< of matrix products
    Stop stop = {};                                         ///< makes run() throw Cancelled, in all processes
  };
  /// Computes the loss of a shard and calls backward() with it; from several threads at once. Not called for
  /// empty shards.
  using Pass = std::function<LossSums(ShardPass& shard)>;

  /// All must outlive this.
  GradientReduction(const nn::ParameterTable& table, ThreadPool& pool, Reducer& reducer,
                    const Options& options);

  /// The loss of all shards, with dropout drawn from `key`. Each process computes some of the shards. The sum
  /// of their gradients is in gradients() until the next call.
  LossSums run(const std::vector<Batch>& shards, const nn::ParameterArray& values, RandomKey key,
               const Pass& pass);
  /// Only the slices of this process (parameter_slices.h) are set.
  const nn::ParameterArray& gradients() const { return gradients_; }
  /// The batch statistics of batch norms, which are not part of gradients().
  const nn::RunningStatistics& statistics() const { return statistics_; }
  /// The gradients of one shard, as a fingerprint, to compare processors.
  uint64_t fingerprint(const Batch& shard, const nn::ParameterArray& values, RandomKey key, const Pass& pass);

 private:
  /// What does not depend on the shard.
  struct Passes {
    const nn::ParameterArray& values;
    const Pass& pass;
    double filled = 1;  ///< the number of shards that are not empty
  };
  /// Adds the gradients of a shard, and reports each section as soon as it is final.
  LossSums add_gradients(const Passes& passes, const Batch& shard, RandomKey key,
                         nn::ParameterArray gradients, const std::function<void(size_t)>& report) const;
  /// Those of the shards of this process: their reports are set.
  struct ShardReport;
  void add_own_shards(const Passes& passes, const std::vector<Batch>& shards, RandomKey key,
                      std::vector<ShardReport>& reports);

  const nn::ParameterTable& table_;
  ThreadPool& pool_;
  Reducer& reducer_;
  Options options_;
  ParameterSlices slices_;
  GradientTree tree_;
  std::unique_ptr<GradientExchange> exchange_;
  nn::ParameterArray gradients_;
  nn::RunningStatistics statistics_;
};

}  // namespace heed::train
