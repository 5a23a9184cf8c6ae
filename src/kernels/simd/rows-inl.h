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
  int64_t count;
  using V = hn::Vec<D>;
  template <typename T>
  HWY_INLINE V operator()(const T* p) const {
#if HWY_MEM_OPS_MIGHT_FAULT  // where a masked load may read the other lanes
    T lanes[hn::MaxLanes(D())] = {};
    for (int64_t i = 0; i < count; ++i) lanes[i] = p[i];
    return hn::LoadU(d, lanes);
#else
    return hn::MaskedLoad(mask(), d, p);
#endif
  }
  /// `v` in the lanes that count, zero in the others.
  HWY_INLINE V fill(V v) const {
    return hn::IfThenElseZero(mask(), v);
  }
  template <typename T>
  HWY_INLINE void operator()(V v, T* p) const {
    hn::BlendedStore(v, mask(), d, p);
  }
  HWY_INLINE hn::Mask<D> mask() const {
    return hn::FirstN(d, static_cast<size_t>(count));
  }
};

/// body(at, load, store) for each vector of a row of `size` elements.
template <class D, class Body>
HWY_INLINE void for_each_vector(D d, int64_t size, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + lanes <= size; at += lanes) body(at, Whole<D>{d}, Whole<D>{d});
  if (at < size) {
    const Partial<D> part{d, size - at};
    body(at, part, part);
  }
}

/// The sum of the lanes. Highway 1.2, of which the build for WebAssembly is, adds them in another order
/// than 1.0: there, too, it is that of SSE4.
template <class D>
HWY_INLINE hn::TFromD<D> sum_of_lanes(D d, hn::Vec<D> v) {
#if HWY_TARGET == HWY_WASM
  if constexpr (hn::MaxLanes(D()) == 4) {
    const auto halves = hn::Add(v, hn::Shuffle1032(v));
    return hn::GetLane(hn::Add(hn::Shuffle0321(halves), halves));
  }
#endif
  return hn::GetLane(hn::SumOfLanes(d, v));
}

/// The sum of body(at, load) over all elements; body must be zero where load is zero (see fill()).
template <class D, class Body>
HWY_INLINE hn::TFromD<D> sum_over(D d, int64_t size, const Body& body) {
  auto sum = hn::Zero(d);
  for_each_vector(d, size, [&](auto at, auto load, auto) { sum = hn::Add(sum, body(at, load)); });
  return sum_of_lanes(d, sum);
}

/// visit(row, rows) for blocks of at most kMost rows, of sizes that differ by at most one.
template <int kMost, class Visit>
HWY_INLINE void for_each_block(int64_t rows, const Visit& visit) {
  const int64_t blocks = (rows + kMost - 1) / kMost;
  for (int64_t block = 0, row = 0; block < blocks; ++block) {
    const int64_t count = (rows - row + blocks - block - 1) / (blocks - block);
    visit(row, count);
    row += count;
  }
}

#if HWY_TARGET != HWY_SCALAR
/// The reduction across blocks of four lanes.
template <class D, class Combine>
HWY_INLINE auto reduce_blocks([[maybe_unused]] D d, hn::Vec<D> v, const Combine& combine) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return reduce_blocks(half, combine(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), combine);
  }
}
#endif

/// out[i] = the reduction of v_i by `combine`, which takes vectors of any length. Cheaper than two single
/// reductions.
template <class D, class V, class Combine>
HWY_INLINE void reduce_four(D d, V v0, V v1, V v2, V v3, const Combine& combine, hn::TFromD<D>* out) {
  using T = hn::TFromD<D>;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == sizeof(float)) {
    const hn::Repartition<double, D> pairs;
    const auto v01 = combine(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1));
    const auto v23 = combine(hn::InterleaveLower(d, v2, v3), hn::InterleaveUpper(d, v2, v3));
    const auto left = hn::BitCast(pairs, v01), right = hn::BitCast(pairs, v23);
    const auto blocks = combine(hn::BitCast(d, hn::InterleaveLower(pairs, left, right)),
                                hn::BitCast(d, hn::InterleaveUpper(pairs, left, right)));
    hn::StoreU(reduce_blocks(d, blocks, combine), hn::FixedTag<T, 4>(), out);
    return;
  }
#endif
  const hn::CappedTag<T, 1> one;
  const V all[] = {v0, v1, v2, v3};
  for (int i = 0; i < 4; ++i) {
    T lanes[hn::MaxLanes(D())];
    hn::StoreU(all[i], d, lanes);
    auto sum = hn::LoadU(one, lanes);
    for (size_t lane = 1; lane < hn::Lanes(d); ++lane) sum = combine(sum, hn::LoadU(one, lanes + lane));
    out[i] = hn::GetLane(sum);
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
