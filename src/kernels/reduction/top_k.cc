#include "kernels/reduction/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/memory_pool.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/top_k.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/rows-inl.h"
#include "kernels/simd/unroll-inl.h"

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

/// A number that at least k elements reach, or -infinity where that takes longer to find. Elements are
/// divided into groups, one for each lane of four vectors: if the largest ones of k groups reach a number, so
/// do k elements.
template <class D, typename T>
HWY_INLINE T reached_by(D d, const T* z, int64_t size, int64_t k) {
  constexpr int kVectors = 4, kGroups = kVectors * static_cast<int>(hn::MaxLanes(D()));
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), groups = kVectors * lanes;
  if (k == 1 || k > groups / 2 || size < 8 * groups) return Ranking<T>::kLowest;
  hn::Vec<D> maxima[kVectors];
  unroll<kVectors>([&](auto n) HEED_INLINE_LAMBDA { maxima[n] = hn::LoadU(d, z + n * lanes); });
  for (int64_t at = groups; at + groups <= size; at += groups) {
    unroll<kVectors>(
        [&](auto n) HEED_INLINE_LAMBDA { maxima[n] = hn::Max(hn::LoadU(d, z + at + n * lanes), maxima[n]); });
  }
  T of_groups[kGroups], values[kGroups];
  int32_t numbers[kGroups];
  unroll<kVectors>([&](auto n) HEED_INLINE_LAMBDA { hn::StoreU(maxima[n], d, of_groups + n * lanes); });
  Ranking<T> best(values, numbers, k);
  for (int64_t group = 0; group < groups; ++group) {
    if (of_groups[group] > best.threshold()) best.insert(of_groups[group], group);  // no NaN
  }
  return best.threshold();
}

/// Above this k, sorting takes less time than Ranking, whose time is proportional to k for each insertion.
constexpr int64_t kLargestRanking = 128;

template <typename T>
void sort_largest(const T* z, int64_t size, const Ranking<T>& best) {
  std::vector<int32_t, PoolAllocator<int32_t>> order;
  for (int64_t c = 0; c < size; ++c) {
    if (z[c] > Ranking<T>::kLowest) order.push_back(static_cast<int32_t>(c));
  }
  const auto before = [z](int32_t a, int32_t b) { return z[a] != z[b] ? z[a] > z[b] : a < b; };
  const auto end = order.begin() + std::min(best.k, static_cast<int64_t>(order.size()));
  std::nth_element(order.begin(), end, order.end(), before);
  std::sort(order.begin(), end, before);
  std::copy(order.begin(), end, best.indices);
  std::transform(order.begin(), end, best.values, [z](int32_t c) { return z[c]; });
}

template <class D, typename T>
HWY_INLINE void rank(D d, const T* z, int64_t size, Ranking<T>& best) {
  if (best.k > kLargestRanking) return sort_largest(z, size, best);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  // Without it, some k ln(size / k) elements would be among the best so far, each a branch mispredicted.
  const T below = std::nextafter(reached_by(d, z, size, best.k), Ranking<T>::kLowest);
  T least = below;
  auto threshold = hn::Set(d, least);
  const auto look_closer = [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      if (!(z[c] > least)) continue;
      best.insert(z[c], c);
      least = std::max(below, best.threshold());
    }
    threshold = hn::Set(d, least);
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
