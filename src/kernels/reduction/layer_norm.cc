#include "kernels/reduction/layer_norm.h"

#include <cmath>
#include <limits>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/layer_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/column_sums-inl.h"
#include "kernels/simd/rows-inl.h"
#include "kernels/simd/unroll-inl.h"

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

/// Rows [row, row + kRows). Their additions hide the latency of those of one another.
template <int kRows, bool kAdds, typename T>
HWY_INLINE void layer_norm_rows(const LayerNormArguments<T>& a, int64_t row) {
  const hn::ScalableTag<T> d;
  const T count = static_cast<T>(a.width);
  const T* x[kRows];
  T* y[kRows];
  hn::Vec<decltype(d)> sums[kRows], means[kRows], squares[kRows];
  unroll<kRows>([&](auto r) HEED_INLINE_LAMBDA {
    y[r] = a.y + (row + r) * a.width;
    x[r] = kAdds ? y[r] : a.x + (row + r) * a.width;
    sums[r] = squares[r] = hn::Zero(d);
  });
  for_each_vector(d, a.width, [&](auto at, auto load, auto store) HEED_INLINE_LAMBDA {
    unroll<kRows>([&](auto r) HEED_INLINE_LAMBDA {
      auto values = load(a.x + (row + r) * a.width + at);
      if constexpr (kAdds) {
        values = hn::Add(values, load(a.added + (row + r) * a.width + at));
        store(values, y[r] + at);
      }
      sums[r] = hn::Add(sums[r], values);
    });
  });
  unroll<kRows>([&](auto r) HEED_INLINE_LAMBDA { means[r] = hn::Set(d, sum_of_lanes(d, sums[r]) / count); });
  for_each_vector(d, a.width, [&](auto at, auto load, auto) HEED_INLINE_LAMBDA {
    unroll<kRows>([&](auto r) HEED_INLINE_LAMBDA {
      const auto centred = hn::Sub(load(x[r] + at), load.fill(means[r]));
      squares[r] = hn::Add(squares[r], hn::Mul(centred, centred));
    });
  });
  unroll<kRows>([&](auto r) HEED_INLINE_LAMBDA {
    T mean = hn::GetLane(means[r]), rest = 0;
    const T sum = sum_of_lanes(d, squares[r]);
    T rstd = 1 / std::sqrt(sum / count + static_cast<T>(a.epsilon));
    if (is_far_from_zero(mean, rstd) || !(sum <= std::numeric_limits<T>::max())) {
      const Moments<T> exact = exact_moments(x[r], a.width);
      mean = exact.mean, rest = exact.rest;
      rstd = static_cast<T>(1 / std::sqrt(exact.variance + a.epsilon));
    }
    const auto mean_v = hn::Set(d, mean), rstd_v = hn::Set(d, rstd), rest_v = hn::Set(d, rest);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) HEED_INLINE_LAMBDA {
      const auto normalised = hn::Mul(hn::Sub(hn::Sub(load(x[r] + at), mean_v), rest_v), rstd_v);
      store(hn::MulAdd(normalised, load(a.weight + at), load(a.bias + at)), y[r] + at);
    });
    if (a.mean != nullptr) {
      a.mean[row + r] = mean;
      a.rstd[row + r] = rstd;
    }
  });
}

template <bool kAdds, typename T>
HWY_INLINE void layer_norm_rows(const LayerNormArguments<T>& a) {
  constexpr int kTogether = 4;
  int64_t row = 0;
  for (; row + kTogether <= a.rows; row += kTogether) layer_norm_rows<kTogether, kAdds>(a, row);
  for (; row < a.rows; ++row) layer_norm_rows<1, kAdds>(a, row);
}

template <typename T>
void layer_norm(const LayerNormArguments<T>& a) {
  a.added == nullptr ? layer_norm_rows<false>(a) : layer_norm_rows<true>(a);
}

template <typename T>
void layer_norm_backward(const LayerNormBackwardArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const T count = static_cast<T>(a.width);
  ColumnSums<T> dweight_sums(a.width), dbias_sums(a.width);
  T *dweight = dweight_sums.block(), *dbias = dbias_sums.block();
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
      store(hn::MulAdd(upstream, normalised, load(dweight + at)), dweight + at);
      store(hn::Add(upstream, load(dbias + at)), dbias + at);
    });
    dweight_sums.end_row();
    dbias_sums.end_row();
    const auto mean_g = hn::Set(d, sum_of_lanes(d, sum_g) / count);
    const auto mean_gn = hn::Set(d, sum_of_lanes(d, sum_gn) / count);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      const auto normalised = hn::Mul(hn::Sub(hn::Sub(load(x + at), mean), rest), rstd);
      const auto g = hn::Mul(load(dy + at), load(a.weight + at));
      store(hn::Mul(rstd, hn::Sub(hn::Sub(g, mean_g), hn::Mul(normalised, mean_gn))), dx + at);
    });
  }
  dweight_sums.add_to(a.dweight);
  dbias_sums.add_to(a.dbias);
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
