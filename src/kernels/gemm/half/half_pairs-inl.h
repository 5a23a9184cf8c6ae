// Weights in 16 bits, two consecutive k of a column in each dword: a panel is transposed as dwords, with half
// the shuffles that floats would need, and widened afterwards. Included once for each instruction set.

#if defined(HEED_KERNELS_HALF_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_HALF_PAIRS_INL_H_
#undef HEED_KERNELS_HALF_PAIRS_INL_H_
#else
#define HEED_KERNELS_HALF_PAIRS_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/gemm/blocking.h"
#include "kernels/gemm/half/half_weights.h"
#include "kernels/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

using Pairs = hn::ScalableTag<uint32_t>;
using PairFloats = hn::RebindToFloat<Pairs>;

/// K of a block of pairs: two cache lines of each row.
constexpr int64_t kPairsBlock = 64;

/// The floats of the first and of the second number of each dword: bfloat16, or finite float16.
template <bool kBfloat>
struct Widen {
  static HWY_INLINE hn::Vec<PairFloats> first(hn::Vec<Pairs> pairs) {
    if constexpr (kBfloat) {
      return hn::BitCast(PairFloats(), hn::ShiftLeft<16>(pairs));
    } else {
      return from_float16(hn::And(pairs, hn::Set(Pairs(), 0xffffu)));
    }
  }
  static HWY_INLINE hn::Vec<PairFloats> second(hn::Vec<Pairs> pairs) {
    if constexpr (kBfloat) {
      return hn::BitCast(PairFloats(), hn::And(pairs, hn::Set(Pairs(), 0xffff0000u)));
    } else {
      return from_float16(hn::ShiftRight<16>(pairs));
    }
  }

 private:
  /// With exponent and mantissa read as those of a float, a number is 2^112 times too small, subnormal ones
  /// too.
  static HWY_INLINE hn::Vec<PairFloats> from_float16(hn::Vec<Pairs> half) {
    const PairFloats d;
    const auto magnitude = hn::And(half, hn::Set(Pairs(), 0x7fffu));
    const auto number = hn::Mul(hn::BitCast(d, hn::ShiftLeft<13>(magnitude)), hn::Set(d, 0x1p112F));
    return hn::Or(number, hn::BitCast(d, hn::ShiftLeft<16>(hn::Xor(half, magnitude))));
  }
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void transpose_pairs_of_rows(const uint16_t* const* rows, int64_t pairs, uint32_t* out) {
  for (int64_t pair = 0; pair < pairs; ++pair) {
    std::memcpy(out + pair * kPanelWidth, rows[0] + 2 * pair, sizeof(uint32_t));
  }
}
#else
/// As many rows as a vector has lanes; pairs is a multiple of 4.
HWY_INLINE void transpose_pairs_of_rows(const uint16_t* const* rows, int64_t pairs, uint32_t* out) {
  const float* as_floats[hn::MaxLanes(PairFloats())];
  for (size_t r = 0; r < hn::Lanes(PairFloats()); ++r) as_floats[r] = reinterpret_cast<const float*>(rows[r]);
  transpose_by_fours(ListedRows{as_floats}, pairs, reinterpret_cast<float*>(out), kPanelWidth);
}

/// The same of consecutive rows, [k, k + size). What follows in each row is prefetched to L1 a cache line at
/// a time: the hardware prefetcher does not see so many rows.
HWY_INLINE void transpose_even_rows(const HalfMatrix& rows, int64_t k, int64_t size, uint32_t* out) {
  constexpr int64_t kLine = kCacheLineBytes / static_cast<int64_t>(sizeof(uint16_t));
  for (int64_t i = 0; i < size; i += kLine) {
    for (int64_t r = 0; r < rows.out; ++r) prefetch(rows.row(r) + k + i + size, 1);
    const EvenRows lines(rows.row(0) + k + i, rows.in * static_cast<int64_t>(sizeof(uint16_t)));
    transpose_by_fours(lines, std::min(kLine, size - i) / 2,
                       reinterpret_cast<float*>(out + i / 2 * kPanelWidth), kPanelWidth);
  }
}
#endif

/// [k, k + size) of a panel of at most kPanelWidth rows: out[i * kPanelWidth + column] has k + 2 i and
/// k + 2 i + 1 of the column. An odd last k is paired with zero. `out` is written in whole vectors: past the
/// rows, the last one is repeated.
HWY_INLINE void transpose_pairs(const HalfMatrix& panel, int64_t k, int64_t size, uint32_t* out) {
  constexpr int64_t kUnit = 8;
  const auto lanes = static_cast<int64_t>(hn::Lanes(Pairs()));
  const int64_t whole = size / kUnit * kUnit, rest = size - whole;
  const uint16_t* rows[hn::MaxLanes(Pairs())];
  for (int64_t begin = 0; begin < panel.out; begin += lanes) {
#if HWY_TARGET != HWY_SCALAR
    constexpr int kFewLanes = 4;  // so few rows have a register each
    if (hn::MaxLanes(Pairs()) > kFewLanes && rest == 0 && begin + lanes <= panel.out) {
      transpose_even_rows(panel.rows(begin, lanes), k, size, out + begin);
      continue;
    }
#endif
    for (int64_t r = 0; r < lanes; ++r) rows[r] = panel.row(std::min(begin + r, panel.out - 1)) + k;
    transpose_pairs_of_rows(rows, whole / 2, out + begin);
    if (rest == 0) continue;
    alignas(16) uint16_t padded[hn::MaxLanes(Pairs())][kUnit] = {};
    for (int64_t r = 0; r < lanes; ++r) {
      std::copy_n(rows[r] + whole, rest, padded[r]);
      rows[r] = padded[r];
    }
    transpose_pairs_of_rows(rows, kUnit / 2, out + whole / 2 * kPanelWidth + begin);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
