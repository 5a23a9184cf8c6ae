// Products of 8-bit whole numbers, y = x W^T + b: the arithmetic of quantised models.
//
//   W_oi ~ scale_o w_oi           one scale for each row of weights (an output channel)
//   x_ri ~ scale_r q_ri           one scale for each row of activations, found as the row is met
//   y_ro = (sum_i q_ri w_oi) (scale_r scale_o) + b_o,      q, w in -127 .. 127
//
// (Jacob et al., "Quantization and training of neural networks for efficient integer-arithmetic-only
// inference", 2018, without zero points.) The sum is exact, so the order of its terms, the number of rows
// beside a row and the instruction set change nothing; what is rounded, is rounded in the same places
// everywhere. Therefore y is the same to the last bit on every processor.
#pragma once

#include <cstdint>

#include "kernels/gemm/panel.h"

namespace heed {

/// Rows of float32 -> whole numbers and a scale for each.
struct QuantizeArguments {
  int64_t rows = 0, columns = 0;
  const float* x = nullptr;  ///< (rows, columns)
  int8_t* values = nullptr;  ///< (rows, columns), -127 to 127
  float* scales = nullptr;   ///< (rows)
};
/// For weights. A scale has 16 significant bits and is rounded up, so that scale * value has no rounding
/// error: rows that were quantised and made float again give the same values and scales. A row of zeros has
/// the scale 0.
void quantize_weights(const QuantizeArguments& arguments);

/// The longest sum that fits 32 bits, whatever the numbers.
constexpr int64_t kLongestInt8Sum = 65536;

/// The bytes of all panels of a matrix (out, in).
int64_t panel_bytes(int64_t out, int64_t in);
/// Lays weights (out, in) out in panels of kPanelColumns with kGroupInputs together, filled up with zeros.
/// sums[o] = sum of row o, and 0 for the outputs that fill the last panel up.
void pack_panels(const int8_t* weights, int64_t out, int64_t in, int8_t* panels, int32_t* sums);

struct Int8ProductArguments {
  int64_t rows = 0, out = 0, in = 0;
  const float* x = nullptr;        ///< (rows, in)
  const int8_t* panels = nullptr;  ///< as pack_panels() makes them
  const int32_t* sums = nullptr;   ///< (out, filled up to whole panels), as are the next two
  const float* scales = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;  ///< (rows, out)
};
/// A row that holds what is no number, or infinite, gives what is no number.
void int8_product(const Int8ProductArguments& arguments);

}  // namespace heed
