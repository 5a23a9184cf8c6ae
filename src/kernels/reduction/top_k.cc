#include "kernels/reduction/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/top_k.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// The best so far, in order, in the memory of the result.
template <typename T>
struct Ranking {
  static constexpr T kLowest = -std::numeric_limits<T>::infinity();
  T* values;
  int32_t* indices;
  int64_t k;

  Ranking(T* values_out, int32_t* indices_out, int64_t count)
      : values(values_out), indices(indices_out), k(count) {
    std::fill_n(values, k, kLowest);
    std::fill_n(indices, k, -1);
  }
  /// What an element must be above to enter.
  T threshold() const { return values[k - 1]; }
  void insert(T value, int64_t index) {
    int64_t position = k - 1;
    for (; position > 0 && values[position - 1] < value; --position) {
      values[position] = values[position - 1];
      indices[position] = indices[position - 1];
    }
    values[position] = value;
    indices[position] = static_cast<int32_t>(index);
  }
};

template <class D, typename T>
HWY_INLINE void rank(D d, const T* z, int64_t size, Ranking<T>& best) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto threshold = hn::Set(d, best.threshold());
  const auto look_closer = [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      if (z[c] > best.threshold()) best.insert(z[c], c);
    }
    threshold = hn::Set(d, best.threshold());
  };
  const auto look_at = [&](int64_t at) {
    if (!hn::AllFalse(d, hn::Gt(hn::LoadU(d, z + at), threshold))) look_closer(at, at + lanes);
  };
  // Few vectors hold one of the best: four are looked at together.
  int64_t at = 0;
  for (; at + 4 * lanes <= size; at += 4 * lanes) {
    const auto above = [&](int64_t n) { return hn::Gt(hn::LoadU(d, z + at + n * lanes), threshold); };
    if (hn::AllFalse(d, hn::Or(hn::Or(above(0), above(1)), hn::Or(above(2), above(3))))) continue;
    for (int64_t n = 0; n < 4; ++n) look_at(at + n * lanes);
  }
  for (; at + lanes <= size; at += lanes) look_at(at);
  look_closer(at, size);
}

/// log(sum of exp(z)), with the largest element taken out so that nothing overflows.
template <class D, typename T>
HWY_INLINE T log_sum_of_exponentials(D d, const T* z, int64_t size, T highest) {
  if (highest == Ranking<T>::kLowest) {
    // The maximum is -infinity: all elements are, or one is NaN.
    return std::any_of(z, z + size, [](T value) { return std::isnan(value); })
               ? std::numeric_limits<T>::quiet_NaN()
               : highest;
  }
  const auto shift = hn::Set(d, highest);
  const T sum = sum_over(
      d, size, [&](auto at, auto load) { return load.fill(exponential(d, hn::Sub(load(z + at), shift))); });
  return highest + std::log(sum);
}

template <typename T>
void top_k(const TopKArguments<T>& a) {
  const hn::ScalableTag<T> d;
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* z = a.logits + row * a.classes;
    T highest;
    int32_t index_of_highest;
    const int64_t k = std::max<int64_t>(a.k, 1);
    Ranking<T> best(a.k > 0 ? a.values + row * k : &highest,
                    a.k > 0 ? a.indices + row * k : &index_of_highest, k);
    rank(d, z, a.classes, best);
    if (a.log_sums != nullptr) a.log_sums[row] = log_sum_of_exponentials(d, z, a.classes, best.values[0]);
  }
}

HEED_KERNEL(top_k, TopKArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(top_k, TopKArguments)
}  // namespace heed
#endif
