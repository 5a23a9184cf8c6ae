#include "train/gradient_tree.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "kernels/elementwise.h"

namespace heed::train {

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
    if (!free_.empty()) {
      nn::ParameterArray array = std::move(free_.back());
      free_.pop_back();
      Tensor& flat = array.flat();
      std::memset(flat.data<float>(), 0, static_cast<size_t>(flat.size()) * sizeof(float));
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
    if (neighbour >= nodes.size()) continue;  // the last of an odd number goes up alone
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
    add_scaled({.size = gradients.flat().size(),
                .factor = 1.0f,
                .x = other.flat().data<float>(),
                .y = gradients.flat().data<float>()});
    recycle(std::move(other));
  }
  levels_.back()[0] = std::move(gradients);
}

nn::ParameterArray GradientTree::sum() {
  nn::ParameterArray total = std::move(levels_.back()[0]);
  HEED_CHECK(total.defined());
  return total;
}

void GradientTree::recycle(nn::ParameterArray gradients) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(gradients));
}

}  // namespace heed::train
