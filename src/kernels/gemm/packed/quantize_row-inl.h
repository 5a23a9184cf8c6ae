// Quantization of rows: see packed_int8.h. Included once for each instruction set.

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
#include "kernels/gemm/blocking.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Rows with a smaller scale count as zeros: the inverse of the scale could be infinite.
constexpr float kSmallest = 1e-30f;

/// The largest absolute value of a row; NaN or infinite where an element is. Compares bit patterns without
/// the sign as integers: they are in the order of the absolute values, and NaN is above infinity.
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

/// values[i] = x[i] * factor + shift, at most `most`. Both terms are rounded to the nearest integer (ties to
/// even) before they are added.
template <typename Value>
HWY_INLINE void round_row(const float* x, int64_t size, float factor, float shift, int32_t most,
                          Value* values) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<Value, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto factors = hn::Set(d, factor);
  const auto shifts = hn::NearestInt(hn::Set(d, shift)), limits = hn::Set(integers, most);
  int64_t at = 0;
  for (; at + lanes <= size; at += lanes) {
    const auto rounded = hn::NearestInt(hn::Mul(hn::LoadU(d, x + at), factors));
    hn::StoreU(hn::DemoteTo(narrow, hn::Min(hn::Add(rounded, shifts), limits)), narrow, values + at);
  }
  for (; at < size; ++at) {
    const auto rounded = static_cast<int32_t>(std::nearbyint(x[at] * factor));
    values[at] = static_cast<Value>(std::min(rounded + hn::GetLane(shifts), most));
  }
}

/// The range of a row, zero included: from -below to above. NaN or infinite where an element is.
struct Range {
  float below, above;
};

/// Compares bit patterns as signed integers, in which order NaN is above infinity: floats without their
/// sign bit are in the order of their values, and floats with it are negative.
HWY_INLINE Range range_of(const float* x, int64_t size) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> bits;
  const auto sign = hn::Set(bits, std::numeric_limits<int32_t>::min());
  auto below = hn::Zero(bits), above = hn::Zero(bits);
  for_each_vector(d, size, [&](auto at, auto load, auto) {
    const auto value = hn::BitCast(bits, load(x + at));
    above = hn::Max(above, value);
    below = hn::Max(below, hn::Xor(value, sign));
  });
  return {std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(bits, below))),
          std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(bits, above)))};
}

/// How a row was quantized: x_i ~ scale (values[i] - zero_point).
struct RowScale {
  float scale;         ///< 0 for a row of zeros, NaN for a row that contains NaN or infinity
  int32_t zero_point;  ///< 0 to 127
};

/// A row of activations -> u7, with zeros up to `stride`.
HWY_INLINE RowScale quantize_row(const float* x, int64_t in, int64_t stride, uint8_t* values) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const Range range = range_of(x, in);
  const bool finite = range.below <= kLargest && range.above <= kLargest;
  // Halves, whose sum does not overflow. Products with 0.5 are exact, with or without fused multiply-add.
  const float scale = (range.below * 0.5f + range.above * 0.5f) * (2.0f / kMaxActivation);
  const bool usable = finite && scale >= kSmallest;
  const float factor = usable ? 1 / scale : 0;
  const float zero_point = range.below * factor;
  round_row(x, usable ? in : 0, factor, zero_point, kMaxActivation, values);
  std::fill(values + (usable ? in : 0), values + stride, uint8_t{0});
  const hn::CappedTag<float, 1> one;
  if (usable) return {scale, hn::GetLane(hn::NearestInt(hn::Set(one, zero_point)))};
  return {finite ? 0 : std::numeric_limits<float>::quiet_NaN(), 0};
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
