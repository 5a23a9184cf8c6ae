// Products of matrices that stay in L1, for attention: scores Q K^T, outputs P V and their derivatives. B
// is packed in panels of NR columns (pack_b); small_gemm.cc multiplies. Included once for each instruction
// set.

#if defined(HEED_KERNELS_SMALL_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SMALL_GEMM_INL_H_
#undef HEED_KERNELS_SMALL_GEMM_INL_H_
#else
#define HEED_KERNELS_SMALL_GEMM_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "kernels/simd/fma_block-inl.h"
#include "kernels/simd/rows-inl.h"
#include "kernels/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// NR: columns of a panel of B.
template <typename T>
HWY_INLINE int64_t panel_width() {
  return kFmaNrVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
}

/// B in panels of whole vectors: columns [p * panel_width(), ...) begin at data + p * panel_stride, and their
/// rows are `row_stride` apart.
template <typename T>
struct PackedB {
  const T* data;
  int64_t row_stride, panel_stride;

  PackedB from_row(int64_t row) const { return {data + row * row_stride, row_stride, panel_stride}; }
  /// `column` is the first of a panel.
  PackedB from_column(int64_t column) const {
    return {data + column / panel_width<T>() * panel_stride, row_stride, panel_stride};
  }
};

/// C (rows x columns) = A (rows x depth) B (depth x columns).
template <typename T>
struct SmallProduct {
  int64_t rows = 0;  ///< at most kFmaMr
  int64_t columns = 0, depth = 0;
  const T* a = nullptr;
  int64_t a_stride = 0;
  PackedB<T> b;
  T* c = nullptr;
  int64_t c_stride = 0;
  bool accumulate = false;  ///< C += A B
};

/// A is stored as (depth x rows) where kATransposed. `columns` is rounded up to whole vectors, of B and of C.
/// Each element is one sum in the order of the depth, whatever the sizes.
template <bool kATransposed, typename T>
void small_gemm(const SmallProduct<T>& product);

/// visit(row, rows) for blocks of at most kFmaMr rows.
template <class Visit>
HWY_INLINE void for_each_mr(int64_t rows, const Visit& visit) {
  for_each_block<kFmaMr>(rows, visit);
}

/// B = x^T for x (rows x width): the product has a column for each row of x.
template <typename T>
HWY_NOINLINE PackedB<T> pack_b_transposed(const T* x, int64_t stride, int64_t rows, int64_t width, T* out) {
  const int64_t nr = panel_width<T>();
  for (int64_t row = 0; row < rows; row += nr) {
    transpose(x + row * stride, stride, std::min(nr, rows - row), width, out + row * width, nr);
  }
  return {out, nr, nr * width};
}

/// B = x (rows x width), in rows of whole vectors, padded with zeros.
template <typename T>
HWY_NOINLINE PackedB<T> pack_b(const T* x, int64_t stride, int64_t rows, int64_t width, T* out) {
  const hn::ScalableTag<T> d;
  const int64_t padded = round_up(width, static_cast<int64_t>(hn::Lanes(d)));
  for (int64_t row = 0; row < rows; ++row) {
    prefetch_next_head(x + row * stride, width);
    for_each_vector(d, width, [&](auto at, auto load, auto) {
      hn::StoreU(load(x + row * stride + at), d, out + row * padded + at);
    });
  }
  return {out, padded, panel_width<T>()};
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
