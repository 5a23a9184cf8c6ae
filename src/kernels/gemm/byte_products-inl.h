// The instruction of VNNI: products of bytes, added to 32-bit sums four at a time. AVX-512 and AVX2 have one
// each, on processors of which internal::has_vnni() is true. Included once for each instruction set.

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

#undef HEED_BYTE_PRODUCTS
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define HEED_BYTE_PRODUCTS 1

using ByteSums = hn::ScalableTag<int32_t>;
using Bytes = hn::Repartition<int8_t, ByteSums>;

/// sums[i] += sum of x[4 i + j] w[4 i + j] over j = 0, ..., 3, where bytes of x have no sign: they are 128
/// more than the number that is meant, and 128 times the sum of w is taken from the sum in the end. Highway
/// has no name for it, and its targets do not let the compiler use it.
template <class X>
HWY_INLINE void add_byte_products(hn::Vec<ByteSums>& sums, X x, hn::Vec<Bytes> w) {
#if HWY_TARGET == HWY_AVX3
  asm("vpdpbusd %2, %1, %0" : "+v"(sums.raw) : "v"(x.raw), "v"(w.raw));
#else
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums.raw) : "x"(x.raw), "x"(w.raw));
#endif
}

#else
#define HEED_BYTE_PRODUCTS 0
#endif

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
