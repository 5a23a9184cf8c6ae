#include "kernels/gemm/half_weights.h"

#include <algorithm>

#include "kernels/gemm/blocking.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/half_weights.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/float16-inl.h"
#include "kernels/simd/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <class D>
HWY_INLINE hn::Vec<D> load_bfloat16(D d, const uint16_t* p) {
  const hn::Rebind<uint32_t, D> bits;
  const auto upper = hn::PromoteTo(bits, hn::LoadU(hn::Rebind<uint16_t, D>(), p));
  return hn::BitCast(d, hn::ShiftLeft<16>(upper));
}

template <bool kBfloat>
HWY_INLINE void widen_row(const uint16_t* halves, int64_t count, float* floats) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + lanes <= count; at += lanes) {
    if constexpr (kBfloat) {
      hn::StoreU(load_bfloat16(d, halves + at), d, floats + at);
    } else {
      hn::StoreU(load_float16(d, halves + at), d, floats + at);
    }
  }
  for (; at < count; ++at) floats[at] = kBfloat ? bfloat_to_float(halves[at]) : half_to_float(halves[at]);
}

HWY_INLINE void widen_row(const HalfMatrix& weights, int64_t row, int64_t begin, int64_t count,
                          float* floats) {
  const uint16_t* halves = weights.row(row) + begin;
  weights.bfloat ? widen_row<true>(halves, count, floats) : widen_row<false>(halves, count, floats);
}

void widen(const HalfMatrix& weights, float* floats) {
  for (int64_t row = 0; row < weights.out; ++row, floats += weights.in) {
    widen_row(weights, row, 0, weights.in, floats);
  }
}

void pack_b_half(const HalfMatrix& weights, float* panel) {
  constexpr int64_t kBlock = 64;  // of K: what is widened of it fits L1
  alignas(64) float rows[kPanelWidth * kBlock];
  for (int64_t k = 0; k < weights.in; k += kBlock) {
    const int64_t size = std::min(kBlock, weights.in - k);
    for (int64_t column = 0; column < weights.out; ++column) {
      widen_row(weights, column, k, size, rows + column * kBlock);
      // The next block of this row, or the first one of the next panel.
      const bool is_last = k + kBlock >= weights.in;
      prefetch(is_last ? weights.row(column + weights.out) : weights.row(column) + k + kBlock, kBlock);
    }
    transpose(rows, kBlock, weights.out, size, panel + k * kPanelWidth, kPanelWidth);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {

HEED_EXPORT(widen);
HEED_EXPORT(pack_b_half);

void widen(const HalfMatrix& weights, float* floats) {
  HEED_SELECT(widen)(weights, floats);
}

void pack_b_half(const HalfMatrix& weights, float* panel) {
  HEED_SELECT(pack_b_half)(weights, panel);
}

}  // namespace heed
#endif
