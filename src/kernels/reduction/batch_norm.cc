#include "kernels/reduction/batch_norm.h"

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/batch_norm.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/column_sums-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <typename T>
void column_moments(const ColumnMomentsArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const double share = a.rows > 0 ? 1 / static_cast<double>(a.rows) : 0;
  // Row after row, so that memory is read in order. First the mean, then the squares of what differs from it.
  ColumnSums<T> sums(a.columns);
  T* sum = sums.block();
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.columns;
    for_each_vector(d, a.columns, [&](auto at, auto load, auto store) {
      store(hn::Add(load(sum + at), load(x + at)), sum + at);
    });
    sums.end_row();
  }
  sums.write(share, a.mean);
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.columns;
    for_each_vector(d, a.columns, [&](auto at, auto load, auto store) {
      const auto centred = hn::Sub(load(x + at), load(a.mean + at));
      store(hn::MulAdd(centred, centred, load(sum + at)), sum + at);
    });
    sums.end_row();
  }
  sums.write(share, a.variance);
}

template <typename T>
void scale_columns(const ScaleColumnsArguments<T>& a) {
  const hn::ScalableTag<T> d;
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.columns;
    T* y = a.y + row * a.columns;
    for_each_vector(d, a.columns, [&](auto at, auto load, auto store) {
      store(hn::MulAdd(load(x + at), load(a.scale + at), load(a.shift + at)), y + at);
    });
  }
}

template <typename T>
void batch_norm_backward(const BatchNormBackwardArguments<T>& a) {
  const hn::ScalableTag<T> d;
  // Sums of dy and of dy times the normalised x.
  ColumnSums<T> dy_sums(a.columns), dyn_sums(a.columns);
  T *sum_dy = dy_sums.block(), *sum_dyn = dyn_sums.block();
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.columns;
    const T* dy = a.dy + row * a.columns;
    for_each_vector(d, a.columns, [&](auto at, auto load, auto store) {
      const auto normalised = hn::Mul(hn::Sub(load(x + at), load(a.mean + at)), load(a.rstd + at));
      const auto upstream = load(dy + at);
      store(hn::Add(load(sum_dy + at), upstream), sum_dy + at);
      store(hn::MulAdd(upstream, normalised, load(sum_dyn + at)), sum_dyn + at);
    });
    dy_sums.end_row();
    dyn_sums.end_row();
  }
  dy_sums.write(1, sum_dy);
  dyn_sums.write(1, sum_dyn);
  const auto share = hn::Set(d, a.rows > 0 && !a.constant_moments ? 1 / static_cast<T>(a.rows) : 0);
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.columns;
    const T* dy = a.dy + row * a.columns;
    T* dx = a.dx + row * a.columns;
    for_each_vector(d, a.columns, [&](auto at, auto load, auto store) {
      const auto rstd = load(a.rstd + at);
      const auto normalised = hn::Mul(hn::Sub(load(x + at), load(a.mean + at)), rstd);
      const auto means = hn::Mul(hn::MulAdd(normalised, load(sum_dyn + at), load(sum_dy + at)), share);
      const auto factor = hn::Mul(load(a.weight + at), rstd);
      store(hn::MulAdd(factor, hn::Sub(load(dy + at), means), load(dx + at)), dx + at);
    });
  }
  for_each_vector(d, a.columns, [&](auto at, auto load, auto store) {
    store(hn::Add(load(a.dweight + at), load(sum_dyn + at)), a.dweight + at);
    store(hn::Add(load(a.dbias + at), load(sum_dy + at)), a.dbias + at);
  });
}

HEED_KERNEL(column_moments, ColumnMomentsArguments)
HEED_KERNEL(scale_columns, ScaleColumnsArguments)
HEED_KERNEL(batch_norm_backward, BatchNormBackwardArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(column_moments, ColumnMomentsArguments)
HEED_DISPATCH(scale_columns, ScaleColumnsArguments)
HEED_DISPATCH(batch_norm_backward, BatchNormBackwardArguments)
}  // namespace heed
#endif
