// Products in float32 with packed weights, on matrix registers that multiply bfloat16 (bfloat16_parts-inl.h).
// docs/adr/0012 says when it is worth it.
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

/// Lays weights (out, in) out in panels: (in / kSplitInputs, out / kPanelColumns, parts, kSplitInputs / 32,
/// 16, kPanelColumns, 2), where the last inputs may be fewer, and outputs are filled up with zeros; `panels`
/// has room for parts * whole_panels(out) * in. Group i of 16 has the inputs i and i + 16 of 32. There are 2
/// parts or 3. False where a weight is not the sum of so many; then the panels are of no use.
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
