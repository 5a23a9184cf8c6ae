// The logistic function on vectors. Included once for each instruction set.

#if defined(HEED_KERNELS_SIGMOID_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SIGMOID_INL_H_
#undef HEED_KERNELS_SIGMOID_INL_H_
#else
#define HEED_KERNELS_SIGMOID_INL_H_
#endif

#include "kernels/simd/exponential-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// 1 / (1 + exp(-x)), through e = exp(-|x|), which cannot overflow: 1 / (1 + e), or e / (1 + e) for x below 0
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  const auto one = hn::Set(d, hn::TFromD<D>{1});
  const auto e = exponential(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
