// Forward, loss and backward of one update, on all threads.
#pragma once

#include <memory>
#include <vector>

#include "base/rng.h"
#include "base/thread_pool.h"
#include "data/batcher.h"
#include "data/corpus.h"
#include "models/seq2seq.h"
#include "train/gradient_tree.h"

namespace heed::train {

/// Sums over a set of sentences.
struct LossSums {
  double loss = 0;                     ///< with label smoothing
  double negative_log_likelihood = 0;  ///< without
  int64_t target_tokens = 0;
  int64_t source_tokens = 0;
  void add(const LossSums& other);
};

class TrainingStep {
 public:
  TrainingStep(const models::Seq2Seq& model, ThreadPool& pool)
      : model_(model), pool_(pool), tree_(model.table()) {}

  /// The mean loss of all target tokens of `shards` and its gradients, with dropout drawn from `key`. The
  /// gradients are in gradients() until the next call.
  LossSums run(const Corpus& corpus, const std::vector<Batch>& shards, const nn::ParameterArray& values,
               double label_smoothing, RandomKey key);
  const nn::ParameterArray& gradients() const { return gradients_; }

  /// The loss of sentences, without gradients and dropout.
  LossSums evaluate(const Corpus& corpus, const std::vector<Batch>& batches, const nn::ParameterArray& values,
                    double label_smoothing);

 private:
  const models::Seq2Seq& model_;
  ThreadPool& pool_;
  GradientTree tree_;
  nn::ParameterArray gradients_;
};

}  // namespace heed::train
