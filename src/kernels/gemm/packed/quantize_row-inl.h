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
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/gemm/blocking.h"
#include "kernels/simd/rows-inl.h"
#include "kernels/simd/unroll-inl.h"

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

/// The nearest integer, ties to even.
HWY_INLINE int32_t nearest(float x) {
  return hn::GetLane(hn::NearestInt(hn::Set(hn::CappedTag<float, 1>(), x)));
}

/// The nearest integers, ties to even. Unlike hn::NearestInt(), not for numbers beyond those of 32 bits,
/// which takes three more instructions on x86.
template <class V>
HWY_INLINE auto nearest_in_range(V x) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<hn::ScalableTag<int32_t>>{_mm512_cvtps_epi32(x.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<hn::ScalableTag<int32_t>>{_mm256_cvtps_epi32(x.raw)};
#elif HWY_TARGET == HWY_SSE4
  return hn::Vec<hn::ScalableTag<int32_t>>{_mm_cvtps_epi32(x.raw)};
#else
  return hn::NearestInt(x);
#endif
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
/// Four vectors of integers as bytes, saturated to 0 and 255.
template <class V>
HWY_INLINE auto to_bytes(V a, V b, V c, V d) {
  const hn::ScalableTag<int32_t> dwords;
  const hn::Repartition<uint8_t, decltype(dwords)> bytes;
  // Instructions pack within blocks of 128 bits: dword n of block m belongs to vector n.
#if HWY_TARGET == HWY_AVX3
  const auto ab = _mm512_packs_epi32(a.raw, b.raw), cd = _mm512_packs_epi32(c.raw, d.raw);
  const hn::Vec<decltype(dwords)> packed{_mm512_packus_epi16(ab, cd)};
  alignas(64) static constexpr int32_t kOrder[] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
#else
  const auto ab = _mm256_packs_epi32(a.raw, b.raw), cd = _mm256_packs_epi32(c.raw, d.raw);
  const hn::Vec<decltype(dwords)> packed{_mm256_packus_epi16(ab, cd)};
  alignas(32) static constexpr int32_t kOrder[] = {0, 4, 1, 5, 2, 6, 3, 7};
#endif
  return hn::BitCast(bytes, hn::TableLookupLanes(packed, hn::SetTableIndices(dwords, kOrder)));
}
#endif

/// values[i] = x[i] * factor + shift, at most `most` and at least the smallest Value. Both terms are rounded
/// to the nearest integer (ties to even) before they are added.
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
  const auto rounded = [&](int64_t i) HEED_INLINE_LAMBDA {
    return hn::Add(nearest_in_range(hn::Mul(hn::LoadU(d, x + i), factors)), shifts);
  };
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if constexpr (std::is_same_v<Value, uint8_t>) {
    const hn::Repartition<uint8_t, decltype(d)> bytes;
    const auto most_bytes = hn::Set(bytes, static_cast<uint8_t>(most));
    for (; at + 4 * lanes <= size; at += 4 * lanes) {
      const auto four =
          to_bytes(rounded(at), rounded(at + lanes), rounded(at + 2 * lanes), rounded(at + 3 * lanes));
      hn::StoreU(hn::Min(four, most_bytes), bytes, values + at);
    }
  }
#endif
  for (; at + lanes <= size; at += lanes) {
    hn::StoreU(hn::DemoteTo(narrow, hn::Min(rounded(at), limits)), narrow, values + at);
  }
  for (; at < size; ++at) {
    const int32_t value = nearest(x[at] * factor) + hn::GetLane(shifts);
    values[at] = static_cast<Value>(std::clamp<int32_t>(value, std::numeric_limits<Value>::min(), most));
  }
}

/// The range of a row, zero included: from -below to above. NaN or infinite where an element is.
struct Range {
  float below, above;

  bool finite() const {
    constexpr float kLargest = std::numeric_limits<float>::max();
    return below <= kLargest && above <= kLargest;
  }
  float largest() const { return std::max(below, above); }
  /// Half of its width: the width may be infinite. Products with 0.5 are exact, with or without fused
  /// multiply-add.
  float half_width() const { return below * 0.5f + above * 0.5f; }
};

/// What decides how a row is quantized.
struct RowSummary {
  Range range;
  /// The sum of squares of a part of the row: one without outliers, unless they are in most parts. Part n has
  /// the elements n, n + kParts, n + 2 kParts, ..., on every instruction set, so that sums have the same
  /// bits. Of the smallest even part and the smallest odd part, the larger one.
  float part_squares;
  static constexpr int kParts = 16;
};

/// Compares bit patterns as signed integers, in which order NaN is above infinity: floats without their
/// sign bit are in the order of their values, and floats with it are negative. Compiled without FMA
/// contraction: see CMakeLists.txt.
/// NaN and infinity are found by the range; what `part_squares` is then does not matter.
HWY_INLINE RowSummary summarize(const float* x, int64_t size) {
  constexpr int kParts = RowSummary::kParts;
  const hn::CappedTag<float, kParts> d;
  const hn::RebindToSigned<decltype(d)> bits;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d)), kVectors = kParts / kLanes;
  const auto sign = hn::Set(bits, std::numeric_limits<int32_t>::min());
  hn::Vec<decltype(d)> squares[kVectors];
  hn::Vec<decltype(bits)> below[kVectors], above[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    squares[v] = hn::Zero(d);
    below[v] = above[v] = hn::Zero(bits);
  }
  const auto add = [&](const float* parts) HEED_INLINE_LAMBDA {
    unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
      const auto values = hn::LoadU(d, parts + v * kLanes);
      squares[v] = hn::Add(squares[v], hn::Mul(values, values));
      above[v] = hn::Max(above[v], hn::BitCast(bits, values));
      below[v] = hn::Max(below[v], hn::Xor(hn::BitCast(bits, values), sign));
    });
  };
  int64_t at = 0;
  for (; at + kParts <= size; at += kParts) add(x + at);
  if (at < size) {
    float last[kParts] = {};
    std::copy(x + at, x + size, last);
    add(last);
  }
  float sums[kParts];
  for (int v = 0; v < kVectors; ++v) {
    hn::StoreU(squares[v], d, sums + v * kLanes);
    below[0] = hn::Max(below[0], below[v]);
    above[0] = hn::Max(above[0], above[v]);
  }
  float least = sums[0], other_least = sums[1];
  for (int n = 2; n < kParts; n += 2) {
    least = std::min(least, sums[n]);
    other_least = std::min(other_least, sums[n + 1]);
  }
  return {{std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(bits, below[0]))),
           std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(bits, above[0])))},
          std::max(least, other_least)};
}

// ---- Outliers ---------------------------------------------------------------------------------------------
// docs/adr/0033 has the reasons and the figures behind these numbers.

/// A row of fewer elements has no outliers: its parts say too little.
constexpr int64_t kShortestOutlierRow = 8 * RowSummary::kParts;
/// At most this many elements of a row are outliers.
constexpr int kMostOutliers = 16;
/// In root mean squares of ordinary elements: a row has outliers if its range is wider than the first and
/// reaches as far as the second on both sides of zero; they are the elements larger than the third. Rows on
/// one side of zero are outputs of ReLU or GELU, most of which are close to it.
constexpr float kWidestRange = 14, kLeastSide = 2, kLargestOrdinary = 4;
/// Elements smaller than the largest one by this factor are ordinary, so that `high` has 7 bits and a sign.
constexpr float kMostOutlierRatio = 120;

/// An element beyond the range of the others: x ~ scale (value + 128 high - zero_point).
struct Outlier {
  uint32_t k;
  int32_t high;                     ///< -127 to 127, not 0
  uint8_t digits[2 * kPanelDepth];  ///< |high| at k modulo their number, otherwise 0: A of multiply_add()
};

/// Whether a row has outliers.
HWY_INLINE bool has_outliers(const RowSummary& summary, int64_t size) {
  const Range& range = summary.range;
  // Compares squares, times the size, without a division.
  const auto is_above = [&](float x, float limit) {
    return x * x * static_cast<float>(size) > limit * limit * RowSummary::kParts * summary.part_squares;
  };
  return is_above(range.half_width(), kWidestRange / 2) && size >= kShortestOutlierRow &&
         is_above(std::min(range.below, range.above), kLeastSide) && range.finite();
}

/// The elements of a row that are larger than a threshold. If these are more than kMostOutliers, the
/// threshold rises to the first one that is too many. Order has no influence on which they are.
class LargeElements {
 public:
  LargeElements(const float* x, int64_t size, float threshold) : threshold_(threshold) {
    constexpr int64_t kTogether = 64;  // elements, whose bits are looked at together: branches cost most
    const hn::CappedTag<float, 16> d;
    constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
    int64_t at = 0;
    for (; at + kTogether <= size; at += kTogether) {
      const auto limit = hn::Set(d, threshold_);
      uint64_t large = 0;
      for (int64_t n = 0; n < kTogether; n += kLanes) {
        uint64_t lanes = 0;
        hn::StoreMaskBits(d, hn::Gt(hn::Abs(hn::LoadU(d, x + at + n)), limit),
                          reinterpret_cast<uint8_t*>(&lanes));
        large |= lanes << n;
      }
      for (; large != 0; large &= large - 1) add(x, at + std::countr_zero(large));
    }
    for (; at < size; ++at) {
      if (std::abs(x[at]) > threshold_) add(x, at);
    }
    drop_smallest();
  }

  struct Element {
    float value;
    int32_t k;
  };
  const Element* begin() const { return elements_; }
  const Element* end() const { return elements_ + count_; }
  float threshold() const { return threshold_; }

 private:
  void add(const float* x, int64_t k) {
    if (count_ == kRoom) drop_smallest();
    elements_[count_++] = {x[k], static_cast<int32_t>(k)};
  }
  void drop_smallest() {
    if (count_ > kMostOutliers) {
      Element* const first_left = elements_ + kMostOutliers;
      std::nth_element(elements_, first_left, elements_ + count_, [](const Element& a, const Element& b) {
        return std::abs(a.value) > std::abs(b.value);
      });
      threshold_ = std::max(threshold_, std::abs(first_left->value));
    }
    const auto is_small = [&](const Element& element) { return !(std::abs(element.value) > threshold_); };
    count_ = static_cast<int>(std::remove_if(elements_, elements_ + count_, is_small) - elements_);
  }

  static constexpr int kRoom = 4 * kMostOutliers;
  float threshold_;
  int count_ = 0;
  Element elements_[kRoom];
};

// ---- Quantization -----------------------------------------------------------------------------------------

/// How a row was quantized: x_i ~ scale (values[i] - zero_point), but for outliers.
struct RowScale {
  float scale;         ///< 0 for a row of zeros, NaN for a row that contains NaN or infinity
  int32_t zero_point;  ///< 0 to 127
  int outliers = 0;
  int positive_outliers = 0;  ///< those whose `high` is positive; they come first
};

/// A row of activations, and where it goes.
struct RowToQuantize {
  const float* x;
  int64_t in, stride;
  uint8_t* values;    ///< (stride), 0 to 127, with zeros from `in` on
  Outlier* outliers;  ///< (kMostOutliers)
};

/// Quantizes a row whose elements beyond `range` are saturated.
HWY_INLINE RowScale quantize_within(const Range& range, const RowToQuantize& row) {
  const bool finite = range.finite();
  const float scale = range.half_width() * (2.0f / kMaxActivation);
  const bool usable = finite && scale >= kSmallest;
  const float factor = usable ? 1 / scale : 0;
  const float zero_point = range.below * factor;
  const int64_t in = usable ? row.in : 0;
  round_row(row.x, in, factor, zero_point, kMaxActivation, row.values);
  std::fill(row.values + in, row.values + row.stride, uint8_t{0});
  if (usable) return {scale, nearest(zero_point)};
  return {finite ? 0 : std::numeric_limits<float>::quiet_NaN(), 0};
}

/// The range is that of ordinary elements, as far as they occur.
inline HWY_NOINLINE RowScale quantize_with_outliers(const RowSummary& summary, const RowToQuantize& row) {
  const Range& range = summary.range;
  const float ordinary = std::sqrt(summary.part_squares * (RowSummary::kParts / static_cast<float>(row.in)));
  const float threshold = std::max(kLargestOrdinary * ordinary, range.largest() * (1 / kMostOutlierRatio));
  const LargeElements large(row.x, row.in, threshold);
  RowScale result = quantize_within(
      {std::min(range.below, large.threshold()), std::min(range.above, large.threshold())}, row);
  if (result.scale == 0) return result;
  const float factor = 1 / result.scale;
  for (const bool positive : {true, false}) {
    for (const auto& [value, k] : large) {
      const int32_t all = nearest(value * factor) + result.zero_point, high = all >> 7;
      if (high == 0 || (high > 0) != positive) continue;
      row.values[k] = static_cast<uint8_t>(all & kMaxActivation);
      Outlier& outlier = row.outliers[result.outliers++];
      outlier = {.k = static_cast<uint32_t>(k), .high = high, .digits = {}};
      outlier.digits[k % sizeof outlier.digits] = static_cast<uint8_t>(std::abs(high));
    }
    if (positive) result.positive_outliers = result.outliers;
  }
  return result;
}

/// A row of activations -> u7 and outliers.
HWY_INLINE RowScale quantize_row(const RowToQuantize& row) {
  const RowSummary summary = summarize(row.x, row.in);
  if (has_outliers(summary, row.in)) return quantize_with_outliers(summary, row);
  return quantize_within(summary.range, row);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
