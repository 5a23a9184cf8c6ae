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

void GradientTree::begin(size_t shards) {
  HEED_CHECK(shards > 0);
  levels_.clear();
  for (size_t nodes = shards;; nodes = (nodes + 1) / 2) {
    levels_.emplace_back(nodes);
    if (nodes == 1) break;
  }
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
  size_t node = shard;
  for (size_t level = 0; level + 1 < levels_.size(); ++level, node /= 2) {
    auto& nodes = levels_[level];
    const size_t neighbour = node ^ 1;
    if (neighbour >= nodes.size()) continue;  // the last of an odd number has no partner
    nn::ParameterArray other;
    {
      const std::lock_guard lock(mutex_);
      if (!nodes[neighbour].defined()) {
        nodes[node] = std::move(gradients);
        return;
      }
      other = std::move(nodes[neighbour]);
      nodes[neighbour] = {};
    }
    if (node % 2 == 1) std::swap(gradients, other);
    add_and_clear(other.flat(), gradients.flat());
    keep_zeros(std::move(other));
  }
  levels_.back()[0] = std::move(gradients);
}

nn::ParameterArray GradientTree::sum() {
  nn::ParameterArray total = std::move(levels_.back()[0]);
  HEED_CHECK(total.defined());
  return total;
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
