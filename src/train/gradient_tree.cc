#include "train/gradient_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kernels/pointwise/elementwise.h"

namespace heed::train {
namespace {

/// sum += x, and x = 0 while it is in the cache.
void add_and_clear(Tensor& x, Tensor& sum) {
  constexpr int64_t kChunk = 1 << 15;
  auto *from = x.data<float>(), *to = sum.data<float>();
  for (int64_t begin = 0; begin < sum.size(); begin += kChunk) {
    const int64_t size = std::min(kChunk, sum.size() - begin);
    add_scaled({.size = size, .factor = 1.0f, .x = from + begin, .y = to + begin});
    std::fill_n(from + begin, size, 0.0f);
  }
}

}  // namespace

void GradientTree::begin(const ReductionTree& tree, const Range& own) {
  tree_ = tree;
  own_ = own;
  levels_.clear();
  for (size_t level = 0; level < tree.levels(); ++level) levels_.emplace_back(tree.nodes(level));
}

nn::ParameterArray GradientTree::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!zeros_.empty()) {
      nn::ParameterArray array = std::move(zeros_.back());
      zeros_.pop_back();
      return array;
    }
  }
  return nn::ParameterArray(table_, DType::kFloat32);
}

void GradientTree::put(size_t shard, nn::ParameterArray gradients) {
  TreeNode node{0, shard};
  for (; node.level + 1 < levels_.size(); node = {node.level + 1, node.index / 2}) {
    if (!own_.contains(tree_->shards_of({node.level + 1, node.index / 2}))) break;  // the rest is elsewhere
    auto& nodes = levels_[node.level];
    const size_t neighbour = node.index ^ 1;
    if (neighbour >= nodes.size()) continue;  // the last of an odd number has no partner
    nn::ParameterArray other;
    {
      const std::lock_guard lock(mutex_);
      if (!nodes[neighbour].defined()) {
        nodes[node.index] = std::move(gradients);
        return;
      }
      other = std::move(nodes[neighbour]);
      nodes[neighbour] = {};
    }
    if (node.index % 2 == 1) std::swap(gradients, other);
    add_and_clear(other.flat(), gradients.flat());
    keep_zeros(std::move(other));
  }
  const std::lock_guard lock(mutex_);
  levels_[node.level][node.index] = std::move(gradients);
}

std::vector<nn::ParameterArray> GradientTree::sums() {
  std::vector<nn::ParameterArray> sums;
  for (const TreeNode& node : tree_->nodes_of(own_)) {
    sums.push_back(std::move(levels_[node.level][node.index]));
    HEED_CHECK(sums.back().defined());
  }
  return sums;
}

void GradientTree::recycle(nn::ParameterArray gradients) {
  Tensor& flat = gradients.flat();
  std::fill_n(flat.data<float>(), flat.size(), 0.0f);
  keep_zeros(std::move(gradients));
}

void GradientTree::keep_zeros(nn::ParameterArray zeros) {
  const std::lock_guard lock(mutex_);
  zeros_.push_back(std::move(zeros));
}

}  // namespace heed::train
