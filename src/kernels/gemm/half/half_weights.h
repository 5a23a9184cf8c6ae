// Weights that stay in 16 bits, float16 or bfloat16, for products in float32.
//
// Both are widened to float32 without rounding, so a product with widened weights is that of the same weights
// in float32, bit for bit. They are widened a few outputs at a time, into a buffer that stays in cache:
// memory holds 2 bytes for each weight, and that is what each product reads of it.
#pragma once

#include <cstdint>

namespace heed {

/// A weight matrix (out, in), row-major. Not an owner.
struct HalfMatrix {
  const uint16_t* values = nullptr;
  int64_t out = 0, in = 0;
  bool bfloat = false;  ///< bfloat16; otherwise float16

  const uint16_t* row(int64_t output) const { return values + output * in; }
  /// Rows [begin, begin + count).
  HalfMatrix rows(int64_t begin, int64_t count) const { return {row(begin), count, in, bfloat}; }
};

/// All numbers as floats, row-major. They must be finite.
void widen(const HalfMatrix& weights, float* floats);

/// One panel of at most kPanelWidth outputs in the layout of pack_b_f32(), whose padding is left as it is.
void pack_b_half(const HalfMatrix& weights, float* panel);

}  // namespace heed
