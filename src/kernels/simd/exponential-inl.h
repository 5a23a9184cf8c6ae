// e^x for softmax: an exponent of at most some tens, and no more digits than the type has. Included once for
// each instruction set.

#if defined(HEED_KERNELS_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_EXPONENTIAL_INL_H_
#undef HEED_KERNELS_EXPONENTIAL_INL_H_
#else
#define HEED_KERNELS_EXPONENTIAL_INL_H_
#endif

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// e^x, for x up to 88. With x log2(e) = n + r, n whole and |r| <= 1/2, it is 2^n times a polynomial for 2^r,
/// off by at most 1.6e-7 of 2^r. Below -86 it is 4e-38 or so instead of less. NaN stays NaN.
template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x) {
  if constexpr (sizeof(hn::TFromD<D>) != sizeof(float)) {
    return hn::Exp(d, x);
  } else {
    const hn::RebindToSigned<D> whole;
    // A float of this size has no digits after the point, and n in its lowest bits.
    const auto large = hn::Set(d, 12582912.0f);  // 1.5 * 2^23
    const auto log2_e = hn::Set(d, 1.44269504088896341f);
    const auto least = hn::Set(d, -86.0f);
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_NEON  // whose Max() makes a number of what is none
    const auto bounded = hn::IfThenElse(hn::Lt(x, least), least, x);
#else
    const auto bounded = hn::Max(least, x);
#endif
    const auto shifted = hn::MulAdd(bounded, log2_e, large);
    const auto r = hn::MulSub(bounded, log2_e, hn::Sub(shifted, large));
    auto power = hn::Set(d, 0.00132764717f);
    power = hn::MulAdd(power, r, hn::Set(d, 0.00967554189f));
    power = hn::MulAdd(power, r, hn::Set(d, 0.0555071309f));
    power = hn::MulAdd(power, r, hn::Set(d, 0.240221202f));
    power = hn::MulAdd(power, r, hn::Set(d, 0.693146944f));
    power = hn::MulAdd(power, r, hn::Set(d, 1.0f));
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(whole, shifted));
    return hn::BitCast(d, hn::Add(hn::BitCast(whole, power), exponent));
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
