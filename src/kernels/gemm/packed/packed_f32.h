// Products with packed float32 weights, y = x W^T + b, with vector FMA.
//
// Batch-invariant: a row of y depends on its own row of x alone, bit for bit; each element is one sum in the
// order of the inputs, whatever the number of rows.
#pragma once

#include <cstdint>

namespace heed {

/// Packs weights (out, in) in panels: (out / kPanelWidth, in, kPanelWidth), padded with zeros; `panels` has
/// padded_n(out) * in elements.
void pack_b_f32(const float* weights, int64_t out, int64_t in, float* panels);

struct PackedF32Arguments {
  int64_t rows = 0, out = 0, in = 0;
  const float* x = nullptr;       ///< (rows, in)
  const float* panels = nullptr;  ///< from pack_b_f32()
  const float* bias = nullptr;    ///< (out) or null
  float* y = nullptr;             ///< (rows, out)
  int64_t y_stride = 0;           ///< elements from one row of y to the next
};
void multiply_packed_f32(const PackedF32Arguments& arguments);

}  // namespace heed
