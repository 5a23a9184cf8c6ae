// Products in float32 with packed weights, on matrix registers that multiply bfloat16, numbers of 8
// significant bits, and add up in float32.
//
// A number of 24 significant bits is exactly the sum of three of 8, each of them what the earlier ones have
// left, rounded: x = x0 + x1 + x2, w = w0 + w1 + w2. What is added up of x w is x0 w0 + x0 w1 + x1 w0 + x1 w1
// + x2 w0 + x0 w2; the rest is less than 2^-25 of it, half of what float32 rounds anyway. Henry, Tang and
// Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations"
// (2019). Weights that were stored in half precision are sums of two parts. docs/adr/0012 says when it is
// worth it.
//
// As in float_product.h, a row of y depends on its own row of x alone, to the last bit.
#pragma once

#include <cstdint>

#include "kernels/panel.h"

namespace heed {

/// Whether this processor can, and may, for rows of so many inputs.
bool has_split_product(int64_t in);

/// Rows of so many inputs, in parts, and a panel of weights fit the second-level cache; more are multiplied
/// so many at a time, one after the other.
constexpr int64_t kSplitInputs = 1024;

/// Lays weights (out, in) out in panels: (in / kSplitInputs, out / kPanelColumns, parts, kSplitInputs / 2,
/// kPanelColumns, 2), where the last inputs may be fewer, and outputs are filled up with zeros; `panels` has
/// room for parts * whole_panels(out) * in. There are 2 parts or 3. False where a weight is not the sum of so
/// many; then the panels are of no use.
bool pack_split_panels(const float* weights, int64_t out, int64_t in, int parts, uint16_t* panels);

/// y = x W^T + b
struct SplitProductArguments {
  int64_t rows = 0, out = 0, in = 0;
  int parts = 2;                     ///< of a weight
  const float* x = nullptr;          ///< (rows, in)
  const uint16_t* panels = nullptr;  ///< as pack_split_panels() makes them
  const float* bias = nullptr;       ///< (out) or null
  float* y = nullptr;                ///< (rows, out)
};
void split_product(const SplitProductArguments& arguments);

}  // namespace heed
