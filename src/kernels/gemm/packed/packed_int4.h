// 4-bit products, y = x W^T + b: weights and activations in groups of 32 along K, each with its own scale.
//
//   W_oi ~ scale_og q_oi + min_og         q in 0 .. 15, scale and minimum in float16: 5 bits for each weight
//   x_ri ~ scale_rg p_ri                    p in -127 .. 127, from the largest absolute value, at run time
//   y_ro = sum_g scale_rg (scale_og sum_i p_ri q_oi + min_og sum_i p_ri) + b_o
//
// The sums of integers are exact, and everything that is rounded is rounded by the same operations in the
// same order, so y is bitwise identical on every processor, whatever the batch.
#pragma once

#include <cstdint>

#include "kernels/gemm/blocking.h"

namespace heed {

/// Numbers along K that share a scale. K is whole groups.
constexpr int64_t kInt4Group = 32;

/// Quantized rows. Byte i of a row has elements 2 i (low four bits) and 2 i + 1.
struct Int4Rows {
  uint8_t* values = nullptr;   ///< (rows, columns / 2)
  uint16_t* scales = nullptr;  ///< float16, (rows, columns / kInt4Group), and so is `minima`
  uint16_t* minima = nullptr;
};

/// The largest absolute value of a weight: that of float16.
constexpr float kLargestInt4Weight = 65504;

/// Quantizes weights (rows, columns), none above kLargestInt4Weight. Of several ranges for a group, from all
/// of it down to its inner 80%, takes the one with the smallest squared error.
void quantize_weights_int4(const float* x, int64_t rows, int64_t columns, const Int4Rows& to);
/// The floats that they stand for, (rows, columns).
void dequantize_int4(const Int4Rows& from, int64_t rows, int64_t columns, float* x);

/// A group of a panel, in bytes: scales, minima, weights.
constexpr int64_t kInt4ScaleBytes = kPanelWidth * static_cast<int64_t>(sizeof(uint16_t));
constexpr int64_t kInt4GroupBytes = 2 * kInt4ScaleBytes + kPanelWidth * kInt4Group / 2;

/// Bytes of a packed weight matrix (out, in).
int64_t int4_panel_bytes(int64_t out, int64_t in);
/// Packs weights: for each panel of kPanelWidth outputs and each group, their scales, their minima, and
/// (16 / kPanelDepth, kPanelWidth) dwords. A dword has 8 consecutive k of an output: byte j has k = j in its
/// low four bits and k = j + 4 in the others.
void pack_b_int4(const Int4Rows& weights, int64_t out, int64_t in, uint8_t* panels);

struct PackedInt4Arguments {
  int64_t rows = 0, out = 0, in = 0;
  const float* x = nullptr;         ///< (rows, in)
  const uint8_t* panels = nullptr;  ///< see pack_b_int4()
  const float* bias = nullptr;      ///< (out, padded to whole panels) or null
  float* y = nullptr;               ///< (rows, out)
  int64_t y_stride = 0;             ///< elements from one row of y to the next
};
/// A row of x that contains NaN or infinity yields NaN.
void multiply_packed_int4(const PackedInt4Arguments& arguments);

}  // namespace heed
