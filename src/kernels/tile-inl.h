// Small matrix products and transposes in cache, for the kernels that are blocked by hand. Included once for
// each instruction set.

#if defined(HEED_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_TILE_INL_H_
#undef HEED_KERNELS_TILE_INL_H_
#else
#define HEED_KERNELS_TILE_INL_H_
#endif

#include <cstdint>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// A matrix in memory whose elements lie `row` apart down a column and `step` apart along a row.
template <typename T>
struct StridedMatrix {
  const T* data;
  int64_t row, step;
};

/// kRows x (kVectors vectors) of C = A B (+ C): the innermost block, all of it in registers.
template <int kRows, int kVectors, class D, class Access, typename T>
HWY_INLINE void multiply_block(D d, const Access& access, int64_t depth, const StridedMatrix<T>& a,
                               const T* b, int64_t b_stride, T* c, int64_t c_stride, bool accumulate) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  for (int64_t k = 0; k < depth; ++k) {
    hn::Vec<D> row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = access(b + k * b_stride + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, a.data[r * a.row + k * a.step]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      T* at = c + r * c_stride + v * lanes;
      access(accumulate ? hn::Add(access(at), sum[r][v]) : sum[r][v], at);
    }
  }
}

/// All rows of a column of blocks, eight at a time, then four, two and one.
template <int kVectors, class D, class Access, typename T>
HWY_INLINE void multiply_rows(D d, const Access& access, int64_t rows, int64_t depth, StridedMatrix<T> a,
                              const T* b, int64_t b_stride, T* c, int64_t c_stride, bool accumulate) {
  const auto advance = [&](int64_t count) {
    a.data += count * a.row;
    c += count * c_stride;
    rows -= count;
  };
  while (rows >= 8) {
    multiply_block<8, kVectors>(d, access, depth, a, b, b_stride, c, c_stride, accumulate);
    advance(8);
  }
  if (rows >= 4) {
    multiply_block<4, kVectors>(d, access, depth, a, b, b_stride, c, c_stride, accumulate);
    advance(4);
  }
  if (rows >= 2) {
    multiply_block<2, kVectors>(d, access, depth, a, b, b_stride, c, c_stride, accumulate);
    advance(2);
  }
  if (rows >= 1) multiply_block<1, kVectors>(d, access, depth, a, b, b_stride, c, c_stride, accumulate);
}

/// C (rows x columns) = A (rows x depth) B (depth x columns), or is added to. Each element is one sum in the
/// order of the depth, whatever the sizes.
template <typename T>
HWY_NOINLINE void multiply_tile(int64_t rows, int64_t columns, int64_t depth, StridedMatrix<T> a, const T* b,
                                int64_t b_stride, T* c, int64_t c_stride, bool accumulate) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const Whole<decltype(d)> whole{d};
  int64_t column = 0;
  for (; column + 2 * lanes <= columns; column += 2 * lanes) {
    multiply_rows<2>(d, whole, rows, depth, a, b + column, b_stride, c + column, c_stride, accumulate);
  }
  if (column + lanes <= columns) {
    multiply_rows<1>(d, whole, rows, depth, a, b + column, b_stride, c + column, c_stride, accumulate);
    column += lanes;
  }
  if (column < columns) {
    const Partial<decltype(d)> part{d, hn::FirstN(d, static_cast<size_t>(columns - column))};
    multiply_rows<1>(d, part, rows, depth, a, b + column, b_stride, c + column, c_stride, accumulate);
  }
}

/// out (columns x rows, out_stride) = the transpose of x (rows x columns, x_stride).
template <typename T>
HWY_INLINE void transpose_plain(const T* x, int64_t x_stride, int64_t rows, int64_t columns, T* out,
                                int64_t out_stride) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) out[c * out_stride + r] = x[r * x_stride + c];
  }
}

HWY_INLINE void transpose(const double* x, int64_t x_stride, int64_t rows, int64_t columns, double* out,
                          int64_t out_stride) {
  transpose_plain(x, x_stride, rows, columns, out, out_stride);
}

/// Blocks of 4 by 4 in registers.
HWY_INLINE void transpose(const float* x, int64_t x_stride, int64_t rows, int64_t columns, float* out,
                          int64_t out_stride) {
#if HWY_TARGET == HWY_SCALAR
  transpose_plain(x, x_stride, rows, columns, out, out_stride);
#else
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> d2;
  const int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (int64_t r = 0; r < whole_rows; r += 4) {
    for (int64_t c = 0; c < whole_columns; c += 4) {
      const float* from = x + r * x_stride + c;
      const auto row0 = hn::LoadU(d, from), row1 = hn::LoadU(d, from + x_stride);
      const auto row2 = hn::LoadU(d, from + 2 * x_stride), row3 = hn::LoadU(d, from + 3 * x_stride);
      const auto low01 = hn::BitCast(d2, hn::InterleaveLower(d, row0, row1));
      const auto low23 = hn::BitCast(d2, hn::InterleaveLower(d, row2, row3));
      const auto high01 = hn::BitCast(d2, hn::InterleaveUpper(d, row0, row1));
      const auto high23 = hn::BitCast(d2, hn::InterleaveUpper(d, row2, row3));
      float* to = out + c * out_stride + r;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, low01, low23)), d, to);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, low01, low23)), d, to + out_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, high01, high23)), d, to + 2 * out_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, high01, high23)), d, to + 3 * out_stride);
    }
    transpose_plain(x + r * x_stride + whole_columns, x_stride, 4, columns - whole_columns,
                    out + whole_columns * out_stride + r, out_stride);
  }
  transpose_plain(x + whole_rows * x_stride, x_stride, rows - whole_rows, columns, out + whole_rows,
                  out_stride);
#endif
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
