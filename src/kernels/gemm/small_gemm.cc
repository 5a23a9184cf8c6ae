// The micro-kernel of attention's products: MR x NR of C in vector registers.
//
//                    NR = 4 vectors (AVX-512)
//                +------+------+------+------+
//                |  b   |  b   |  b   |  b   |    row k of a panel of B, loaded once
//                +------+------+------+------+
//   +---------+  +------+------+------+------+
//   | a[0][k] |  |  c   |  c   |  c   |  c   |    c += a[r][k] b, with a[r][k] broadcast to all lanes
//   |  ...    |  |      |      |      |      |
//   | a[5][k] |  |  c   |  c   |  c   |  c   |    MR = 6 rows: 24 accumulators
//   +---------+  +------+------+------+------+
#include <algorithm>
#include <cstdint>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/small_gemm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/small_gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// kRows x kVectors vectors of C.
template <bool kATransposed, int kRows, int kVectors, typename T>
HWY_INLINE void microkernel(const SmallProduct<T>& product) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto [rows, columns, depth, a, a_stride, b, c, c_stride, accumulate] = product;
  hn::Vec<decltype(d)> sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  for (int64_t k = 0; k < depth; ++k) {
    hn::Vec<decltype(d)> row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = hn::LoadU(d, b.data + k * b.row_stride + v * lanes);
    for (int r = 0; r < kRows; ++r) {
      const auto broadcast = hn::Set(d, kATransposed ? a[k * a_stride + r] : a[r * a_stride + k]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(broadcast, row[v], sum[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      T* at = c + r * c_stride + v * lanes;
      hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, at), sum[r][v]) : sum[r][v], d, at);
    }
  }
}

/// `vectors` vectors of C, at most kVectors at a time.
template <bool kATransposed, int kRows, int kVectors, typename T>
HWY_INLINE void multiply_vectors(int64_t vectors, const SmallProduct<T>& product) {
  if (vectors >= kVectors) {
    microkernel<kATransposed, kRows, kVectors>(product);
  } else if constexpr (kVectors > 1) {
    multiply_vectors<kATransposed, kRows, kVectors - 1>(vectors, product);
  }
}

template <bool kATransposed, int kRows, typename T>
HWY_INLINE void multiply_rows(const SmallProduct<T>& product) {
  if (product.rows < kRows) {
    if constexpr (kRows > 1) multiply_rows<kATransposed, kRows - 1>(product);
    return;
  }
  // float64 is for gradient checks, where one vector at a time is fast enough, and compiled sooner.
  constexpr int kVectors = sizeof(T) == sizeof(float) ? kFmaNrVectors : 1;
  const int64_t nr = panel_width<T>(), lanes = nr / kFmaNrVectors;
  for (int64_t begin = 0; begin < product.columns; begin += nr) {
    const int64_t vectors = std::min<int64_t>(kFmaNrVectors, (product.columns - begin + lanes - 1) / lanes);
    const T* const panel = product.b.data + begin / nr * product.b.panel_stride;
    for (int64_t v = 0; v < vectors; v += kVectors) {
      SmallProduct<T> block = product;
      block.b.data = panel + v * lanes;
      block.c = product.c + begin + v * lanes;
      multiply_vectors<kATransposed, kRows, kVectors>(vectors - v, block);
    }
  }
}

template <bool kATransposed, typename T>
void small_gemm(const SmallProduct<T>& product) {
  multiply_rows<kATransposed, kFmaMr>(product);
}

template void small_gemm<false>(const SmallProduct<float>&);
template void small_gemm<true>(const SmallProduct<float>&);
template void small_gemm<false>(const SmallProduct<double>&);
template void small_gemm<true>(const SmallProduct<double>&);

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
