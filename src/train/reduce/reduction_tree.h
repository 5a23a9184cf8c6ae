// The order in which the gradients of shards are added: a fixed binary tree, whatever rank or thread computed
// a shard.
//
// Level 0 has the shards. Nodes 2i and 2i + 1 of a level are added to node i of the next; the last of an odd
// number has no partner and moves up as it is. With 5 shards:
//
//   level 0   0 1 2 3 4
//   level 1   01 23 4
//   level 2   0123 4
//   level 3   01234
#pragma once

#include <cstddef>
#include <vector>

#include "distributed/slices.h"

namespace heed::train {

using distributed::Range;

/// A sum of shards in the tree.
struct TreeNode {
  size_t level = 0, index = 0;
  bool operator==(const TreeNode&) const = default;
};

/// Additions of the list: number `to` += number `from`.
struct Addition {
  size_t to = 0, from = 0;
  bool operator==(const Addition&) const = default;
};

class ReductionTree {
 public:
  explicit ReductionTree(size_t shards);

  size_t shards() const { return level_sizes_[0]; }
  size_t levels() const { return level_sizes_.size(); }
  /// The number of nodes of a level.
  size_t nodes(size_t level) const { return level_sizes_[level]; }
  /// The shards that a node is the sum of.
  Range shards_of(const TreeNode& node) const;

  /// The fewest nodes that are together the shards of `range`, in their order; of equal nodes the highest. A
  /// rank with these shards can compute them, and nothing more, without the others.
  std::vector<TreeNode> nodes_of(const Range& range) const;
  /// The additions that make the sum of all shards of these nodes, which are those of all ranges, in order.
  /// The sum is in the first.
  std::vector<Addition> additions(const std::vector<TreeNode>& nodes) const;

 private:
  std::vector<size_t> level_sizes_;
};

}  // namespace heed::train
