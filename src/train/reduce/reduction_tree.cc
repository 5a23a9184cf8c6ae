#include "train/reduce/reduction_tree.h"

#include <algorithm>
#include <functional>

#include "base/check.h"

namespace heed::train {

ReductionTree::ReductionTree(size_t shards) {
  HEED_CHECK(shards > 0);
  for (size_t nodes = shards;; nodes = (nodes + 1) / 2) {
    level_sizes_.push_back(nodes);
    if (nodes == 1) break;
  }
}

Range ReductionTree::shards_of(const TreeNode& node) const {
  return {static_cast<int64_t>(node.index << node.level),
          static_cast<int64_t>(std::min((node.index + 1) << node.level, shards()))};
}

std::vector<TreeNode> ReductionTree::nodes_of(const Range& range) const {
  std::vector<TreeNode> found;
  for (int64_t shard = range.begin; shard < range.end; shard = shards_of(found.back()).end) {
    TreeNode node{0, static_cast<size_t>(shard)};
    while (node.level + 1 < levels()) {
      const TreeNode parent{node.level + 1, node.index / 2};
      if (!Range{shard, range.end}.contains(shards_of(parent))) break;
      node = parent;
    }
    found.push_back(node);
  }
  return found;
}

std::vector<Addition> ReductionTree::additions(const std::vector<TreeNode>& nodes) const {
  std::vector<Addition> all;
  // Adds up what is below a node, and returns the number in the list that has the sum.
  const std::function<size_t(TreeNode)> add_up = [&](const TreeNode& node) {
    const auto known = std::ranges::find(nodes, node);
    if (known != nodes.end()) return static_cast<size_t>(known - nodes.begin());
    HEED_CHECK(node.level > 0);
    const TreeNode left{node.level - 1, 2 * node.index}, right{node.level - 1, 2 * node.index + 1};
    const size_t sum = add_up(left);
    if (right.index < level_sizes_[right.level]) all.push_back({sum, add_up(right)});
    return sum;
  };
  HEED_CHECK(add_up({levels() - 1, 0}) == 0);
  return all;
}

}  // namespace heed::train
