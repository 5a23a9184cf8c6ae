// A and B of a product C = A B as they are in memory, for the kernels that pack both for AMX. Included once
// for each instruction set.

#if defined(HEED_KERNELS_OPERAND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_OPERAND_INL_H_
#undef HEED_KERNELS_OPERAND_INL_H_
#else
#define HEED_KERNELS_OPERAND_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/simd/amx.h"
#include "kernels/simd/transpose-inl.h"
#include "kernels/simd/unroll-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

using Floats = hn::ScalableTag<float>;
/// 32-bit words: the bits of a float, or what a tile has of one row or column in one dword, 4 int8 or 2 bf16
/// numbers along K.
using Dwords = hn::RebindToUnsigned<Floats>;

/// Dwords of a tile row, and of a whole tile.
constexpr int64_t kRowDwords = amx::kTileRowBytes / amx::kDwordBytes;
constexpr int64_t kTileDwords = amx::kTileRows * kRowDwords;

enum class Side { kA, kB };

/// A (M x K) or B (K x N). `size` is M or N; an index along it is a row of A or a column of B.
struct Operand {
  const float* data;
  int64_t stride;
  Side side;
  bool k_contiguous;  ///< element (i, k) is at i * stride + k; otherwise at k * stride + i
  int64_t size, k_size;

  const float* at(int64_t i, int64_t k) const {
    return data + (k_contiguous ? i * stride + k : k * stride + i);
  }
  /// The same with K cut off at `k_end`.
  Operand up_to(int64_t k_end) const { return {data, stride, side, k_contiguous, size, k_end}; }
};

/// Prefetches a matrix to L2 at an even pace: all of it in `calls` calls.
class PacedPrefetch {
 public:
  PacedPrefetch(const float* data, int64_t stride, int64_t rows, int64_t columns, int64_t calls)
      : row_(data),
        stride_(stride),
        columns_(columns),
        lines_(rows * ((columns + kLine - 1) / kLine)),
        calls_(calls) {}

  HWY_INLINE void operator()() {
    for (due_ += lines_; due_ >= calls_; due_ -= calls_) {
      __builtin_prefetch(row_ + column_, 0, 2);
      column_ += kLine;
      if (column_ < columns_) continue;
      column_ = 0;
      row_ += stride_;
    }
  }

 private:
  static constexpr int64_t kLine = kCacheLineBytes / static_cast<int64_t>(sizeof(float));
  const float* row_;
  int64_t stride_, columns_, lines_, calls_;
  int64_t column_ = 0, due_ = 0;
};

/// Of an operand, rows or columns [begin, begin + count), as far as it has them, and [k, k_end) of K.
HWY_INLINE PacedPrefetch prefetch_operand(const Operand& o, int64_t begin, int64_t count, int64_t k,
                                          int64_t k_end, int64_t calls) {
  const int64_t size = std::clamp<int64_t>(o.size - begin, 0, count);
  if (o.k_contiguous) return {o.at(begin, k), o.stride, size, k_end - k, calls};
  return {o.at(begin, k), o.stride, k_end - k, size, calls};
}

/// Floats in the order of a tile: a row of K for each row of A; a row of 16 columns for each k of B.
struct FloatBlock {
  const float* rows;
  int64_t stride;
};

/// 16 rows or columns of an operand and kDepth of K: where they are, or in `copy` if they have to be
/// transposed or, at the edges, padded with zeros.
template <int64_t kDepth>
HWY_INLINE FloatBlock block_of(const Operand& o, int64_t begin, int64_t k, float* copy) {
  constexpr int64_t kSize = amx::kTileRows;
  const bool is_a = o.side == Side::kA;
  const int64_t size = std::min(kSize, o.size - begin), depth = std::min(kDepth, o.k_size - k);
  const float* from = o.at(begin, k);
  const bool in_order = is_a == o.k_contiguous, whole = size == kSize && depth == kDepth;
  if (in_order && whole) return {from, o.stride};
  const int64_t width = is_a ? kDepth : kSize;
  if (!whole) std::fill_n(copy, kSize * kDepth, 0.0f);
  if (in_order) {
    const int64_t rows = is_a ? size : depth, columns = is_a ? depth : size;
    for (int64_t row = 0; row < rows; ++row) std::copy_n(from + row * o.stride, columns, copy + row * width);
  } else if (whole) {
    const int64_t rows = is_a ? depth : size, columns = is_a ? size : depth;
    for (int64_t row = 0; row < rows; row += kSize) {
      transpose(from + row * o.stride, o.stride, kSize, columns, copy + row, width);
    }
  } else {
    const int64_t k_step = is_a ? 1 : kSize, i_step = is_a ? kDepth : 1;
    for (int64_t d = 0; d < depth; ++d) {
      for (int64_t i = 0; i < size; ++i) copy[d * k_step + i * i_step] = *o.at(begin + i, k + d);
    }
  }
  return {copy, width};
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
