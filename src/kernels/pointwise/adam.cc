#include "kernels/pointwise/adam.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/adam.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <typename T>
void adam(const AdamArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const auto set = [&](double value) { return hn::Set(d, static_cast<T>(value)); };
  const auto steps = static_cast<double>(a.n);
  const auto beta1 = set(a.beta1), beta2 = set(a.beta2);
  const auto rest1 = set(1 - a.beta1), rest2 = set(1 - a.beta2);
  const auto scale = set(a.gradient_scale), epsilon = set(a.epsilon);
  const auto rate = set(a.rate / (1 - std::pow(a.beta1, steps)));
  const auto correction2 = set(1 / std::sqrt(1 - std::pow(a.beta2, steps)));
  const auto kept = set(a.decoupled ? 1 - a.rate * a.weight_decay : 1);
  const auto decay = set(a.decoupled ? 0 : a.weight_decay);
  for_each_vector(d, a.size, [&](auto at, auto load, auto store) {
    auto w = load(a.weights + at);
    const auto g = hn::MulAdd(load(a.gradients + at), scale, hn::Mul(w, decay));
    const auto m = hn::MulAdd(beta1, load(a.m + at), hn::Mul(rest1, g));
    const auto v = hn::MulAdd(beta2, load(a.v + at), hn::Mul(hn::Mul(rest2, g), g));
    store(m, a.m + at);
    store(v, a.v + at);
    w = hn::Mul(w, kept);
    const auto step = hn::Div(hn::Mul(rate, m), hn::MulAdd(hn::Sqrt(v), correction2, epsilon));
    store(hn::Sub(w, step), a.weights + at);
  });
}

template <typename T>
void sum_of_squares(const SumOfSquaresArguments<T>& a) {
  // Blocks of T, added up in double: precise for any size, and the same for any division into threads above.
  const hn::ScalableTag<T> d;
  double sum = 0;
  for (int64_t begin = 0; begin < a.size; begin += 256) {
    const T* x = a.x + begin;
    const int64_t size = std::min<int64_t>(256, a.size - begin);
    const T squares =
        sum_over(d, size, [&](auto at, auto load) { return hn::Mul(load(x + at), load(x + at)); });
    if (squares <= std::numeric_limits<T>::max()) {
      sum += squares;
      continue;
    }
    for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  *a.sum = sum;
}

HEED_KERNEL(adam, AdamArguments)
HEED_KERNEL(sum_of_squares, SumOfSquaresArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(adam, AdamArguments)
HEED_DISPATCH(sum_of_squares, SumOfSquaresArguments)
}  // namespace heed
#endif
