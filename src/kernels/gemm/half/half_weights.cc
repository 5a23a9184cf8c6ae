#include "kernels/gemm/half/half_weights.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/memory_pool.h"
#include "kernels/gemm/half/half_product.h"
#include "kernels/gemm/packed/packed_int8_slices.h"
#include "kernels/simd/simd.h"
#include "tensor/half.h"

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

void pair_panel(const uint16_t* rows, int64_t in, uint32_t* pairs) {
  transpose_pairs({rows, kPanelWidth, in}, 0, in, pairs);
}

template <bool kBfloat>
HWY_INLINE void pack_widened(const HalfMatrix& weights, float* panel) {
  const PairFloats d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto widen_block = [&](const uint32_t* from, int64_t size, float* to) {
    for (int64_t i = 0; i < size; i += 2, from += kPanelWidth, to += 2 * kPanelWidth) {
      for (int64_t column = 0; column < weights.out; column += lanes) {
        const auto both = hn::LoadU(Pairs(), from + column);
        hn::StoreU(Widen<kBfloat>::first(both), d, to + column);
        if (i + 1 < size) hn::StoreU(Widen<kBfloat>::second(both), d, to + kPanelWidth + column);
      }
    }
  };
  if (weights.paired)
    return widen_block(reinterpret_cast<const uint32_t*>(weights.values), weights.in, panel);
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
    widen_block(pairs, size, panel + k * kPanelWidth);
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
HEED_EXPORT(pair_panel);
HEED_EXPORT(pack_b_half);

void widen(const HalfMatrix& weights, float* floats) {
  HEED_SELECT(widen)(weights, floats);
}

void widen_rows(const HalfMatrix& weights, int64_t begin, int64_t count, float* floats) {
  if (!weights.paired) return widen(weights.rows(begin, count), floats);
  for (int64_t row = begin; row < begin + count; ++row) {
    const uint16_t* pair = weights.row(row / kPanelWidth * kPanelWidth) + row % kPanelWidth * 2;
    for (int64_t i = 0; i < weights.in; i += 2, pair += 2 * kPanelWidth) {
      for (int64_t half : {0, 1}) {
        *floats++ = weights.bfloat ? bfloat_to_float(pair[half]) : half_to_float(pair[half]);
      }
    }
  }
}

bool pairing_pays(int64_t out, int64_t in) {
  return multiplies_halves_f32(1) && !uses_int8_slices(in) && out % kPanelWidth == 0 && in % 2 == 0;
}

void pair_panels(uint16_t* values, int64_t out, int64_t in) {
  if (in == 0) return;
  constexpr int64_t kUnit = 8;  // transpose_pairs() writes in whole units
  std::vector<uint32_t, PoolAllocator<uint32_t>> pairs(
      static_cast<size_t>(round_up(in, kUnit) / 2 * kPanelWidth));
  for (int64_t n = 0; n < out; n += kPanelWidth, values += kPanelWidth * in) {
    HEED_SELECT(pair_panel)(values, in, pairs.data());
    std::memcpy(values, pairs.data(), static_cast<size_t>(kPanelWidth * in) * sizeof(uint16_t));
  }
}

void pack_b_half(const HalfMatrix& weights, float* panel) {
  HEED_SELECT(pack_b_half)(weights, panel);
}

}  // namespace heed
#endif
