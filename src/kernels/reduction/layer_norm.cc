#include "kernels/reduction/layer_norm.h"

#include <cmath>
#include <limits>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/layer_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Statistics of a row: the mean is mean + rest, the variance is without epsilon.
template <typename T>
struct Moments {
  T mean, rest;
  double variance;
};

/// In double precision, scalar.
template <typename T>
HWY_NOINLINE Moments<T> exact_moments(const T* x, int64_t width) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < width; ++i) sum += static_cast<double>(x[i]);
  const double mean = sum / static_cast<double>(width);
  for (int64_t i = 0; i < width; ++i) {
    const double centred = static_cast<double>(x[i]) - mean;
    squares += centred * centred;
  }
  const T rounded = static_cast<T>(mean);
  return {rounded, static_cast<T>(mean - static_cast<double>(rounded)), squares / static_cast<double>(width)};
}

/// Whether a mean is so much larger than the deviation 1 / rstd that what rounding took from it shows in the
/// result.
template <typename T>
HWY_INLINE bool is_far_from_zero(T mean, T rstd) {
  constexpr T kFar = 256;
  return std::abs(mean) * rstd > kFar;
}

template <typename T>
void layer_norm(const LayerNormArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const T count = static_cast<T>(a.width);
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.width;
    T* y = a.y + row * a.width;
    T mean = sum_over(d, a.width, [&](auto at, auto load) { return load(x + at); }) / count, rest = 0;
    auto mean_v = hn::Set(d, mean);
    const T squares = sum_over(d, a.width, [&](auto at, auto load) {
      const auto centred = hn::Sub(load(x + at), load.fill(mean_v));
      return hn::Mul(centred, centred);
    });
    T rstd = 1 / std::sqrt(squares / count + static_cast<T>(a.epsilon));
    if (is_far_from_zero(mean, rstd) || !(squares <= std::numeric_limits<T>::max())) {
      const Moments<T> exact = exact_moments(x, a.width);
      mean = exact.mean, rest = exact.rest;
      rstd = static_cast<T>(1 / std::sqrt(exact.variance + a.epsilon));
      mean_v = hn::Set(d, mean);
    }
    const auto rstd_v = hn::Set(d, rstd), rest_v = hn::Set(d, rest);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      const auto normalised = hn::Mul(hn::Sub(hn::Sub(load(x + at), mean_v), rest_v), rstd_v);
      store(hn::MulAdd(normalised, load(a.weight + at), load(a.bias + at)), y + at);
    });
    if (a.mean != nullptr) {
      a.mean[row] = mean;
      a.rstd[row] = rstd;
    }
  }
}

template <typename T>
void layer_norm_backward(const LayerNormBackwardArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const T count = static_cast<T>(a.width);
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.width;
    const T* dy = a.dy + row * a.width;
    T* dx = a.dx + row * a.width;
    const auto mean = hn::Set(d, a.mean[row]), rstd = hn::Set(d, a.rstd[row]);
    const bool far = is_far_from_zero(a.mean[row], a.rstd[row]);
    const auto rest = hn::Set(d, far ? exact_moments(x, a.width).rest : T{0});
    auto sum_g = hn::Zero(d), sum_gn = hn::Zero(d);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      const auto upstream = load(dy + at);  // zero beyond the width, so that sums are not disturbed
      const auto normalised = hn::Mul(hn::Sub(hn::Sub(load(x + at), mean), rest), rstd);
      const auto g = hn::Mul(upstream, load(a.weight + at));
      sum_g = hn::Add(sum_g, g);
      sum_gn = hn::MulAdd(g, normalised, sum_gn);
      store(hn::MulAdd(upstream, normalised, load(a.dweight + at)), a.dweight + at);
      store(hn::Add(upstream, load(a.dbias + at)), a.dbias + at);
    });
    const auto mean_g = hn::Set(d, sum_of_lanes(d, sum_g) / count);
    const auto mean_gn = hn::Set(d, sum_of_lanes(d, sum_gn) / count);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      const auto normalised = hn::Mul(hn::Sub(hn::Sub(load(x + at), mean), rest), rstd);
      const auto g = hn::Mul(load(dy + at), load(a.weight + at));
      store(hn::Mul(rstd, hn::Sub(hn::Sub(g, mean_g), hn::Mul(normalised, mean_gn))), dx + at);
    });
  }
}

HEED_KERNEL(layer_norm, LayerNormArguments)
HEED_KERNEL(layer_norm_backward, LayerNormBackwardArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(layer_norm, LayerNormArguments)
HEED_DISPATCH(layer_norm_backward, LayerNormBackwardArguments)
}  // namespace heed
#endif
