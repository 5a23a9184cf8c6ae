// Sums the gradients of shards in one fixed tree, whichever finishes first.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "nn/parameters.h"

namespace heed::train {

/// Shard i and its neighbour i ^ 1 are added, then pairs of pairs, and so on. The shape of the tree depends
/// on the number of shards alone, so the sum has the same bits for any number of threads; and pairs are added
/// as soon as both are there, so only a few arrays are in use at once.
class GradientTree {
 public:
  explicit GradientTree(const nn::ParameterTable& table) : table_(table) {}

  /// Before a step.
  void begin(size_t shards);
  /// An array of zeros for a shard; thread-safe.
  nn::ParameterArray take();
  /// Hands in the gradients of shard `shard`; adds what can be added now; thread-safe.
  void put(size_t shard, nn::ParameterArray gradients);
  /// After all shards: the sum. Give it back with recycle().
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
