// u7 x s8 products on x86: vpmaddubsw, and vpdpbusd where internal::has_vnni() is true. Included once for
// each instruction set.

#if defined(HEED_KERNELS_BYTE_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_BYTE_PRODUCTS_INL_H_
#undef HEED_KERNELS_BYTE_PRODUCTS_INL_H_
#else
#define HEED_KERNELS_BYTE_PRODUCTS_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// HEED_BYTE_PRODUCTS: this target has u8 x s8 instructions. HEED_VNNI: some of its processors have VNNI.
#undef HEED_BYTE_PRODUCTS
#undef HEED_VNNI
#define HEED_BYTE_PRODUCTS (HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
#define HEED_VNNI (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)

#if HEED_BYTE_PRODUCTS

using ByteSums = hn::ScalableTag<int32_t>;
using Bytes = hn::Repartition<int8_t, ByteSums>;
using UnsignedBytes = hn::Repartition<uint8_t, ByteSums>;
using PairSums = hn::Repartition<int16_t, ByteSums>;

/// x[2 i] w[2 i] + x[2 i + 1] w[2 i + 1] in 16 bits (vpmaddubsw). The instruction saturates, but with x at
/// most kLargestActivation and |w| at most 127 the result is at most 32,258: exact.
HWY_INLINE hn::Vec<PairSums> multiply_byte_pairs(hn::Vec<UnsignedBytes> x, hn::Vec<Bytes> w) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<PairSums>{_mm512_maddubs_epi16(x.raw, w.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<PairSums>{_mm256_maddubs_epi16(x.raw, w.raw)};
#else
  return hn::Vec<PairSums>{_mm_maddubs_epi16(x.raw, w.raw)};
#endif
}

/// sums[i] += pairs[2 i] + pairs[2 i + 1] (vpmaddwd with ones).
HWY_INLINE void add_pairs(hn::Vec<ByteSums>& sums, hn::Vec<PairSums> pairs) {
  const auto ones = hn::Set(PairSums(), int16_t{1});
#if HWY_TARGET == HWY_AVX3
  sums = hn::Add(sums, hn::Vec<ByteSums>{_mm512_madd_epi16(pairs.raw, ones.raw)});
#elif HWY_TARGET == HWY_AVX2
  sums = hn::Add(sums, hn::Vec<ByteSums>{_mm256_madd_epi16(pairs.raw, ones.raw)});
#else
  sums = hn::Add(sums, hn::Vec<ByteSums>{_mm_madd_epi16(pairs.raw, ones.raw)});
#endif
}

#endif

#if HEED_VNNI

/// sums[i] += sum of x[4 i + j] w[4 i + j] over j = 0, ..., 3 (vpdpbusd). Highway has no name for it, and its
/// targets do not let the compiler use it.
HWY_INLINE void add_byte_products(hn::Vec<ByteSums>& sums, hn::Vec<UnsignedBytes> x, hn::Vec<Bytes> w) {
#if HWY_TARGET == HWY_AVX3
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(x.raw), "v"(w.raw));
#else
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(x.raw), "x"(w.raw));
#endif
}

#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
