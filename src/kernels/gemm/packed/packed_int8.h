// int8 products, y = x W^T + b: the arithmetic of quantized models.
//
//   W_oi ~ scale_o w_oi             w in -127 .. 127 (s8), a scale for each row of weights (output channel)
//   x_ri ~ scale_r (u_ri - z_r + 128 h_ri)   u, z in 0 .. 127 (u7), a scale and a zero point for each row of
//                                   x, from its minimum and maximum, at run time; h in -127 .. 127, not 0 for
//                                   16 outliers of a row at most, which the range leaves out (docs/adr/0033)
//   y_ro = (sum_i u_ri w_oi + 128 sum_i h_ri w_oi - z_r sum_i w_oi) (scale_r scale_o) + b_o
//
// (Jacob et al., "Quantization and training of neural networks for efficient integer-arithmetic-only
// inference", 2018.) Activations have 7 bits so that the sum of two products always fits 16 bits: vpmaddubsw,
// the only byte multiplication of AVX2 and SSE4, is exact then. Sums are exact everywhere, and everything
// that is rounded is rounded by the same operations in the same order, so y is bitwise identical on every
// processor, whatever the batch, but for the last bits of kGelu.
#pragma once

#include <cstdint>

namespace heed {

/// Rows of float32 -> int8 and a scale for each.
struct QuantizeArguments {
  int64_t rows = 0, columns = 0;
  const float* x = nullptr;  ///< (rows, columns)
  int8_t* values = nullptr;  ///< (rows, columns), -127 to 127
  float* scales = nullptr;   ///< (rows)
};
/// Quantizes weights. A scale has 16 significant bits and is rounded up, so that scale * value is exact:
/// rows that were quantized and dequantized are quantized to the same values and scales. A row of zeros has
/// the scale 0.
void quantize_weights(const QuantizeArguments& arguments);

/// sums (rows) of int8 weights (rows, columns).
void sum_rows_int8(const int8_t* weights, int64_t rows, int64_t columns, int32_t* sums);

/// The largest K whose sums fit 32 bits: 127 * 127 for each product, and 16 outliers 128 times as much.
constexpr int64_t kLongestInt8Sum = 65536;

/// A packed weight matrix (out, in), padded with zeros.
struct Int8Panels {
  int8_t* panels = nullptr;  ///< (out / kPanelWidth, in / kPanelDepth, kPanelWidth, kPanelDepth)
  int32_t* sums = nullptr;   ///< (out) the sum of each row of weights
  /// (out / kPanelWidth, in / (2 kPanelDepth)) Bit n is set where products of two dwords of columns 8 n to
  /// 8 n + 7 may overflow 16 bits when they are added.
  uint8_t* wide = nullptr;
};
struct Int8PanelSizes {
  int64_t panels, wide;
};
/// Elements of these arrays; `sums` has padded_n(out).
Int8PanelSizes int8_panel_sizes(int64_t out, int64_t in);
void pack_b_int8(const int8_t* weights, int64_t out, int64_t in, const Int8Panels& to);

/// What the epilogue of a product can apply to its results: kGelu within 5e-5, or 3e-6 of large results,
/// which is far below what rounding to 7 bits takes, and differs in the last bits between instruction sets.
enum class Int8Epilogue { kNone, kRelu, kGelu };

struct PackedInt8Arguments {
  int64_t rows = 0, out = 0, in = 0;
  const float* x = nullptr;        ///< (rows, in)
  const int8_t* panels = nullptr;  ///< this and the next two: see Int8Panels
  const uint8_t* wide = nullptr;
  const int32_t* sums = nullptr;
  const float* scales = nullptr;  ///< (out, padded to whole panels), as is the bias
  const float* bias = nullptr;
  Int8Epilogue epilogue = Int8Epilogue::kNone;
  float* y = nullptr;  ///< (rows, out)
};
/// A row of x that contains NaN or infinity yields NaN.
void multiply_packed_int8(const PackedInt8Arguments& arguments);

}  // namespace heed
