// One update of all parameters: gradient clipping, Adam, and the moving average of the weights.
#pragma once

#include <functional>
#include <vector>

#include "base/thread_pool.h"
#include "nn/storage/parameters.h"
#include "train/recipe/recipe.h"
#include "train/reduce/parameter_slices.h"
#include "train/reduce/reducer.h"

namespace heed::train {

/// Processes flat arrays in chunks of a fixed size, so that the bits do not depend on the number of threads.
/// Each rank has the state of its slices of the parameters (parameter_slices.h) and updates them (ZeRO stage
/// 1: Rajbhandari et al., 2020).
class Optimizer {
 public:
  /// Table and reducer must outlive this.
  Optimizer(const nn::ParameterTable& table, const Recipe& recipe, Reducer& reducer);

  /// Replaces the recipe's schedule.
  void set_schedule(const Schedule& schedule) { schedule_ = schedule; }

  /// The norm of all gradients: the square root of the sum of all squares. Each rank has the gradients of its
  /// slices and gets the norm of all.
  double norm(ThreadPool& pool, const nn::ParameterArray& gradients) const;

  /// What gradients of this norm are multiplied by, so that it is at most optimizer.clip_norm.
  double clip(double norm) const;

  /// The arrays of an update, of all parameters.
  struct Update {
    int64_t n = 1;  ///< its number, from 1
    nn::ParameterArray& values;
    const nn::ParameterArray& gradients;
    double gradient_scale = 1;
    nn::ParameterArray& average;  ///< moves towards the new values, if defined
  };
  /// Of the slices of this rank.
  void update(ThreadPool& pool, const Update& update);

  /// Adam's running means of the gradients and of their squares, of the slices of this rank, one behind the
  /// other.
  Tensor& first_moment() { return m_; }
  Tensor& second_moment() { return v_; }

 private:
  /// What one thread processes at once.
  struct Chunk {
    Range elements;
    int64_t state = 0;  ///< where its moments begin
  };
  void for_each_chunk(ThreadPool& pool, const std::function<void(const Chunk&)>& body) const;

  const nn::ParameterTable& table_;
  Reducer& reducer_;
  ParameterSlices slices_;
  std::vector<Chunk> chunks_;   // of the slices of this rank
  std::vector<Range> trained_;  // all parameters that are trained
  Recipe recipe_;
  Schedule schedule_;
  Tensor m_, v_;
};

}  // namespace heed::train
