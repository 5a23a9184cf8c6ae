// float32 as bf16: rounded to one bf16 number, or split into three (bf16x3).
//
// bf16 has 8 significant bits, float32 24: x = x0 + x1 + x2 exactly, each the rounded rest of the ones
// before. Of the nine products of x w, six are accumulated:
//
//   x0 w0 + x0 w1 + x1 w0 + x1 w1 + x2 w0 + x0 w2
//
// The others are below 2^-25 of the result, half of what float32 rounds anyway. Henry, Tang and Heinecke,
// "Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations" (2019).
// Included once for each instruction set.

#if defined(HEED_KERNELS_BF16_SPLIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_BF16_SPLIT_INL_H_
#undef HEED_KERNELS_BF16_SPLIT_INL_H_
#else
#define HEED_KERNELS_BF16_SPLIT_INL_H_
#endif

#include <array>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/amx/microkernel-inl.h"
#include "kernels/gemm/amx/operand-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// The split products: small ones first, and from one to the next only one operand changes where possible.
template <int kParts>
inline constexpr std::array<SplitProduct, 0> kSplitProducts{};
template <>
inline constexpr std::array<SplitProduct, 6> kSplitProducts<3>{
    {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}}};
template <>
inline constexpr std::array<SplitProduct, 1> kSplitProducts<1>{{{0, 0}}};

/// For multiply_tiles(): float32 in kParts bf16 numbers.
template <int kParts>
struct Bf16Numbers {
  using Accumulator = float;
  static constexpr int kProducts = static_cast<int>(kSplitProducts<kParts>.size());
  template <int n>
  static constexpr SplitProduct product() {
    return kSplitProducts<kParts>[n];
  }
  template <int kC, int kA, int kB>
  static HWY_INLINE void dot() {
    amx::dot_bf16<kC, kA, kB>();
  }
};

/// K of a tile: two bf16 numbers in each dword.
constexpr int64_t kBf16Step = 2 * kRowDwords;

/// The bits of the nearest bf16 number; ties away from zero.
HWY_INLINE hn::Vec<Dwords> round_to_bf16(hn::Vec<Floats> x) {
  const Dwords d;
  return hn::And(hn::Add(hn::BitCast(d, x), hn::Set(d, 0x8000u)), hn::Set(d, 0xFFFF0000u));
}

/// The same; NaN stays NaN.
HWY_INLINE hn::Vec<Dwords> round_to_bf16_or_nan(hn::Vec<Floats> x) {
  const Dwords d;
  const auto truncated = hn::And(hn::BitCast(d, x), hn::Set(d, 0xFFFF0000u));
  const auto quiet_nan = hn::Or(truncated, hn::Set(d, 0x00400000u));
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), quiet_nan, round_to_bf16(x));
}

/// Dword i of part n, which are a tile apart: part n of low_i in the lower half, of high_i in the upper half.
template <int kParts>
HWY_INLINE void split_bf16(hn::Vec<Floats> low, hn::Vec<Floats> high, uint32_t* parts) {
  const Dwords d;
  for (int n = 0; n < kParts; ++n) {
    const auto part_of = [&](hn::Vec<Floats> x) {
      if (n == 2) return hn::And(hn::BitCast(d, x), hn::Set(d, 0xFFFF0000u));  // exact: 8 bits are left
      return n == kParts - 1 ? round_to_bf16_or_nan(x) : round_to_bf16(x);
    };
    const auto low_part = part_of(low), high_part = part_of(high);
    hn::StoreU(hn::Or(hn::ShiftRight<16>(low_part), high_part), d, parts + n * kTileDwords);
    low = hn::Sub(low, hn::BitCast(Floats(), low_part));
    high = hn::Sub(high, hn::BitCast(Floats(), high_part));
  }
}

/// Packs kParts tiles, one after the other: 16 rows or columns from `begin` and kBf16Step of K from `k`. A
/// dword holds k and k + 16, in A as in B, so that vectors are used as they are loaded.
template <int kParts>
HWY_INLINE void pack_bf16_tile(const Operand& o, int64_t begin, int64_t k, uint32_t* tiles) {
  alignas(64) float copy[amx::kTileRows * kBf16Step];
  const FloatBlock block = block_of<kBf16Step>(o, begin, k, copy);
  const int64_t half = o.side == Side::kA ? kRowDwords : kRowDwords * block.stride;
  const Floats d;
  for (int64_t r = 0; r < amx::kTileRows; ++r) {
    const float* const from = block.rows + r * block.stride;
    split_bf16<kParts>(hn::LoadU(d, from), hn::LoadU(d, from + half), tiles + r * kRowDwords);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
