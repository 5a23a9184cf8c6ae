// Sums the gradients of shards in one fixed tree, whichever finishes first.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "nn/parameters.h"

namespace heed::train {

/// Shards i and i ^ 1 are added, then pairs of pairs, and so on. The shape of the tree depends only on the
/// number of shards, so the sum has the same bits for any number of threads. Pairs are added as soon as both
/// are complete, so only a few arrays are in use at a time.
class GradientTree {
 public:
  explicit GradientTree(const nn::ParameterTable& table) : table_(table) {}

  /// Call before a step.
  void begin(size_t shards);
  /// An array of zeros for a shard; thread-safe.
  nn::ParameterArray take();
  /// Adds the gradients of a finished shard, and all sums that are now possible; thread-safe.
  void put(size_t shard, nn::ParameterArray gradients);
  /// The sum, after all shards. Return it with recycle().
  nn::ParameterArray sum();
  void recycle(nn::ParameterArray gradients);

 private:
  void keep_zeros(nn::ParameterArray zeros);

  const nn::ParameterTable& table_;
  std::mutex mutex_;
  std::vector<std::vector<nn::ParameterArray>> levels_;  // [level][node]
  std::vector<nn::ParameterArray> zeros_;                // arrays that are not in use
};

}  // namespace heed::train
