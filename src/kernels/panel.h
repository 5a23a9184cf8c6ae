// How weights are packed for inference: see panel_tile-inl.h.
#pragma once

#include <cstdint>

namespace heed {

/// Outputs of a panel.
constexpr int64_t kPanelColumns = 64;
/// Inputs that stand together in a panel of 8-bit whole numbers.
constexpr int64_t kGroupInputs = 4;

/// `out` filled up to whole panels.
constexpr int64_t whole_panels(int64_t out) {
  return (out + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
}

}  // namespace heed
