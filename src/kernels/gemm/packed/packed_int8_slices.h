// Products with packed float32 weights on AMX, y = x W^T + b, as int8 slices (amx/int8_slices-inl.h;
// docs/adr/0014). Batch-invariant as packed_f32.h.
#pragma once

#include <cstdint>

namespace heed {

/// Whether this processor has AMX and it pays off for this many inputs.
bool uses_int8_slices(int64_t in);

/// Packed weights (out, in): panels of 16 outputs, padded with zeros.
struct SlicedPanels {
  uint32_t* dwords = nullptr;  ///< (out / 16, in / 64, 3 slices, 16 tile rows, 16 dwords)
  float* scales = nullptr;     ///< (out / 16, blocks of K, 16)
};
/// Elements of these arrays.
struct SlicedPanelSizes {
  int64_t dwords, scales;
};
SlicedPanelSizes sliced_panel_sizes(int64_t out, int64_t in);
void pack_b_int8_slices(const float* weights, int64_t out, int64_t in, const SlicedPanels& panels);

struct PackedInt8SlicesArguments {
  int64_t rows = 0, out = 0, in = 0;
  const float* x = nullptr;          ///< (rows, in)
  const uint32_t* dwords = nullptr;  ///< from pack_b_int8_slices(), as the scales
  const float* scales = nullptr;
  const float* bias = nullptr;  ///< (out) or null
  float* y = nullptr;           ///< (rows, out)
  int64_t y_stride = 0;         ///< elements from one row of y to the next
};
void multiply_packed_int8_slices(const PackedInt8SlicesArguments& arguments);

}  // namespace heed
