// Forward, loss and backward of one update, on all threads.
#pragma once

#include <vector>

#include "base/rng.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "nn/batch_norm.h"
#include "train/gradient_tree.h"
#include "train/task.h"

namespace heed::train {

struct TrainingStepOptions {
  MatmulPrecision precision = MatmulPrecision::kHighest;  ///< of matrix products
  Stop stop = {};                                         ///< makes run() throw Stopped
};

class TrainingStep {
 public:
  TrainingStep(const Objective& objective, const nn::ParameterTable& table, ThreadPool& pool,
               const TrainingStepOptions& options = {});

  /// The loss of all shards of a batch and the gradients of its mean, with dropout drawn from `key`. The
  /// gradients are in gradients() until the next call.
  LossSums run(const std::vector<Batch>& shards, const nn::ParameterArray& values, RandomKey key);
  const nn::ParameterArray& gradients() const { return gradients_; }
  /// The batch statistics of batch norms, which are not part of gradients().
  const nn::RunningStatistics& statistics() const { return statistics_; }

 private:
  const Objective& objective_;
  const nn::ParameterTable& table_;
  ThreadPool& pool_;
  TrainingStepOptions options_;
  GradientTree tree_;
  nn::ParameterArray gradients_;
  nn::RunningStatistics statistics_;
};

}  // namespace heed::train
