// Functions on vectors: exponential, sigmoid, normal distribution. Included once for each instruction set.

#if defined(HEED_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_MATH_INL_H_
#undef HEED_KERNELS_MATH_INL_H_
#else
#define HEED_KERNELS_MATH_INL_H_
#endif

#include <cmath>
#include <numbers>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// max(least, x) and min(most, x), in which NaN stays NaN.
template <class D>
HWY_INLINE hn::Vec<D> at_least(D d, double least, hn::Vec<D> x) {
  const auto limit = hn::Set(d, static_cast<hn::TFromD<D>>(least));
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_NEON  // whose Max() and Min() lose NaN
  return hn::IfThenElse(hn::Lt(x, limit), limit, x);
#else
  return hn::Max(limit, x);
#endif
}
template <class D>
HWY_INLINE hn::Vec<D> at_most(D d, double most, hn::Vec<D> x) {
  const auto limit = hn::Set(d, static_cast<hn::TFromD<D>>(most));
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_NEON
  return hn::IfThenElse(hn::Gt(x, limit), limit, x);
#else
  return hn::Min(limit, x);
#endif
}

/// e^x for all x, to a unit or so in the last place. NaN stays NaN, of which hn::Exp() makes 0.
template <class D>
HWY_INLINE hn::Vec<D> exact_exponential(D d, hn::Vec<D> x) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
}

/// e^x, for x up to 88. With x log2(e) = n + r, n an integer, |r| <= 1/2, it is 2^n times a polynomial in r,
/// off by at most 1.6e-7 of 2^r. Below -86 it is 4e-38 or so instead of less. NaN stays NaN.
template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x) {
  if constexpr (sizeof(hn::TFromD<D>) != sizeof(float)) {
    return exact_exponential(d, x);
  } else {
    const hn::RebindToSigned<D> integers;
    // Adding 1.5 2^23 rounds to an integer, and leaves n in the lowest bits. With 127, the bias of exponents,
    // added too, they are the exponent of 2^n.
    const auto large = hn::Set(d, 12582912.0f + 127);
    const auto log2_e = hn::Set(d, 1.44269504088896341f);
    const auto bounded = at_least(d, -86, x);
    const auto shifted = hn::MulAdd(bounded, log2_e, large);
    const auto r = hn::MulSub(bounded, log2_e, hn::Sub(shifted, large));
    auto power = hn::Set(d, 0.00132764717f);
    power = hn::MulAdd(power, r, hn::Set(d, 0.00967554189f));
    power = hn::MulAdd(power, r, hn::Set(d, 0.0555071309f));
    power = hn::MulAdd(power, r, hn::Set(d, 0.240221202f));
    power = hn::MulAdd(power, r, hn::Set(d, 0.693146944f));
    power = hn::MulAdd(power, r, hn::Set(d, 1.0f));
    const auto scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(integers, shifted)));
    return hn::Mul(power, scale);
  }
}

/// 1 / (1 + exp(-x)) with e = exp(-|x|), which cannot overflow: 1 / (1 + e), or e / (1 + e) for negative x.
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  const auto one = hn::Set(d, hn::TFromD<D>{1});
  const auto e = exponential(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// The standard normal distribution, for the exact GELU.
template <class V>
struct NormalDistribution {
  V below;    ///< P(X <= x)
  V density;  ///< e^(-x^2 / 2) / sqrt(2 pi)
};

/// In float32, P(X <= -z) for z >= 0 is e^(-z^2 / 2) times a polynomial in 1 / (1 + 0.26 z), fitted to the
/// least relative error from 0 to 13. The relative error is some 5e-7. Farther out it is practically
/// zero.
template <class D>
HWY_INLINE NormalDistribution<hn::Vec<D>> normal_distribution(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  constexpr T kDensity = static_cast<T>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);  // at 0
  if constexpr (sizeof(T) != sizeof(float)) {  // for checking gradients: exact, and slow
    T lanes[hn::MaxLanes(d)], below[hn::MaxLanes(d)], density[hn::MaxLanes(d)];
    hn::StoreU(x, d, lanes);
    for (size_t i = 0; i < hn::Lanes(d); ++i) {
      below[i] = std::erfc(-lanes[i] / std::numbers::sqrt2) / 2;
      density[i] = kDensity * std::exp(-lanes[i] * lanes[i] / 2);
    }
    return {hn::LoadU(d, below), hn::LoadU(d, density)};
  } else {
    const auto one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
    const auto z = hn::Min(hn::Set(d, 14.0f), hn::Abs(x));
    // The rounding error of the square would be a relative error of e^(-z^2 / 2).
    const auto square = hn::Mul(z, z), rest = hn::MulSub(z, z, square);
    const auto e = hn::Mul(exponential(d, hn::Neg(hn::Mul(half, square))), hn::NegMulAdd(half, rest, one));
    const auto t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.26f), z, one));
    auto tail = hn::Set(d, 0.0339003243f);
    for (const float coefficient : {-0.170373023f, 0.290625066f, -0.200312421f, 0.199680671f, 0.0314560123f,
                                    0.109390005f, 0.101736508f, 0.103903867f, -7.01275030e-06f}) {
      tail = hn::MulAdd(tail, t, hn::Set(d, coefficient));
    }
    tail = hn::Mul(tail, e);
    return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail)),
            hn::Mul(hn::Set(d, kDensity), e)};
  }
}

/// GELU, x P(X <= x), for numbers that are rounded to 7 bits afterwards: within 5e-5, or 3e-6 x for large x.
/// P(X <= x) is 1/2 + x times a polynomial in x^2 that is fitted to the least error of the product, on
/// +-4.25, beyond which it is constant. A third of the instructions of normal_distribution(), and no
/// division.
template <class D>
HWY_INLINE hn::Vec<D> coarse_gelu(D d, hn::Vec<D> x) {
  constexpr double kEnd = 4.25;
  const auto above = at_least(d, -kEnd, x), z = at_most(d, kEnd, above);
  const auto square = hn::Mul(z, z);
  auto slope = hn::Set(d, 4.6781103e-11f);
  for (const float coefficient : {-4.6144195e-09f, 2.0173451e-07f, -5.2004016e-06f, 8.9012567e-05f,
                                  -1.0821334e-03f, 9.7288676e-03f, -6.6207044e-02f, 3.9882946e-01f}) {
    slope = hn::MulAdd(slope, square, hn::Set(d, coefficient));
  }
  return hn::Mul(above, hn::MulAdd(z, slope, hn::Set(d, 0.5f)));
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
