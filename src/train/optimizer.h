// One update of all parameters: gradient clipping, Adam, and the moving average of the weights.
#pragma once

#include "base/thread_pool.h"
#include "nn/parameters.h"
#include "train/recipe.h"

namespace heed::train {

/// Processes flat arrays in chunks of a fixed size, so that the bits do not depend on the number of threads.
class Optimizer {
 public:
  /// The table must outlive this.
  Optimizer(const nn::ParameterTable& table, const Recipe& recipe);

  /// The norm of all gradients: the square root of the sum of all squares.
  double norm(ThreadPool& pool, const nn::ParameterArray& gradients) const;

  /// Update number n, from 1. `norm` is that of the gradients. `average`, if defined, moves towards the new
  /// values.
  void update(ThreadPool& pool, nn::ParameterArray& values, const nn::ParameterArray& gradients, double norm,
              int64_t n, nn::ParameterArray& average);

  /// Adam's running means of the gradients and of their squares.
  nn::ParameterArray& first_moment() { return m_; }
  nn::ParameterArray& second_moment() { return v_; }

 private:
  /// Elements [begin, end) of the flat array.
  struct Range {
    int64_t begin = 0, end = 0;
  };

  const nn::ParameterTable& table_;
  std::vector<Range> trained_;  // all parameters that are trained
  Recipe recipe_;
  Schedule schedule_;
  nn::ParameterArray m_, v_;
};

}  // namespace heed::train
