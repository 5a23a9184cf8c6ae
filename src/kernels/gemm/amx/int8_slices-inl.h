// float32 as int8 slices, which AMX multiplies exactly (Ozaki scheme).
//
// A row of A or column of B, within a block of K, with largest absolute value m has a power of two as shared
// exponent, its scale s, the least one for which m / s < 0.992. Its numbers are rounded to 24-bit fixed
// point, x = s 2^-23 X with an integer X, and X is cut into three signed int8 slices: X = 2^16 X0 + 2^8 X1 +
// X2. The sum of x w over K is then s_x s_w 2^-46 times
//
//   2^32 p0 + 2^24 p1 + 2^16 p2 + 2^8 p3 + p4,     p0 = sum X0 W0,  p1 = sum X0 W1 + X1 W0,
//                                                  p2 = sum X0 W2 + X1 W1 + X2 W0,  p3 = sum X1 W2 + X2 W1
//
// Each p is exact in int32, in whatever order. p4 = sum X2 W2, less than half a unit of X times the largest W
// for each k, is left out. What is rounded is each number, to 2^-24 of its scale, at most some 2^-23 of the
// largest of its row, and the result. float32 rounds each number to 2^-24 of itself but each partial sum too,
// which is as large as the largest product in it: errors are of the same size (docs/adr/0014).
//
// Ozaki, Ogita, Oishi and Rump, "Error-free transformations of matrix multiplication by using fast routines
// of matrix multiplication" (2012); on integer units: Ootomo, Ozaki and Yokota, "DGEMM on integer matrix
// multiplication unit" (2024).
//
// This file has the arithmetic of scales and slices; int8_slices_pack-inl.h packs operands,
// int8_slices_microkernel-inl.h multiplies, int8_slices_epilogue-inl.h makes float32 of the sums. Included
// once for each instruction set.

#if defined(HEED_KERNELS_INT8_SLICES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_INT8_SLICES_INL_H_
#undef HEED_KERNELS_INT8_SLICES_INL_H_
#else
#define HEED_KERNELS_INT8_SLICES_INL_H_
#endif

#include <bit>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm/amx/operand-inl.h"
#include "kernels/simd/rows-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int kSlices = 3;
/// Of the nine products of two slices, those that are computed.
constexpr int kSliceProducts = 8;
/// K of a tile: four int8 numbers in each dword.
constexpr int64_t kInt8Step = amx::kTileRowBytes;
/// 16 rows or columns and kInt8Step of K: a tile for each slice.
constexpr int64_t kSlicedTileDwords = kSlices * kTileDwords;

constexpr int64_t int8_steps(int64_t k) {
  return (k + kInt8Step - 1) / kInt8Step;
}
/// KC: K in blocks of equal size, whole steps and at most kMost; the last may be smaller. Each block has
/// scales of its own.
template <int64_t kMost>
constexpr int64_t int8_slices_kc(int64_t k) {
  static_assert(kMost << 14 <= 1 << 24, "p0 is exact in float32");
  const int64_t blocks = (k + kMost - 1) / kMost, even = (k + blocks - 1) / blocks;
  return int8_steps(even) * kInt8Step;
}

/// The bits of the scale, from those of the largest absolute value. At least 2^-104, so that numbers below
/// 2^-128 count as zero; infinity from 0.992 2^127 on and for NaN, so that products become NaN.
HWY_INLINE hn::Vec<Dwords> scale_bits(hn::Vec<Dwords> largest) {
  constexpr uint32_t kOne = 1u << 23, kMargin = 1u << 17;  // of an exponent
  constexpr uint32_t kLeast = 23 * kOne, kInfinity = 255 * kOne;
  const Dwords d;
  const auto above = hn::And(hn::Add(largest, hn::Set(d, kOne + kMargin)), hn::Set(d, ~(kOne - 1)));
  return hn::Min(hn::Max(above, hn::Set(d, kLeast)), hn::Set(d, kInfinity));
}
/// 2^23 / scale, which makes X of x; something finite where the scale is infinite or zero.
HWY_INLINE hn::Vec<Floats> to_fixed_point(hn::Vec<Floats> scale) {
  const Dwords d;
  return hn::BitCast(Floats(), hn::Sub(hn::Set(d, 277u << 23), hn::BitCast(d, scale)));
}

/// The bits of the absolute value, ordered as the values are; NaN is above all others.
HWY_INLINE hn::Vec<Dwords> absolute_bits(hn::Vec<Floats> x) {
  const Dwords d;
  return hn::And(hn::BitCast(d, x), hn::Set(d, 0x7fffffffu));
}

/// The scale of `count` contiguous numbers; infinity if one of them is infinite or NaN.
HWY_INLINE float scale_of(const float* x, int64_t count) {
  const Dwords d;
  auto largest = hn::Zero(d);
  for_each_vector(Floats(), count, [&](auto at, auto load, auto) HEED_INLINE_LAMBDA {
    largest = hn::Max(largest, absolute_bits(load(x + at)));
  });
  return std::bit_cast<float>(hn::GetLane(scale_bits(hn::MaxOfLanes(d, largest))));
}

/// The scales of at most 16 columns of a row-major matrix of k_size rows.
HWY_INLINE void scales_of_columns(const float* x, int64_t stride, int64_t columns, int64_t k_size,
                                  float* scales) {
  const Floats d;
  const auto lanes = hn::FirstN(d, static_cast<size_t>(columns));
  auto largest = hn::Zero(Dwords());
  for (int64_t k = 0; k < k_size; ++k) {
    largest = hn::Max(largest, absolute_bits(hn::MaskedLoad(lanes, d, x + k * stride)));
  }
  hn::StoreU(hn::BitCast(d, scale_bits(largest)), d, scales);
}

/// Slices of 16 dwords: dword i has lane i of x0, x1, x2 and x3, in this order. Slice n goes to
/// dwords + n * kTileDwords.
HWY_INLINE void slice_numbers(hn::Vec<Floats> x0, hn::Vec<Floats> x1, hn::Vec<Floats> x2, hn::Vec<Floats> x3,
                              hn::Vec<Floats> to_fixed, uint32_t* dwords) {
  const Dwords d;
  // Bytes that are 128 too large, one for each slice; the fourth is zero. Highway's rounding would check for
  // overflow, which cannot occur here.
  const auto bytes = [&](hn::Vec<Floats> x) HEED_INLINE_LAMBDA {
    const auto fixed = hn::Vec<Dwords>{_mm512_cvtps_epi32(hn::Mul(x, to_fixed).raw)};
    return hn::Add(fixed, hn::Set(d, 0x808080u));
  };
  const auto v0 = bytes(x0), v1 = bytes(x1), v2 = bytes(x2), v3 = bytes(x3);
  const auto even = hn::Set(d, 0x00ff00ffu), low = hn::Set(d, 0xffffu), second = hn::Set(d, 0xff00u);
  const auto outer_01 = hn::Or(hn::And(v0, even), hn::ShiftLeft<8>(hn::And(v1, even)));
  const auto outer_23 = hn::Or(hn::And(v2, even), hn::ShiftLeft<8>(hn::And(v3, even)));
  const auto middle_01 = hn::Or(hn::ShiftRight<8>(hn::And(v0, second)), hn::And(v1, second));
  const auto middle_23 = hn::Or(hn::ShiftRight<8>(hn::And(v2, second)), hn::And(v3, second));
  const auto slice_0 = hn::Or(hn::ShiftRight<16>(outer_01), hn::AndNot(low, outer_23));
  const auto slice_1 = hn::Or(middle_01, hn::ShiftLeft<16>(middle_23));
  const auto slice_2 = hn::Or(hn::And(outer_01, low), hn::ShiftLeft<16>(outer_23));
  const auto sign = hn::Set(d, 0x80808080u);
  hn::StoreU(hn::Xor(slice_0, sign), d, dwords);
  hn::StoreU(hn::Xor(slice_1, sign), d, dwords + kTileDwords);
  hn::StoreU(hn::Xor(slice_2, sign), d, dwords + 2 * kTileDwords);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
