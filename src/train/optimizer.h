// One update of all parameters: gradient clipping, Adam, and the moving average of the weights.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "distributed/communicator.h"
#include "nn/parameters.h"
#include "train/parameter_slices.h"
#include "train/recipe.h"

namespace heed::train {

/// Processes flat arrays in chunks of a fixed size, so that the bits do not depend on the number of threads.
/// Each rank has the state of its slice of the parameters (parameter_slices.h) and updates that slice (ZeRO
/// stage 1: Rajbhandari et al., 2020).
class Optimizer {
 public:
  /// Table and communicator must outlive this.
  Optimizer(const nn::ParameterTable& table, const Recipe& recipe,
            distributed::Communicator& ranks = distributed::single_process());

  /// The norm of all gradients: the square root of the sum of all squares. Each rank has the gradients of its
  /// slice and gets the norm of all.
  double norm(ThreadPool& pool, const nn::ParameterArray& gradients) const;

  /// Update number n, from 1, of the slice of this rank. `norm` is that of all gradients. `average`, if
  /// defined, moves towards the new values.
  void update(ThreadPool& pool, nn::ParameterArray& values, const nn::ParameterArray& gradients, double norm,
              int64_t n, nn::ParameterArray& average);

  /// Adam's running means of the gradients and of their squares, of the slice of this rank.
  Tensor& first_moment() { return m_; }
  Tensor& second_moment() { return v_; }

 private:
  using Range = distributed::Range;

  const nn::ParameterTable& table_;
  distributed::Communicator& ranks_;
  Range own_;                   // the slice
  std::vector<Range> trained_;  // all parameters that are trained
  Recipe recipe_;
  Schedule schedule_;
  Tensor m_, v_;
};

}  // namespace heed::train
