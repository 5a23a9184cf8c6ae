// Products with packed weights in bfloat16, y = x W^T + b: weights and rows of x are rounded to bfloat16,
// sums are float32. On AVX512-BF16 and AMX alone: elsewhere products in float32 are as fast.
//
// Batch-invariant: a row of y depends on its own row of x alone, bit for bit.
#pragma once

#include <cstdint>

namespace heed {

/// Whether the instruction set in use has products in bfloat16.
bool has_bf16_products();

/// Dwords that weights (out, in) take when they are packed.
int64_t bf16_panel_dwords(int64_t out, int64_t in);

/// Packs weights (out, in) in panels of kPanelWidth outputs, padded with zeros. Other than the last one,
/// calls for a part of the outputs take whole panels.
void pack_b_bf16(const float* weights, int64_t out, int64_t in, uint32_t* panels);

struct PackedBf16Arguments {
  int64_t rows = 0, out = 0, in = 0;
  const float* x = nullptr;          ///< (rows, in)
  const uint32_t* panels = nullptr;  ///< from pack_b_bf16()
  const float* bias = nullptr;       ///< (out) or null
  float* y = nullptr;                ///< (rows, out)
  int64_t y_stride = 0;              ///< elements from one row of y to the next
};
void multiply_packed_bf16(const PackedBf16Arguments& arguments);

}  // namespace heed
