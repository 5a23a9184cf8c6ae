#include "train/reduce/gradient_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kernels/pointwise/elementwise.h"

namespace heed::train {
namespace {

/// sum += x, and x = 0 while it is in the cache.
void add_and_clear(const Range& elements, Tensor& x, Tensor& sum) {
  constexpr int64_t kChunk = 1 << 15;
  auto *from = x.data<float>(), *to = sum.data<float>();
  for (int64_t begin = elements.begin; begin < elements.end; begin += kChunk) {
    const int64_t size = std::min(kChunk, elements.end - begin);
    add_scaled({.size = size, .factor = 1.0f, .x = from + begin, .y = to + begin});
    std::fill_n(from + begin, size, 0.0f);
  }
}

TreeNode parent_of(const TreeNode& node) {
  return {node.level + 1, node.index / 2};
}

}  // namespace

void GradientTree::begin(const ReductionTree& tree, const Range& own) {
  const std::lock_guard lock(mutex_);
  tree_ = tree;
  own_ = own;
  roots_ = tree.nodes_of(own);
  arrays_.assign(static_cast<size_t>(own.size()), {});
  complete_.clear();
  for (size_t level = 0; level < tree.levels(); ++level) {
    complete_.emplace_back(tree.nodes(level), std::vector<bool>(slices_.sections()));
  }
  sections_left_.assign(arrays_.size(), slices_.sections());
  roots_left_.assign(slices_.sections(), roots_.size());
  cancelled_ = false;
}

nn::ParameterArray& GradientTree::array_of(const TreeNode& node) {
  return arrays_[static_cast<size_t>(tree_->shards_of(node).begin - own_.begin)];
}

const nn::ParameterArray& GradientTree::sum(const TreeNode& node) const {
  return arrays_[static_cast<size_t>(tree_->shards_of(node).begin - own_.begin)];
}

nn::ParameterArray GradientTree::take(size_t shard) {
  return array_of({0, shard}) = zeros();
}

void GradientTree::put(size_t shard, size_t section) {
  TreeNode node{0, shard};
  for (; std::ranges::find(roots_, node) == roots_.end(); node = parent_of(node)) {
    const TreeNode left{node.level, node.index & ~size_t{1}}, right{node.level, node.index | 1};
    if (right.index >= tree_->nodes(node.level)) continue;  // the last of an odd number has no partner
    {
      const std::lock_guard lock(mutex_);
      auto& nodes = complete_[node.level];
      nodes[node.index][section] = true;
      if (!nodes[node.index ^ 1][section]) return;
    }
    add_and_clear(slices_.section(section), array_of(right).flat(), array_of(left).flat());
    release(right);
  }
  const std::lock_guard lock(mutex_);
  if (--roots_left_[section] == 0) completed_.notify_all();
}

void GradientTree::release(const TreeNode& node) {
  const auto shard = static_cast<size_t>(tree_->shards_of(node).begin - own_.begin);
  {
    const std::lock_guard lock(mutex_);
    if (--sections_left_[shard] > 0) return;
  }
  keep_zeros(std::exchange(arrays_[shard], {}));
}

void GradientTree::give_up() {
  for (const TreeNode& root : roots_) {
    if (!array_of(root).defined()) array_of(root) = zeros();
  }
  const std::lock_guard lock(mutex_);
  std::ranges::fill(roots_left_, 0);
  completed_.notify_all();
}

bool GradientTree::wait_for(size_t section) {
  std::unique_lock lock(mutex_);
  completed_.wait(lock, [&] { return cancelled_ || roots_left_[section] == 0; });
  return !cancelled_;
}

void GradientTree::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  completed_.notify_all();
}

std::vector<nn::ParameterArray> GradientTree::sums() {
  std::vector<nn::ParameterArray> sums;
  for (const TreeNode& root : roots_) {
    sums.push_back(std::exchange(array_of(root), {}));
    HEED_CHECK(sums.back().defined());
  }
  return sums;
}

nn::ParameterArray GradientTree::zeros() {
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
