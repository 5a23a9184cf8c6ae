#include "kernels/reduction/rms_norm.h"

#include <cmath>
#include <limits>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/rms_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/column_sums-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <typename T>
void rms_norm(const RmsNormArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const T count = static_cast<T>(a.width);
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.width;
    T* y = a.y + row * a.width;
    const T squares =
        sum_over(d, a.width, [&](auto at, auto load) { return hn::Mul(load(x + at), load(x + at)); });
    T rrms = 1 / std::sqrt(squares / count + static_cast<T>(a.epsilon));
    if (!(squares <= std::numeric_limits<T>::max())) {  // beyond 1e19 in float32
      double exact = 0;
      for (int64_t i = 0; i < a.width; ++i) exact += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      rrms = static_cast<T>(1 / std::sqrt(exact / static_cast<double>(a.width) + a.epsilon));
    }
    const auto factor = hn::Set(d, rrms);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      store(hn::Mul(hn::Mul(load(x + at), factor), load(a.weight + at)), y + at);
    });
    if (a.rrms != nullptr) a.rrms[row] = rrms;
  }
}

template <typename T>
void rms_norm_backward(const RmsNormBackwardArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const T count = static_cast<T>(a.width);
  ColumnSums<T> dweight_sums(a.width);
  T* dweight = dweight_sums.block();
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.width;
    const T* dy = a.dy + row * a.width;
    T* dx = a.dx + row * a.width;
    const auto rrms = hn::Set(d, a.rrms[row]);
    auto sum_gn = hn::Zero(d);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      const auto normalised = hn::Mul(load(x + at), rrms);
      const auto dyn = hn::Mul(load(dy + at), normalised);
      sum_gn = hn::MulAdd(dyn, load(a.weight + at), sum_gn);
      store(hn::Add(dyn, load(dweight + at)), dweight + at);
    });
    dweight_sums.end_row();
    const auto mean_gn = hn::Set(d, sum_of_lanes(d, sum_gn) / count);
    for_each_vector(d, a.width, [&](auto at, auto load, auto store) {
      const auto normalised = hn::Mul(load(x + at), rrms);
      const auto g = hn::Mul(load(dy + at), load(a.weight + at));
      store(hn::Mul(rrms, hn::NegMulAdd(normalised, mean_gn, g)), dx + at);
    });
  }
  dweight_sums.add_to(a.dweight);
}

HEED_KERNEL(rms_norm, RmsNormArguments)
HEED_KERNEL(rms_norm_backward, RmsNormBackwardArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(rms_norm, RmsNormArguments)
HEED_DISPATCH(rms_norm_backward, RmsNormBackwardArguments)
}  // namespace heed
#endif
