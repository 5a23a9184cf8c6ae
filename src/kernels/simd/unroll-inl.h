// Loops that the compiler unrolls, with constant indices. Included once for each instruction set.

#if defined(HEED_KERNELS_UNROLL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_UNROLL_INL_H_
#undef HEED_KERNELS_UNROLL_INL_H_
#else
#define HEED_KERNELS_UNROLL_INL_H_
#endif

#include <type_traits>

#include "hwy/highway.h"

/// For lambdas, which HWY_INLINE does not fit.
#ifndef HEED_INLINE_LAMBDA
#define HEED_INLINE_LAMBDA __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// body(0), ..., body(N - 1), with constants: vectors in arrays that they index stay in registers.
template <int N, class Body>
HWY_INLINE void unroll(const Body& body) {
  if constexpr (N > 0) {
    unroll<N - 1>(body);
    body(std::integral_constant<int, N - 1>());
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
