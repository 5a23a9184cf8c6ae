// Products with packed weights in float32, y = x W^T + b: what inference spends its time on.
//
// A row of y depends on its own row of x alone, to the last bit: each of its numbers is one sum in the order
// of the inputs, whatever rows are beside it.
#pragma once

#include <cstdint>

#include "kernels/gemm/panel.h"

namespace heed {

/// Lays weights (out, in) out in panels: (out / kPanelColumns, in, kPanelColumns), filled up with zeros;
/// `panels` has room for whole_panels(out) * in.
void pack_float_panels(const float* weights, int64_t out, int64_t in, float* panels);

struct FloatProductArguments {
  int64_t rows = 0, out = 0, in = 0;
  const float* x = nullptr;       ///< (rows, in)
  const float* panels = nullptr;  ///< as pack_float_panels() makes them
  const float* bias = nullptr;    ///< (out) or null
  float* y = nullptr;             ///< (rows, out)
};
void float_product(const FloatProductArguments& arguments);

}  // namespace heed
