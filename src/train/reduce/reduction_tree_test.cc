#include "train/reduce/reduction_tree.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "distributed/slices.h"

namespace heed::train {
namespace {

using distributed::Slices;

/// The order of additions as text, "((0+1)+2)", when so many ranks have the shards.
std::string order(size_t shards, int ranks) {
  const ReductionTree tree(shards);
  std::vector<TreeNode> nodes;
  for (int rank = 0; rank < ranks; ++rank) {
    const Range own = Slices(static_cast<int64_t>(shards), ranks).of(rank);
    for (const TreeNode& node : tree.nodes_of(own)) nodes.push_back(node);
  }
  // What a rank does by itself is the same tree over its own shards.
  const std::function<std::string(TreeNode)> text_of = [&](const TreeNode& node) -> std::string {
    if (node.level == 0) return std::to_string(node.index);
    const TreeNode left{node.level - 1, 2 * node.index}, right{node.level - 1, 2 * node.index + 1};
    if (right.index >= tree.nodes(right.level)) return text_of(left);
    return "(" + text_of(left) + "+" + text_of(right) + ")";
  };
  std::vector<std::string> sums;
  for (const TreeNode& node : nodes) sums.push_back(text_of(node));
  for (const Addition& each : tree.additions(nodes))
    sums[each.to] = "(" + sums[each.to] + "+" + sums[each.from] + ")";
  return sums[0];
}

TEST(ReductionTree, TheOrderDoesNotDependOnTheRanks) {
  EXPECT_EQ(order(5, 1), "(((0+1)+(2+3))+4)");
  EXPECT_EQ(order(7, 1), "(((0+1)+(2+3))+((4+5)+6))");
  for (size_t shards = 1; shards <= 33; ++shards) {
    for (int ranks = 1; ranks <= static_cast<int>(shards); ++ranks) {
      EXPECT_EQ(order(shards, ranks), order(shards, 1)) << shards << " shards, " << ranks << " ranks";
    }
  }
}

TEST(ReductionTree, RanksAddUpWhatTheyCan) {
  using Nodes = std::vector<TreeNode>;
  const ReductionTree tree(8);
  EXPECT_EQ(tree.nodes_of({0, 8}), (Nodes{{3, 0}}));
  EXPECT_EQ(tree.nodes_of({4, 8}), (Nodes{{2, 1}}));
  EXPECT_EQ(tree.nodes_of({2, 6}), (Nodes{{1, 1}, {1, 2}}));
  EXPECT_EQ(tree.nodes_of({1, 7}), (Nodes{{0, 1}, {1, 1}, {1, 2}, {0, 6}}));
  EXPECT_EQ(tree.nodes_of({3, 3}), Nodes{});
  EXPECT_EQ(ReductionTree(5).nodes_of({4, 5}), (Nodes{{2, 1}})) << "a shard without a partner moves up";
}

}  // namespace
}  // namespace heed::train
