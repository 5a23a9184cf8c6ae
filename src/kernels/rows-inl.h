// Loops over the elements of a row in whole vectors, with a masked one at the end. Included once for each
// instruction set.

#if defined(HEED_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ROWS_INL_H_
#undef HEED_KERNELS_ROWS_INL_H_
#else
#define HEED_KERNELS_ROWS_INL_H_
#endif

#include <cstdint>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Loads and stores whole vectors.
template <class D>
struct Whole {
  D d;
  using V = hn::Vec<D>;
  template <typename T>
  HWY_INLINE V operator()(const T* p) const {
    return hn::LoadU(d, p);
  }
  HWY_INLINE V fill(V v) const { return v; }
  template <typename T>
  HWY_INLINE void operator()(V v, T* p) const {
    hn::StoreU(v, d, p);
  }
};

/// Loads and stores the first lanes alone; the others read as zero and are not written.
template <class D>
struct Partial {
  D d;
  hn::Mask<D> mask;
  using V = hn::Vec<D>;
  template <typename T>
  HWY_INLINE V operator()(const T* p) const {
    return hn::MaskedLoad(mask, d, p);
  }
  /// `v` in the lanes that count, zero in the others.
  HWY_INLINE V fill(V v) const { return hn::IfThenElseZero(mask, v); }
  template <typename T>
  HWY_INLINE void operator()(V v, T* p) const {
    hn::BlendedStore(v, mask, d, p);
  }
};

/// body(at, load, store) for each vector of a row of `size` elements.
template <class D, class Body>
HWY_INLINE void for_each_vector(D d, int64_t size, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + lanes <= size; at += lanes) body(at, Whole<D>{d}, Whole<D>{d});
  if (at < size) {
    const Partial<D> part{d, hn::FirstN(d, static_cast<size_t>(size - at))};
    body(at, part, part);
  }
}

/// The sum of body(at, load) over all elements; body must give zero where load gives zero (see fill()).
template <class D, class Body>
HWY_INLINE hn::TFromD<D> sum_over(D d, int64_t size, const Body& body) {
  auto sum = hn::Zero(d);
  for_each_vector(d, size, [&](auto at, auto load, auto) { sum = hn::Add(sum, body(at, load)); });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
