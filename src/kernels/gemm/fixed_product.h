// Products in float32 with packed weights, as whole numbers of 24 bits on matrix registers
// (fixed_point-inl.h). docs/adr/0014 says why.
//
// As in float_product.h, a row of y depends on its own row of x alone, to the last bit.
#pragma once

#include <cstdint>

namespace heed {

/// Whether this processor can, and may, and rows of so many inputs are worth it.
bool has_fixed_product(int64_t in);

/// Weights (out, in) in digits, filled up to (out / 16, in / 64, 3, 16, 16) groups of four inputs, and the
/// magnitudes of each slice of inputs: (out / 16, slices, 16).
struct FixedPanels {
  uint32_t* groups = nullptr;
  float* magnitudes = nullptr;
};
/// How many of each there are.
struct FixedPanelSizes {
  int64_t groups, magnitudes;
};
FixedPanelSizes fixed_panel_sizes(int64_t out, int64_t in);
void pack_fixed_panels(const float* weights, int64_t out, int64_t in, const FixedPanels& panels);

/// y = x W^T + b
struct FixedProductArguments {
  int64_t rows = 0, out = 0, in = 0;
  const float* x = nullptr;          ///< (rows, in)
  const uint32_t* groups = nullptr;  ///< as pack_fixed_panels() makes them
  const float* magnitudes = nullptr;
  const float* bias = nullptr;  ///< (out) or null
  float* y = nullptr;           ///< (rows, out)
};
void fixed_product(const FixedProductArguments& arguments);

}  // namespace heed
