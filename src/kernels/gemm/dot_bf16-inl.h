// The dot product of bfloat16 in vectors (vdpbf16ps, AVX512-BF16). Highway 1.0.3 has no name for it, and its
// targets do not let the compiler use it. Included once for each instruction set.

#if defined(HEED_KERNELS_DOT_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_DOT_BF16_INL_H_
#undef HEED_KERNELS_DOT_BF16_INL_H_
#else
#define HEED_KERNELS_DOT_BF16_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// sums[i] += x[2 i] w[2 i] + x[2 i + 1] w[2 i + 1], where a dword of x and w holds two bfloat16 numbers.
/// Subnormal inputs count as zero. Only where internal::has_avx512_bf16().
HWY_INLINE void dot_pairs_bf16(hn::Vec<hn::ScalableTag<float>>& sums, hn::Vec<hn::ScalableTag<uint32_t>> x,
                               hn::Vec<hn::ScalableTag<uint32_t>> w) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sums.raw) : "v"(x.raw), "v"(w.raw));
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
