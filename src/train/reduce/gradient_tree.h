// Sums the gradients of shards in one fixed tree, whichever finishes first.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "nn/storage/parameters.h"
#include "train/reduce/parameter_slices.h"
#include "train/reduce/reduction_tree.h"

namespace heed::train {

/// The shape of the tree (reduction_tree.h) depends only on the number of shards, so the sum has the same
/// bits for any number of threads. Pairs are added as soon as both are complete, section by section
/// (parameter_slices.h), so only a few arrays are in use at a time. With several ranks, each adds up its own
/// shards as far as the tree allows.
class GradientTree {
 public:
  GradientTree(const nn::ParameterTable& table, const ParameterSlices& slices)
      : table_(table), slices_(slices) {}

  /// Call before a step. `own` are the shards of this rank.
  void begin(const ReductionTree& tree, const Range& own);
  /// Memory for the gradients of a shard, zeros at first; thread-safe, once for each own shard.
  nn::ParameterArray take(size_t shard);
  /// A section of the shard's gradients is final: adds it, and all sums that are now possible; thread-safe.
  void put(size_t shard, size_t section);
  /// Makes all sums complete, with any values, after an error. No shard may be in work any more.
  void give_up();

  /// Waits for a section of all sums; returns whether they are complete: false after cancel().
  bool wait_for(size_t section);
  void cancel();
  /// The sum of the node, one of ReductionTree::nodes_of(own). Valid for sections that are complete.
  const nn::ParameterArray& sum(const TreeNode& node) const;

  /// After all own shards: the sums of ReductionTree::nodes_of(own). Return them with recycle().
  std::vector<nn::ParameterArray> sums();
  nn::ParameterArray zeros();
  void recycle(nn::ParameterArray gradients);

 private:
  /// Where the sum of a node is: in the array of its first shard.
  nn::ParameterArray& array_of(const TreeNode& node);
  /// The array of a shard has one section less that is not part of another sum.
  void release(const TreeNode& node);
  void keep_zeros(nn::ParameterArray zeros);

  const nn::ParameterTable& table_;
  const ParameterSlices& slices_;
  std::optional<ReductionTree> tree_;
  Range own_;
  std::vector<TreeNode> roots_;             // the nodes of `own_`
  std::vector<nn::ParameterArray> arrays_;  // of each own shard

  std::mutex mutex_;  // guards what follows
  std::condition_variable completed_;
  std::vector<std::vector<std::vector<bool>>> complete_;  // [level][node][section]
  std::vector<size_t> sections_left_;                     // of each own shard, in its array
  std::vector<size_t> roots_left_;                        // of each section, incomplete
  bool cancelled_ = false;
  std::vector<nn::ParameterArray> zeros_;  // arrays that are not in use
};

}  // namespace heed::train
