// Factors for the outputs of attention heads. 0 removes a head (ablation): its output becomes zeros, and the
// other heads and the bias of the output projection stay.
#pragma once

#include <vector>

#include "nn/attention_sink.h"

namespace heed::nn {

struct HeadScale {
  AttentionLayerId layer_id = {};  ///< layer from 0; -1: every layer of the stack
  int head = -1;                   ///< from 0; -1: every head
  float scale = 0;
};

class HeadScales {
 public:
  HeadScales() = default;
  explicit HeadScales(std::vector<HeadScale> scales) : scales_(std::move(scales)) {}

  const std::vector<HeadScale>& all() const { return scales_; }
  bool empty() const { return scales_.empty(); }
  /// The factor of each head of a layer, the product of all that apply; empty if none applies.
  std::vector<float> of(const AttentionLayerId& id, int heads) const {
    std::vector<float> factors;
    for (const HeadScale& each : scales_) {
      if (each.layer_id.stack != id.stack) continue;
      if (each.layer_id.layer >= 0 && each.layer_id.layer != id.layer) continue;
      if (factors.empty()) factors.assign(static_cast<size_t>(heads), 1.0F);
      for (int head = 0; head < heads; ++head) {
        if (each.head < 0 || each.head == head) factors[static_cast<size_t>(head)] *= each.scale;
      }
    }
    return factors;
  }

 private:
  std::vector<HeadScale> scales_;
};

}  // namespace heed::nn
