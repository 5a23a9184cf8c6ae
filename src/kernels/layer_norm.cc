#include "kernels/layer_norm.h"

#include <cmath>

#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <typename T>
void layer_norm(const LayerNormArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const T count = static_cast<T>(a.width);
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.width;
    T* y = a.y + row * a.width;
    const T mean = sum_over(d, a.width, [&](auto at, auto load) { return load(x + at); }) / count;
    const auto mean_v = hn::Set(d, mean);
    const T squares = sum_over(d, a.width, [&](auto at, auto load) {
      const auto centred = hn::Sub(load(x + at), load.fill(mean_v));
      return hn::Mul(centred, centred);
    });
    const T rstd = 1 / std::sqrt(squares / count + static_cast<T>(a.epsilon));
    const auto rstd_v = hn::Set(d, rstd);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      const auto normalised = hn::Mul(hn::Sub(load(x + at), mean_v), rstd_v);
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
    auto sum_g = hn::Zero(d), sum_gn = hn::Zero(d);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      const auto upstream = load(dy + at);  // zero beyond the width, so that sums are not disturbed
      const auto normalised = hn::Mul(hn::Sub(load(x + at), mean), rstd);
      const auto g = hn::Mul(upstream, load(a.weight + at));
      sum_g = hn::Add(sum_g, g);
      sum_gn = hn::MulAdd(g, normalised, sum_gn);
      store(hn::MulAdd(upstream, normalised, load(a.dweight + at)), a.dweight + at);
      store(hn::Add(upstream, load(a.dbias + at)), a.dbias + at);
    });
    const auto mean_g = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum_g)) / count);
    const auto mean_gn = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum_gn)) / count);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      const auto normalised = hn::Mul(hn::Sub(load(x + at), mean), rstd);
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
