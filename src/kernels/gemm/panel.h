// How weights are packed for inference: see panel_tile-inl.h.
#pragma once

#include <cstdint>

namespace heed {

/// Outputs of a panel.
constexpr int64_t kPanelColumns = 64;
/// Inputs that stand together in a panel of 8-bit whole numbers.
constexpr int64_t kGroupInputs = 4;
/// Of a panel that rows are multiplied with before they go on to the rest of it: what the first-level cache
/// holds, beside the rows.
constexpr int64_t kCachedPanelBytes = 32 << 10;

/// `out` filled up to whole panels.
constexpr int64_t whole_panels(int64_t out) {
  return (out + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
}

/// `in` filled up to whole groups.
constexpr int64_t whole_groups(int64_t in) {
  return (in + kGroupInputs - 1) / kGroupInputs * kGroupInputs;
}

}  // namespace heed
