// Transposes of blocks of a matrix, and prefetches. Included once for each instruction set.

#if defined(HEED_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_TRANSPOSE_INL_H_
#undef HEED_KERNELS_TRANSPOSE_INL_H_
#else
#define HEED_KERNELS_TRANSPOSE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/simd/simd.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Prefetches a row of `width` elements.
template <typename T>
HWY_INLINE void prefetch(const T* row, int64_t width) {
  constexpr int64_t kLine = kCacheLineBytes / static_cast<int64_t>(sizeof(T));
  for (int64_t at = 0; at < width; at += kLine) hwy::Prefetch(row + at);
}

/// Prefetches the `width` elements after these of a row: those of the next head. The hardware prefetcher does
/// not see such a pattern, short pieces of many long rows.
template <typename T>
HWY_INLINE void prefetch_next_head(const T* row, int64_t width) {
  prefetch(row + width, width);
}

#if HWY_TARGET != HWY_SCALAR
/// As many rows as a vector has lanes, each somewhere else.
struct ListedRows {
  const float* const* rows;
  int64_t column = 0;
  HWY_INLINE const float* at(size_t row) const { return rows[row] + column; }
  HWY_INLINE void advance(int64_t columns) { column += columns; }
};

/// The same at even distances, of `stride` bytes. Four rows are addressed from one pointer: one for each
/// would not fit the registers.
class EvenRows {
 public:
  HWY_INLINE EvenRows(const void* first, int64_t stride) : stride_(stride) {
    for (size_t n = 0; n < kPointers; ++n)
      fourth_[n] = static_cast<const char*>(first) + static_cast<int64_t>(4 * n) * stride;
  }
  HWY_INLINE const float* at(size_t row) const {
    return reinterpret_cast<const float*>(fourth_[row / 4] + static_cast<int64_t>(row % 4) * stride_);
  }
  HWY_INLINE void advance(int64_t columns) {
    for (const char*& pointer : fourth_) pointer += columns * static_cast<int64_t>(sizeof(float));
  }

 private:
  static constexpr size_t kPointers = std::max<size_t>(1, hn::MaxLanes(hn::ScalableTag<float>()) / 4);
  const char* fourth_[kPointers];
  int64_t stride_;
};

/// Four columns of every fourth row from `first` on, as the 128-bit blocks of one vector.
template <class D, class Rows>
HWY_INLINE hn::Vec<D> load_blocks(D d, const Rows& rows, size_t first) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, rows.at(first));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, rows, first + hn::Lanes(half)), load_blocks(half, rows, first));
  }
}

/// Transposes as many rows as a vector has lanes, four columns at a time; columns % 4 are left.
template <class Rows>
HWY_INLINE void transpose_by_fours(Rows rows, int64_t columns, float* out, int64_t out_stride) {
  const hn::ScalableTag<float> d;
  const hn::Repartition<double, decltype(d)> pairs;
  for (int64_t c = 0; c + 4 <= columns; c += 4, rows.advance(4)) {
    // Block b of row_i is from row 4 b + i.
    const auto row_0 = load_blocks(d, rows, 0), row_1 = load_blocks(d, rows, 1);
    const auto row_2 = load_blocks(d, rows, 2), row_3 = load_blocks(d, rows, 3);
    const auto low_01 = hn::BitCast(pairs, hn::InterleaveLower(d, row_0, row_1));
    const auto low_23 = hn::BitCast(pairs, hn::InterleaveLower(d, row_2, row_3));
    const auto high_01 = hn::BitCast(pairs, hn::InterleaveUpper(d, row_0, row_1));
    const auto high_23 = hn::BitCast(pairs, hn::InterleaveUpper(d, row_2, row_3));
    float* to = out + c * out_stride;
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low_01, low_23)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low_01, low_23)), d, to + out_stride);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high_01, high_23)), d, to + 2 * out_stride);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high_01, high_23)), d, to + 3 * out_stride);
  }
}
#endif

/// out[c * out_stride + r] = x[r * stride + c]. `out` is written in whole vectors: past `rows`, the last row
/// is repeated.
template <typename T>
HWY_INLINE void transpose(const T* x, int64_t stride, int64_t rows, int64_t columns, T* out,
                          int64_t out_stride) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* row[hn::MaxLanes(d)];
  for (int64_t begin = 0; begin < rows; begin += lanes) {
    for (int64_t r = 0; r < lanes; ++r) {
      row[r] = x + std::min(begin + r, rows - 1) * stride;
      prefetch_next_head(row[r], columns);
    }
    int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (sizeof(T) == sizeof(float)) {
      transpose_by_fours(ListedRows{row}, columns, out + begin, out_stride);
      done = columns / 4 * 4;
    }
#endif
    for (int64_t c = done; c < columns; ++c) {
      for (int64_t r = 0; r < lanes; ++r) out[c * out_stride + begin + r] = row[r][c];
    }
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
