// Matrix products and transposes in cache, for the kernels that are blocked by hand. Included once for each
// instruction set.

#if defined(HEED_KERNELS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_TILE_INL_H_
#undef HEED_KERNELS_TILE_INL_H_
#else
#define HEED_KERNELS_TILE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/cache_control.h"
#include "kernels/gemm/register_tile-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Elements of one column of blocks.
template <typename T>
HWY_INLINE int64_t panel_width() {
  return kTileVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
}

HWY_INLINE int64_t round_up(int64_t size, int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

/// The right factor of a product, whole vectors wide: columns [p * panel_width(), ...) begin at data + p *
/// panel, and their rows lie `stride` apart.
template <typename T>
struct RightFactor {
  const T* data;
  int64_t stride, panel;

  RightFactor from_row(int64_t row) const { return {data + row * stride, stride, panel}; }
  /// `column` is the first of a panel.
  RightFactor from_column(int64_t column) const {
    return {data + column / panel_width<T>() * panel, stride, panel};
  }
};

/// kRows x kVectors vectors of C = A B, or C += A B, where A is kTransposed in memory or not.
template <bool kTransposed, int kRows, int kVectors, typename T>
HWY_INLINE void multiply_block(int64_t depth, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                               T* c, int64_t c_stride, bool accumulate) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  for (int64_t k = 0; k < depth; ++k) {
    hn::Vec<decltype(d)> row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b + k * b_stride + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, kTransposed ? a[k * a_stride + r] : a[r * a_stride + k]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      T* at = c + r * c_stride + v * lanes;
      hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, at), sum[r][v]) : sum[r][v], d, at);
    }
  }
}

template <bool kTransposed, int kRows, int kVectors, typename T>
HWY_INLINE void multiply_vectors(int64_t vectors, int64_t depth, const T* a, int64_t a_stride, const T* b,
                                 int64_t b_stride, T* c, int64_t c_stride, bool accumulate) {
  if (vectors == kVectors) {
    multiply_block<kTransposed, kRows, kVectors>(depth, a, a_stride, b, b_stride, c, c_stride, accumulate);
  } else if constexpr (kVectors > 1) {
    multiply_vectors<kTransposed, kRows, kVectors - 1>(vectors, depth, a, a_stride, b, b_stride, c, c_stride,
                                                       accumulate);
  }
}

/// multiply_rows() for at most kRows rows.
template <bool kTransposed, int kRows, typename T>
HWY_INLINE void multiply_at_most(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t a_stride,
                                 const RightFactor<T>& b, T* c, int64_t c_stride, bool accumulate) {
  if (rows == kRows) {
    const int64_t panel = panel_width<T>(), lanes = panel / kTileVectors;
    for (int64_t begin = 0; begin < columns; begin += panel) {
      const int64_t vectors = std::min<int64_t>(kTileVectors, (columns - begin + lanes - 1) / lanes);
      multiply_vectors<kTransposed, kRows, kTileVectors>(vectors, depth, a, a_stride,
                                                         b.data + begin / panel * b.panel, b.stride,
                                                         c + begin, c_stride, accumulate);
    }
  } else if constexpr (kRows > 1) {
    multiply_at_most<kTransposed, kRows - 1>(rows, columns, depth, a, a_stride, b, c, c_stride, accumulate);
  }
}

/// C (rows x columns) = A (rows x depth) B (depth x columns), or is added to, for at most kTileRows rows; A
/// (depth x rows) in memory where kTransposed. `columns` is rounded up to whole vectors, of B and of C. Each
/// element is one sum in the order of the depth, whatever the sizes. Not inlined, as it has a loop for every
/// number of rows and vectors, which would be compiled again for each call.
template <bool kTransposed, typename T>
HWY_NOINLINE void multiply_rows(int64_t rows, int64_t columns, int64_t depth, const T* a, int64_t a_stride,
                                const RightFactor<T>& b, T* c, int64_t c_stride, bool accumulate) {
  multiply_at_most<kTransposed, kTileRows>(rows, columns, depth, a, a_stride, b, c, c_stride, accumulate);
}

/// visit(row, rows) for blocks of at most kTileRows rows.
template <class Visit>
HWY_INLINE void for_each_tile(int64_t rows, const Visit& visit) {
  for_each_block<kTileRows>(rows, visit);
}

/// Asks for columns that are wanted soon.
template <typename T>
HWY_INLINE void prefetch(const T* columns, int64_t width) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (int64_t at = 0; at < width; at += kLine) hwy::Prefetch(columns + at);
}

/// Asks for the columns behind these of a row: those of the next head. A row is long, so that the processor
/// does not see by itself that short pieces of many rows are wanted.
template <typename T>
HWY_INLINE void prefetch_behind(const T* row, int64_t width) {
  prefetch(row + width, width);
}

// ---- Transposes and copies --------------------------------------------------------------------------------

#if HWY_TARGET != HWY_SCALAR
/// Elements [at, at + 4) of every fourth row, as the blocks of one vector.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const float* const* rows, int64_t at) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, rows[0] + at);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, rows + hn::Lanes(half), at), load_blocks(half, rows, at));
  }
}

/// As many columns as come in fours of the transpose of a vector's lanes of rows.
HWY_INLINE void transpose_fours(const float* const* rows, int64_t columns, float* out, int64_t out_stride) {
  const hn::ScalableTag<float> d;
  const hn::Repartition<double, decltype(d)> pairs;
  for (int64_t c = 0; c + 4 <= columns; c += 4) {
    // Block b of row_i is of row 4 b + i.
    const auto row_0 = load_blocks(d, rows, c), row_1 = load_blocks(d, rows + 1, c);
    const auto row_2 = load_blocks(d, rows + 2, c), row_3 = load_blocks(d, rows + 3, c);
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

/// out[c * out_stride + r] = x[r * stride + c]; columns of `out` up to a whole number of vectors repeat the
/// last one.
template <typename T>
HWY_INLINE void transpose(const T* x, int64_t stride, int64_t rows, int64_t columns, T* out,
                          int64_t out_stride) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T* row[hn::MaxLanes(d)];
  for (int64_t begin = 0; begin < rows; begin += lanes) {
    for (int64_t r = 0; r < lanes; ++r) {
      row[r] = x + std::min(begin + r, rows - 1) * stride;
      prefetch_behind(row[r], columns);
    }
    int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (sizeof(T) == sizeof(float)) {
      transpose_fours(row, columns, out + begin, out_stride);
      done = columns / 4 * 4;
    }
#endif
    for (int64_t c = done; c < columns; ++c) {
      for (int64_t r = 0; r < lanes; ++r) out[c * out_stride + begin + r] = row[r][c];
    }
  }
}

/// The transpose of x (rows x width) in panels: the product with it has a column for each row of x.
template <typename T>
HWY_NOINLINE RightFactor<T> pack_transposed(const T* x, int64_t stride, int64_t rows, int64_t width, T* out) {
  const int64_t panel = panel_width<T>();
  for (int64_t row = 0; row < rows; row += panel) {
    transpose(x + row * stride, stride, std::min(panel, rows - row), width, out + row * width, panel);
  }
  return {out, panel, panel * width};
}

/// A copy of x (rows x width), rows one after the other and of whole vectors, with zeros at their ends.
template <typename T>
HWY_NOINLINE RightFactor<T> pack(const T* x, int64_t stride, int64_t rows, int64_t width, T* out) {
  const hn::ScalableTag<T> d;
  const int64_t padded = round_up(width, static_cast<int64_t>(hn::Lanes(d)));
  for (int64_t row = 0; row < rows; ++row) {
    prefetch_behind(x + row * stride, width);
    for_each_vector(d, width, [&](auto at, auto load, auto) {
      hn::StoreU(load(x + row * stride + at), d, out + row * padded + at);
    });
  }
  return {out, padded, panel_width<T>()};
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
