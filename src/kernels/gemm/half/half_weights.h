// Weights that stay in 16 bits, float16 or bfloat16, for products in float32.
//
// Both are widened to float32 without rounding, so a product with widened weights is that of the same weights
// in float32, bit for bit. They are widened a few outputs at a time, into a buffer that stays in cache:
// memory holds 2 bytes for each weight, and that is what each product reads of it. Large models are paired:
// their panels are transposed in place when they are read, so that decoding reads them in order.
#pragma once

#include <cstdint>

namespace heed {

/// A weight matrix (out, in). Not an owner.
struct HalfMatrix {
  const uint16_t* values = nullptr;
  int64_t out = 0, in = 0;
  bool bfloat = false;  ///< bfloat16; otherwise float16
  bool paired = false;  ///< as pair_panels() leaves it; otherwise row-major

  /// Where a row begins, or a whole panel of a paired matrix.
  const uint16_t* row(int64_t output) const { return values + output * in; }
  /// Rows [begin, begin + count); of a paired matrix, whole panels.
  HalfMatrix rows(int64_t begin, int64_t count) const { return {row(begin), count, in, bfloat, paired}; }
};

/// All numbers of a row-major matrix as floats, row-major. They must be finite.
void widen(const HalfMatrix& weights, float* floats);
/// Rows [begin, begin + count) of any matrix.
void widen_rows(const HalfMatrix& weights, int64_t begin, int64_t count, float* floats);

/// Whether products of few rows with such a matrix are faster when it is paired.
bool pairing_pays(int64_t out, int64_t in);
/// Puts the numbers of a row-major matrix into the order in which such products read them: panels of
/// kPanelWidth rows, (in / 2, kPanelWidth, 2). In place, so `out` is a multiple of kPanelWidth, and `in` is
/// even.
void pair_panels(uint16_t* values, int64_t out, int64_t in);

/// One panel of at most kPanelWidth outputs in the layout of pack_b_f32(), whose padding is left as it is.
void pack_b_half(const HalfMatrix& weights, float* panel);

}  // namespace heed
