// How weights are packed for inference: see panel_tile-inl.h.
#pragma once

#include <cstdint>

namespace heed {

/// Outputs of a panel.
constexpr int64_t kPanelColumns = 64;
/// Inputs that stand together in a panel of 8-bit whole numbers.
constexpr int64_t kGroupInputs = 4;
/// Quantized activations are at most this: 7 bits.
constexpr int kLargestActivation = 127;
/// Of a panel that rows are multiplied with before they go on to the rest of it: what the first-level cache
/// holds, beside the rows.
constexpr int64_t kCachedPanelBytes = 32 << 10;

/// `out` filled up to whole panels.
constexpr int64_t whole_panels(int64_t out) {
  return (out + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
}

/// K of packed int8 weights: `in` padded to a multiple of two groups.
constexpr int64_t padded_inputs(int64_t in) {
  return (in + 2 * kGroupInputs - 1) / (2 * kGroupInputs) * (2 * kGroupInputs);
}

}  // namespace heed
