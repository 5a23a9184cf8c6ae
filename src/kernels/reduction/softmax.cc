#include "kernels/reduction/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/softmax.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <typename T>
constexpr T kLowest = -std::numeric_limits<T>::infinity();

/// The largest of the numbers; where NaN is among them, it may be NaN or not.
template <class D, typename T>
HWY_INLINE T largest(D d, const T* x, int64_t size) {
  const auto lowest = hn::Set(d, kLowest<T>);
  auto best = lowest;
  for_each_vector(d, size, [&](auto at, auto load, auto) {
    // A partial vector reads zeros at its end: those lanes are not numbers of the row.
    const auto count = hn::FirstN(d, static_cast<size_t>(size - at));
    best = hn::Max(best, hn::IfThenElse(count, load(x + at), lowest));
  });
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

/// sum over the row of exp(x - shift)
template <class D, typename T>
HWY_INLINE T sum_of_exponentials(D d, const T* x, int64_t size, T shift) {
  const auto shift_v = hn::Set(d, shift);
  return sum_over(d, size, [&](auto at, auto load) {
    return load.fill(exact_exponential(d, hn::Sub(load(x + at), shift_v)));
  });
}

template <typename T>
void cross_entropy(const CrossEntropyArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const int64_t sharing = a.others ? a.classes - 1 : a.classes;
  const T smoothing = static_cast<T>(sharing > 0 ? a.smoothing : 0);
  const T share = sharing > 0 ? smoothing / static_cast<T>(sharing) : 0;  // of every class that has a share
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* z = a.logits + row * a.classes;
    T* dz = a.dlogits != nullptr ? a.dlogits + row * a.classes : nullptr;
    const int32_t target = a.targets[row];
    if (target == a.ignored) {
      a.losses[row] = 0;
      if (a.negative_log_likelihoods != nullptr) a.negative_log_likelihoods[row] = 0;
      if (dz != nullptr) std::fill(dz, dz + a.classes, T{0});
      continue;
    }
    // All numbers are taken relative to the highest, so that a shift of the logits costs no precision.
    const T highest = largest(d, z, a.classes), target_z = z[target] - highest;
    const auto shift = hn::Set(d, highest);
    auto sum_e = hn::Zero(d), sum_z = hn::Zero(d);
    for_each_vector(d, a.classes, [&](auto at, auto load, auto store) {
      const auto shifted = load.fill(hn::Sub(load(z + at), shift));
      const auto e = load.fill(exponential(d, shifted));
      sum_z = hn::Add(sum_z, shifted);
      sum_e = hn::Add(sum_e, e);
      if (dz != nullptr) store(e, dz + at);  // may overwrite the logits
    });
    const T sum = sum_of_lanes(d, sum_e), log_sum = std::log(sum);
    const T nll = log_sum - target_z;
    T loss = nll;
    if (smoothing > 0) {
      // The sum over all classes of -log p.
      const T all = static_cast<T>(a.classes) * log_sum - sum_of_lanes(d, sum_z);
      loss = (1 - smoothing) * nll + share * (a.others ? all - nll : all);
    }
    a.losses[row] = loss;
    if (a.negative_log_likelihoods != nullptr) a.negative_log_likelihoods[row] = nll;
    if (dz != nullptr) {
      // The gradient is p - q, with q the smoothed target distribution, whose sum is 1.
      const auto factor = hn::Set(d, a.gradient_scale / sum), even = hn::Set(d, a.gradient_scale * share);
      for_each_vector(d, a.classes, [&](auto at, auto load, auto store) {
        store(hn::MulSub(load(dz + at), factor, even), dz + at);
      });
      dz[target] -= a.gradient_scale * (1 - smoothing - (a.others ? share : 0));
    }
  }
}

template <typename T>
void log_softmax(const LogSoftmaxArguments<T>& a) {
  const hn::ScalableTag<T> d;
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.classes;
    T* y = a.y + row * a.classes;
    const T highest = largest(d, x, a.classes);
    const auto shift = hn::Set(d, highest);
    const auto log_sum = hn::Set(d, std::log(sum_of_exponentials(d, x, a.classes, highest)));
    for_each_vector(d, a.classes, [&](auto at, auto load, auto store) {
      store(hn::Sub(hn::Sub(load(x + at), shift), log_sum), y + at);
    });
  }
}

template <typename T>
void masked_softmax(const MaskedSoftmaxArguments<T>& a) {
  const hn::ScalableTag<T> d;
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* scores = a.scores + row * a.columns;
    const T* bias = a.bias != nullptr ? a.bias + row * a.bias_stride : nullptr;
    const uint8_t* visible = a.visible != nullptr ? a.visible + row * a.visible_stride : nullptr;
    T* weights = a.weights + row * a.columns;
    for (int64_t k = 0; k < a.columns; ++k) {
      const bool seen = visible == nullptr || visible[k] != 0;
      weights[k] = seen ? scores[k] + (bias != nullptr ? bias[k] : T{0}) : kLowest<T>;
    }
    const T highest = largest(d, weights, a.columns);
    if (highest == kLowest<T> &&
        std::none_of(weights, weights + a.columns, [](T value) { return std::isnan(value); })) {
      std::fill(weights, weights + a.columns, T{0});  // a query that sees nothing
      continue;
    }
    const auto shift = hn::Set(d, highest);
    const auto factor = hn::Set(d, 1 / sum_of_exponentials(d, weights, a.columns, highest));
    for_each_vector(d, a.columns, [&](auto at, auto load, auto store) {
      store(hn::Mul(exact_exponential(d, hn::Sub(load(weights + at), shift)), factor), weights + at);
    });
    if (visible != nullptr) {
      for (int64_t k = 0; k < a.columns; ++k) weights[k] = visible[k] != 0 ? weights[k] : T{0};
    }
  }
}

template <typename T>
void softmax_backward(const SoftmaxBackwardArguments<T>& a) {
  const hn::ScalableTag<T> d;
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* w = a.weights + row * a.columns;
    const T* dw = a.dweights + row * a.columns;
    T* ds = a.dscores + row * a.columns;
    const auto mean = hn::Set(
        d, sum_over(d, a.columns, [&](auto at, auto load) { return hn::Mul(load(w + at), load(dw + at)); }));
    for_each_vector(d, a.columns, [&](auto at, auto load, auto store) {
      store(hn::Mul(load(w + at), hn::Sub(load(dw + at), mean)), ds + at);
    });
  }
}

HEED_KERNEL(cross_entropy, CrossEntropyArguments)
HEED_KERNEL(log_softmax, LogSoftmaxArguments)
HEED_KERNEL(masked_softmax, MaskedSoftmaxArguments)
HEED_KERNEL(softmax_backward, SoftmaxBackwardArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(cross_entropy, CrossEntropyArguments)
HEED_DISPATCH(log_softmax, LogSoftmaxArguments)
HEED_DISPATCH(masked_softmax, MaskedSoftmaxArguments)
HEED_DISPATCH(softmax_backward, SoftmaxBackwardArguments)
}  // namespace heed
#endif
