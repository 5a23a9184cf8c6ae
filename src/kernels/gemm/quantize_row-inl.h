// Rows of floats to 8-bit whole numbers and a scale: see int8_product.h. Included once for each instruction
// set.

#if defined(HEED_KERNELS_QUANTIZE_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_QUANTIZE_ROW_INL_H_
#undef HEED_KERNELS_QUANTIZE_ROW_INL_H_
#else
#define HEED_KERNELS_QUANTIZE_ROW_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Smaller rows than this count as zeros: the inverse of their scale would be infinite.
constexpr float kSmallest = 1e-30f;

/// The largest absolute value of a row; not a number, or infinite, where an element is. Compared as whole
/// numbers, which are in the order of the absolute values, with what is no number above all.
HWY_INLINE float largest(const float* x, int64_t size) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> bits;
  const auto without_sign = hn::Set(bits, 0x7fffffff);
  auto most = hn::Zero(bits);
  for_each_vector(d, size, [&](auto at, auto load, auto) {
    most = hn::Max(most, hn::And(hn::BitCast(bits, load(x + at)), without_sign));
  });
  return std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(bits, most)));
}

/// values[i] = x[i] * factor to the nearest whole number, to the even one in the middle, plus `shift`.
template <typename Value>
HWY_INLINE void round_row(const float* x, int64_t size, float factor, int32_t shift, Value* values) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> whole;
  const hn::Rebind<Value, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  const auto shifts = hn::Set(whole, shift);
  int64_t at = 0;
  for (; at + lanes <= size; at += lanes) {
    const auto rounded = hn::NearestInt(hn::Mul(hn::LoadU(d, x + at), factors));
    hn::StoreU(hn::DemoteTo(narrow, hn::Add(rounded, shifts)), narrow, values + at);
  }
  for (; at < size; ++at) {
    values[at] = static_cast<Value>(static_cast<int32_t>(std::nearbyint(x[at] * factor)) + shift);
  }
}

/// A row's activations plus kShift, with zeros up to `stride`, and its scale; not a number for a row that
/// holds what is none.
template <int32_t kShift, typename Value>
HWY_INLINE float quantize_row(const float* x, int64_t in, int64_t stride, Value* values) {
  const float most = largest(x, in);
  const bool usable = most >= kSmallest && most <= std::numeric_limits<float>::max();
  round_row(x, usable ? in : 0, usable ? 127 / most : 0, kShift, values);
  std::fill(values + (usable ? in : 0), values + stride, static_cast<Value>(kShift));
  if (usable) return most / 127;
  return most < kSmallest ? 0 : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
