// Sums the gradients of shards in one fixed tree, whichever finishes first.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "nn/parameters.h"
#include "train/reduction_tree.h"

namespace heed::train {

/// The shape of the tree (reduction_tree.h) depends only on the number of shards, so the sum has the same
/// bits for any number of threads. Pairs are added as soon as both are complete, so only a few arrays are in
/// use at a time. With several ranks, each adds up its own shards as far as the tree allows.
class GradientTree {
 public:
  explicit GradientTree(const nn::ParameterTable& table) : table_(table) {}

  /// Call before a step. `own` are the shards that put() is called with.
  void begin(const ReductionTree& tree, const Range& own);
  /// An array of zeros for a shard; thread-safe.
  nn::ParameterArray take();
  /// Adds the gradients of a finished shard, and all sums that are now possible; thread-safe.
  void put(size_t shard, nn::ParameterArray gradients);
  /// After all own shards: the sums of ReductionTree::nodes_of(own). Return them with recycle().
  std::vector<nn::ParameterArray> sums();
  void recycle(nn::ParameterArray gradients);

 private:
  void keep_zeros(nn::ParameterArray zeros);

  const nn::ParameterTable& table_;
  std::mutex mutex_;
  std::optional<ReductionTree> tree_;
  Range own_;
  std::vector<std::vector<nn::ParameterArray>> levels_;  // [level][node]
  std::vector<nn::ParameterArray> zeros_;                // arrays that are not in use
};

}  // namespace heed::train
