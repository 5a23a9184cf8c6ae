// Forward, loss and backward of one update, on all threads of all ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "distributed/communicator.h"
#include "nn/batch_norm.h"
#include "train/gradient_exchange.h"
#include "train/gradient_tree.h"
#include "train/parameter_slices.h"
#include "train/task.h"

namespace heed::train {

struct TrainingStepOptions {
  MatmulPrecision precision = MatmulPrecision::kHighest;  ///< of matrix products
  Stop stop = {};                                         ///< makes run() throw Stopped, on all ranks
  distributed::Communicator* ranks = &distributed::single_process();
};

class TrainingStep {
 public:
  TrainingStep(const Objective& objective, const nn::ParameterTable& table, ThreadPool& pool,
               const TrainingStepOptions& options = {});

  /// The loss of all shards of a batch and the gradients of its mean, with dropout drawn from `key`. Each
  /// rank computes some of the shards. The gradients are in gradients() until the next call.
  LossSums run(const std::vector<Batch>& shards, const nn::ParameterArray& values, RandomKey key);
  /// Only the slices of this rank (parameter_slices.h) are set.
  const nn::ParameterArray& gradients() const { return gradients_; }
  /// The batch statistics of batch norms, which are not part of gradients().
  const nn::RunningStatistics& statistics() const { return statistics_; }
  /// The gradients of one shard, as a fingerprint, to compare processors.
  uint64_t fingerprint(const Batch& shard, const nn::ParameterArray& values, RandomKey key);

 private:
  /// What does not depend on the shard.
  struct Update {
    const nn::ParameterArray& values;
    double weight = 0;  ///< of all shards
    double filled = 0;  ///< the number of shards that are not empty
  };
  /// Adds the gradients of a shard, and reports each section as soon as it is final.
  LossSums add_gradients(const Update& update, const Batch& shard, RandomKey key,
                         nn::ParameterArray gradients, const std::function<void(size_t)>& report) const;

  const Objective& objective_;
  const nn::ParameterTable& table_;
  ThreadPool& pool_;
  TrainingStepOptions options_;
  ParameterSlices slices_;
  GradientTree tree_;
  GradientExchange exchange_;
  nn::ParameterArray gradients_;
  nn::RunningStatistics statistics_;
};

}  // namespace heed::train
