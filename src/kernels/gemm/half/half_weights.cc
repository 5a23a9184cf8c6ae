#include "kernels/gemm/half/half_weights.h"

#include <algorithm>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/half/half_weights.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/gemm/half/half_pairs-inl.h"
#include "kernels/simd/float16-inl.h"

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

void widen(const HalfMatrix& weights, float* floats) {
  const int64_t count = weights.out * weights.in;
  weights.bfloat ? widen_row<true>(weights.values, count, floats)
                 : widen_row<false>(weights.values, count, floats);
}

template <bool kBfloat>
HWY_INLINE void pack_widened(const HalfMatrix& weights, float* panel) {
  const PairFloats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  alignas(64) uint32_t pairs[kPairsBlock / 2 * kPanelWidth];
  for (int64_t k = 0; k < weights.in; k += kPairsBlock) {
    const int64_t size = std::min(kPairsBlock, weights.in - k);
    transpose_pairs(weights, k, size, pairs);
    // The next block of each row, or the first one of the next panel.
    const bool is_last = k + kPairsBlock >= weights.in;
    for (int64_t column = 0; column < weights.out; ++column) {
      prefetch(is_last ? weights.row(column + weights.out) : weights.row(column) + k + kPairsBlock,
               kPairsBlock);
    }
    for (int64_t i = 0; i < size; i += 2) {
      const uint32_t* const from = pairs + i / 2 * kPanelWidth;
      float* const to = panel + (k + i) * kPanelWidth;
      for (int64_t column = 0; column < weights.out; column += lanes) {
        const auto both = hn::LoadU(Pairs(), from + column);
        hn::StoreU(Widen<kBfloat>::first(both), d, to + column);
        if (i + 1 < size) hn::StoreU(Widen<kBfloat>::second(both), d, to + kPanelWidth + column);
      }
    }
  }
}

void pack_b_half(const HalfMatrix& weights, float* panel) {
  weights.bfloat ? pack_widened<true>(weights, panel) : pack_widened<false>(weights, panel);
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
