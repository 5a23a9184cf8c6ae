// Products in float32 with packed weights of few digits, on matrix registers that multiply bfloat16, numbers
// of 8 significant bits, and add up in float32.
//
// A number of 24 significant bits is exactly the sum of three of 8, each of them what the earlier ones have
// left, rounded: x = x0 + x1 + x2; one of 16, such as weights that were stored in half precision, the sum of
// two: w = w0 + w1. So x w is x0 w0 + x0 w1 + x1 w0 + x1 w1 + x2 w0, but for x2 w1, which is less than 2^-25
// of it, half of what float32 rounds anyway. Henry, Tang and Heinecke, "Leveraging the bfloat16 artificial
// intelligence datatype for higher-precision computations" (2019). docs/adr/0012 says why, and when it is
// worth it.
//
// As in float_product.h, a row of y depends on its own row of x alone, to the last bit.
#pragma once

#include <cstdint>

#include "kernels/panel.h"

namespace heed {

/// Whether this processor can, and may, for rows of so many inputs.
bool has_split_product(int64_t in);

/// Parts of a weight.
constexpr int64_t kWeightParts = 2;

/// Lays weights (out, in) out in panels: (out / kPanelColumns, kWeightParts, in / 2, kPanelColumns, 2),
/// filled up with zeros; `panels` has room for kWeightParts * whole_panels(out) * in. False where a weight
/// has more significant bits than two parts; then the panels are of no use.
bool pack_split_panels(const float* weights, int64_t out, int64_t in, uint16_t* panels);

/// y = x W^T + b
struct SplitProductArguments {
  int64_t rows = 0, out = 0, in = 0;
  const float* x = nullptr;          ///< (rows, in)
  const uint16_t* panels = nullptr;  ///< as pack_split_panels() makes them
  const float* bias = nullptr;       ///< (out) or null
  float* y = nullptr;                ///< (rows, out)
};
void split_product(const SplitProductArguments& arguments);

}  // namespace heed
