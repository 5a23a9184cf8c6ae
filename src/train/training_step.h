// Forward, loss and backward of one update, on all threads.
#pragma once

#include <vector>

#include "base/rng.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "kernels/gemm/gemm.h"
#include "train/gradient_tree.h"
#include "train/task.h"

namespace heed::train {

struct TrainingStepOptions {
  MatmulPrecision precision = MatmulPrecision::kHighest;  ///< of the products of run()
  Stop stop = {};  ///< run() and evaluate() throw Stopped where this is requested
};

class TrainingStep {
 public:
  TrainingStep(const Task& task, const nn::ParameterTable& table, ThreadPool& pool,
               const TrainingStepOptions& options = {});

  /// The mean loss of all parts of a batch and its gradients, with dropout drawn from `key`. The gradients
  /// are in gradients() until the next call.
  LossSums run(const std::vector<Batch>& parts, const nn::ParameterArray& values, RandomKey key);
  const nn::ParameterArray& gradients() const { return gradients_; }
  /// Moves running statistics (of batch norm) towards the mean of those of the last batch's parts.
  void move_statistics(nn::ParameterArray& values) const;

  /// The loss of batches of the validation text, without gradients and dropout.
  LossSums evaluate(const std::vector<Batch>& batches, const nn::ParameterArray& values);

 private:
  /// A row of the table that is a running statistic, and what the parts of the last batch say it is.
  struct Statistic {
    int row = 0;
    std::vector<float> collected;
  };
  void take_out_statistics();

  const Task& task_;
  const nn::ParameterTable& table_;
  ThreadPool& pool_;
  TrainingStepOptions options_;
  GradientTree tree_;
  nn::ParameterArray gradients_;
  std::vector<Statistic> statistics_;
};

}  // namespace heed::train
