// The standard normal distribution, for the exact GELU. Included once for each instruction set.

#if defined(HEED_KERNELS_NORMAL_DISTRIBUTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_NORMAL_DISTRIBUTION_INL_H_
#undef HEED_KERNELS_NORMAL_DISTRIBUTION_INL_H_
#else
#define HEED_KERNELS_NORMAL_DISTRIBUTION_INL_H_
#endif

#include <cmath>
#include <numbers>

#include "hwy/highway.h"
#include "kernels/simd/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <class V>
struct NormalDistribution {
  V below;    ///< P(X <= x)
  V density;  ///< e^(-x^2 / 2) / sqrt(2 pi)
};

/// In float32, P(X <= -z) for z >= 0 is e^(-z^2 / 2) times a polynomial in 1 / (1 + 0.26 z), fitted to the
/// least relative error from 0 to 13; all in all off by some 5e-7 of itself. Farther out it is as good as
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
    // What rounding takes from the square would be as much of e^(-z^2 / 2).
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

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
