// The names of sub-layers in what is written.
#pragma once

#include "base/check.h"
#include "nn/state_hook.h"

namespace heed {

inline const char* sub_layer_name(nn::SubLayer sub_layer) {
  switch (sub_layer) {
    case nn::SubLayer::kSelfAttention:
      return "self-attention";
    case nn::SubLayer::kCrossAttention:
      return "cross-attention";
    case nn::SubLayer::kFeedForward:
      return "feed-forward";
    case nn::SubLayer::kRecurrence:
      return "recurrence";
  }
  HEED_CHECK(false);
}

}  // namespace heed
