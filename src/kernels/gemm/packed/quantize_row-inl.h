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
/// Four vectors of integers as bytes, saturated to -128 and 127.
template <class V>
HWY_INLINE auto to_bytes(V a, V b, V c, V d) {
  const hn::ScalableTag<int32_t> dwords;
  const hn::Repartition<int8_t, decltype(dwords)> bytes;
  // Instructions pack within blocks of 128 bits: dword n of block m belongs to vector n.
#if HWY_TARGET == HWY_AVX3
  const auto ab = _mm512_packs_epi32(a.raw, b.raw), cd = _mm512_packs_epi32(c.raw, d.raw);
  const hn::Vec<decltype(dwords)> packed{_mm512_packs_epi16(ab, cd)};
  alignas(64) static constexpr int32_t kOrder[] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
#else
  const auto ab = _mm256_packs_epi32(a.raw, b.raw), cd = _mm256_packs_epi32(c.raw, d.raw);
  const hn::Vec<decltype(dwords)> packed{_mm256_packs_epi16(ab, cd)};
  alignas(32) static constexpr int32_t kOrder[] = {0, 4, 1, 5, 2, 6, 3, 7};
#endif
  return hn::BitCast(bytes, hn::TableLookupLanes(packed, hn::SetTableIndices(dwords, kOrder)));
}
#endif

/// A row of bytes, one after the other. Activations have their zero point added.
struct ByteRow {
  static constexpr bool kCentred = false;
  int8_t* data;
  int8_t* at(int64_t k) const { return data + k; }
};

/// x -> the nearest integer of x * factor (ties to even), at least `least` and at most `most`; and + shift.
/// All of these are within those of a signed byte.
struct Rounding {
  float factor = 0;
  int32_t least = -127, most = 127, shift = 0;
};

/// Row: ByteRow, or another one that is contiguous in blocks of 64 bytes.
template <class Row>
HWY_INLINE void round_row(const float* x, int64_t size, const Rounding& rounding, const Row& to) {
  const hn::ScalableTag<float> d;
  const auto factors = hn::Set(d, rounding.factor);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto rounded = [&](int64_t i) HEED_INLINE_LAMBDA {
    return nearest_in_range(hn::Mul(hn::LoadU(d, x + i), factors));
  };
  const auto bounded = [&](auto tag, auto values) HEED_INLINE_LAMBDA {
    using T = hn::TFromD<decltype(tag)>;
    const auto limited = hn::Min(hn::Max(values, hn::Set(tag, static_cast<T>(rounding.least))),
                                 hn::Set(tag, static_cast<T>(rounding.most)));
    return hn::Add(limited, hn::Set(tag, static_cast<T>(rounding.shift)));
  };
  int64_t at = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::Repartition<int8_t, decltype(d)> bytes;
  for (; at + 4 * lanes <= size; at += 4 * lanes) {
    const auto four =
        to_bytes(rounded(at), rounded(at + lanes), rounded(at + 2 * lanes), rounded(at + 3 * lanes));
    hn::StoreU(bounded(bytes, four), bytes, to.at(at));
  }
#endif
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<int8_t, decltype(d)> narrow;
  for (; at + lanes <= size; at += lanes) {
    hn::StoreU(hn::DemoteTo(narrow, bounded(integers, rounded(at))), narrow, to.at(at));
  }
  const int64_t rest = size - at;
  for (int64_t i = 0; i < rest; ++i) {
    const int32_t value = std::clamp(nearest(x[at + i] * rounding.factor), rounding.least, rounding.most);
    *to.at(at + i) = static_cast<int8_t>(value + rounding.shift);
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

/// Rows that are summarized together, so that the additions of one hide the latency of those of another.
constexpr int kSummarizedRows = hn::MaxLanes(hn::CappedTag<float, RowSummary::kParts>()) == 16 ? 4 : 1;

/// Of kRows rows, which are `stride` apart. Compares bit patterns as integers, in which order NaN is above
/// infinity: as signed ones, floats without their sign bit are in the order of their values and above all
/// with it; as unsigned ones, those with it are in the order of their absolute values and above all without.
/// NaN and infinity are found by the range; what `part_squares` is then does not matter. Compiled without FMA
/// contraction: see CMakeLists.txt.
template <int kRows>
HWY_INLINE void summarize(const float* x, int64_t stride, int64_t size, RowSummary* summaries) {
  constexpr int kParts = RowSummary::kParts;
  const hn::CappedTag<float, kParts> d;
  const hn::RebindToSigned<decltype(d)> bits;
  const hn::RebindToUnsigned<decltype(d)> unsigned_bits;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d)), kVectors = kParts / kLanes;
  constexpr uint32_t kSign = 0x80000000u;
  hn::Vec<decltype(d)> squares[kRows * kVectors];
  hn::Vec<decltype(bits)> above[kRows * kVectors];
  hn::Vec<decltype(unsigned_bits)> below[kRows * kVectors];
  unroll<kRows * kVectors>([&](auto i) HEED_INLINE_LAMBDA {
    squares[i] = hn::Zero(d);
    above[i] = hn::Zero(bits);
    below[i] = hn::Set(unsigned_bits, kSign);
  });
  const auto add = [&](auto row, const float* parts) HEED_INLINE_LAMBDA {
    unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
      constexpr int i = decltype(row)::value * kVectors + decltype(v)::value;
      const auto values = hn::LoadU(d, parts + v * kLanes);
      squares[i] = hn::Add(squares[i], hn::Mul(values, values));
      above[i] = hn::Max(above[i], hn::BitCast(bits, values));
      below[i] = hn::Max(below[i], hn::BitCast(unsigned_bits, values));
    });
  };
  int64_t at = 0;
  for (; at + kParts <= size; at += kParts) {
    unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA { add(row, x + row * stride + at); });
  }
  if (at < size) {
    unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
      float last[kParts] = {};
      std::copy(x + row * stride + at, x + row * stride + size, last);
      add(row, last);
    });
  }
  // Without indices that are not constants, which would keep the vectors in memory.
  unroll<kRows>([&](auto row) HEED_INLINE_LAMBDA {
    constexpr int kFirst = decltype(row)::value * kVectors;
    alignas(64) float sums[kParts];
    auto most_above = above[kFirst];
    auto most_below = below[kFirst];
    unroll<kVectors>([&](auto v) HEED_INLINE_LAMBDA {
      hn::Store(squares[kFirst + v], d, sums + v * kLanes);
      most_above = hn::Max(most_above, above[kFirst + v]);
      most_below = hn::Max(most_below, below[kFirst + v]);
    });
    constexpr int kQuarter = kParts / 4;
    const hn::CappedTag<float, kQuarter> quarter;
    for (int n = 0; n < kQuarter; n += static_cast<int>(hn::Lanes(quarter))) {
      const auto part = [&](int i) HEED_INLINE_LAMBDA { return hn::Load(quarter, sums + n + i * kQuarter); };
      hn::Store(hn::Min(hn::Min(part(0), part(1)), hn::Min(part(2), part(3))), quarter, sums + n);
    }
    summaries[row] = {{std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(unsigned_bits, most_below)) ^ kSign),
                       std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(bits, most_above)))},
                      std::max(std::min(sums[0], sums[2]), std::min(sums[1], sums[3]))};
  });
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
template <class Row>
struct RowToQuantize {
  const float* x;
  int64_t in, stride;
  Row values;         ///< (stride), 0 to 127, less the zero point where centred, with zeros from `in` on
  Outlier* outliers;  ///< (kMostOutliers)
};

/// Quantizes a row whose elements beyond `range` are saturated.
template <class Row>
HWY_INLINE RowScale quantize_within(const Range& range, const RowToQuantize<Row>& row) {
  const bool finite = range.finite();
  const float scale = range.half_width() * (2.0f / kMaxActivation);
  const bool usable = finite && scale >= kSmallest;
  const float factor = usable ? 1 / scale : 0;
  const int32_t zero_point = usable ? nearest(range.below * factor) : 0;
  const int64_t in = usable ? row.in : 0;
  round_row(row.x, in, {factor, -zero_point, kMaxActivation - zero_point, Row::kCentred ? 0 : zero_point},
            row.values);
  for (int64_t k = in; k < row.stride; ++k) *row.values.at(k) = 0;
  if (!finite) return {std::numeric_limits<float>::quiet_NaN(), 0};
  return {usable ? scale : 0, zero_point};
}

/// The range is that of ordinary elements, as far as they occur.
template <class Row>
HWY_NOINLINE RowScale quantize_with_outliers(const RowSummary& summary, const RowToQuantize<Row>& row) {
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
      const int32_t low = all & kMaxActivation;
      *row.values.at(k) = static_cast<int8_t>(Row::kCentred ? low - result.zero_point : low);
      Outlier& outlier = row.outliers[result.outliers++];
      outlier = {.k = static_cast<uint32_t>(k), .high = high, .digits = {}};
      outlier.digits[k % sizeof outlier.digits] = static_cast<uint8_t>(std::abs(high));
    }
    if (positive) result.positive_outliers = result.outliers;
  }
  return result;
}

template <class Row>
HWY_INLINE RowScale quantize_row(const RowSummary& summary, const RowToQuantize<Row>& row) {
  if (has_outliers(summary, row.in)) return quantize_with_outliers(summary, row);
  return quantize_within(summary.range, row);
}

/// Rows of activations (rows, in) -> u7 and outliers. row_of(r) is a Row of `stride` bytes; scales has `rows`
/// elements, outliers kMostOutliers for each.
template <class RowOf>
HWY_INLINE void quantize_rows(const float* x, int64_t rows, int64_t in, int64_t stride, const RowOf& row_of,
                              RowScale* scales, Outlier* outliers) {
  for_each_block<kSummarizedRows>(rows, [&](int64_t begin, int64_t count) HEED_INLINE_LAMBDA {
    RowSummary summaries[kSummarizedRows];
    if (count == kSummarizedRows) {
      summarize<kSummarizedRows>(x + begin * in, in, in, summaries);
    } else {
      for (int64_t n = 0; n < count; ++n) summarize<1>(x + (begin + n) * in, in, in, summaries + n);
    }
    for (int64_t n = 0; n < count; ++n) {
      const int64_t r = begin + n;
      scales[r] = quantize_row<decltype(row_of(r))>(
          summaries[n], {x + r * in, in, stride, row_of(r), outliers + r * kMostOutliers});
    }
  });
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
