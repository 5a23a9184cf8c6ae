// Attention of a few queries to a few dozen keys, whose rows may lie anywhere: the steps of a decoder.
//
// The time goes into what surrounds the products, so all heads of a query are done together: the lanes of
// four heads' products are added up in one go, and the softmax works on heads beside heads. Included once for
// each instruction set.

#if defined(HEED_KERNELS_FEW_QUERIES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_FEW_QUERIES_INL_H_
#undef HEED_KERNELS_FEW_QUERIES_INL_H_
#else
#define HEED_KERNELS_FEW_QUERIES_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "hwy/highway.h"
#include "kernels/attention/attention-inl.h"
#include "kernels/simd/half_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int64_t kHeadsTogether = 4;

/// One query, and what is found of it; in rows of `heads`, which is a multiple of kHeadsTogether. Keys and
/// values are of type Stored.
template <typename T, typename Stored>
struct FewQueries {
  FewQueries(const AttentionArguments<T>& arguments, const AttentionSpan& one,
             const KeysAndValues<Stored>& rows)
      : a(arguments), span(one), stored(rows) {}

  const AttentionArguments<T>& a;
  const AttentionSpan& span;
  const KeysAndValues<Stored> stored;
  /// Heads that have keys and values of their own.
  const int64_t own = a.key_value_heads == 0 ? a.heads : a.key_value_heads;
  const int64_t heads = round_up(a.heads, kHeadsTogether);
  int64_t q = 0, visible = 0;  ///< the query, and how many keys it sees
  T* weights = nullptr;        ///< (visible, heads): scores, then e^(scale (score - highest))
  T* highest = nullptr;        ///< (heads)
  T* sums = nullptr;           ///< (heads) of the weights

  Head<T> head(int64_t h) const { return {a, span, h}; }
  int64_t row(int64_t k) const { return head(0).key_row(k); }
  /// Of the keys and values, which heads may share.
  int64_t owner(int64_t h) const { return own == a.heads ? h : h * own / a.heads; }
  const Stored* keys(int64_t k) const { return stored.key + row(k) * stored.key_stride; }
  const Stored* values(int64_t k) const { return stored.value + row(k) * stored.value_stride; }
};

template <class D>
HWY_INLINE hn::Vec<D> load_stored(D d, const hn::TFromD<D>* p) {
  return hn::LoadU(d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> load_stored(D d, const uint16_t* p) {
  return load_halves(d, p);
}

/// `count` elements, fewer than a vector has, and zeros.
template <class D, typename Stored>
HWY_INLINE hn::Vec<D> load_some_stored(D d, const Stored* p, int64_t count) {
  Stored some[hn::MaxLanes(D())] = {};
  std::copy_n(p, count, some);
  return load_stored(d, some);
}

/// body(at, load) for each vector of a row of `size` elements.
template <class D, class Body>
HWY_INLINE void for_each_stored(D d, int64_t size, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + lanes <= size; at += lanes) body(at, [&](const auto* p) { return load_stored(d, p); });
  if (at < size) body(at, [&](const auto* p) { return load_some_stored(d, p, size - at); });
}

/// Rows lie anywhere, so the processor does not see which come next: the values of key k, and keys ahead.
template <typename T, typename Stored>
HWY_INLINE void prefetch_rows(const FewQueries<T, Stored>& x, int64_t k) {
  constexpr int64_t kAhead = 2;
  prefetch(x.values(k), x.own * x.a.value_width);
  if (k + kAhead < x.visible) prefetch(x.keys(k + kAhead), x.own * x.a.key_width);
}

template <typename T, typename Stored>
HWY_INLINE void score_keys(const FewQueries<T, Stored>& x) {
  const hn::ScalableTag<T> d;
  const T* queries = x.head(0).query(x.q);
  for (int64_t k = 0; k < x.visible; ++k) {
    prefetch_rows(x, k);
    const Stored* keys = x.keys(k);
    const auto product = [&](int64_t any) {
      const int64_t h = std::min<int64_t>(any, x.a.heads - 1);  // beyond the last, it again
      const T* query = queries + h * x.a.key_width;
      const Stored* key = keys + x.owner(h) * x.a.key_width;
      auto sum = hn::Zero(d);
      for_each_stored(d, x.a.key_width,
                      [&](auto at, auto load) { sum = hn::MulAdd(load(query + at), load(key + at), sum); });
      return sum;
    };
    for (int64_t h = 0; h < x.heads; h += kHeadsTogether) {
      reduce_four(
          d, product(h), product(h + 1), product(h + 2), product(h + 3),
          [](auto one, auto other) { return hn::Add(one, other); }, x.weights + k * x.heads + h);
    }
  }
}

template <typename T, typename Stored>
HWY_INLINE void weigh_keys(const FewQueries<T, Stored>& x) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, kHeadsTogether> some;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), step = static_cast<int64_t>(hn::Lanes(some));
  for (int64_t h = 0; h < x.heads; h += step) {
    auto most = hn::Set(some, x.visible > 0 ? -std::numeric_limits<T>::infinity() : T{0});
    for (int64_t k = 0; k < x.visible; ++k) {
      most = hn::Max(most, hn::LoadU(some, x.weights + k * x.heads + h));
    }
    for (int64_t k = 0; k < x.visible; ++k) {
      T* score = x.weights + k * x.heads + h;
      hn::StoreU(hn::Mul(hn::Sub(hn::LoadU(some, score), most), hn::Set(some, x.a.scale)), some, score);
    }
    hn::StoreU(most, some, x.highest + h);
  }
  for (int64_t at = 0; at < x.visible * x.heads; at += lanes) {
    hn::StoreU(exponential(d, hn::LoadU(d, x.weights + at)), d, x.weights + at);
  }
  for (int64_t h = 0; h < x.heads; h += step) {
    auto sum = hn::Zero(some);
    for (int64_t k = 0; k < x.visible; ++k) {
      sum = hn::Add(sum, hn::LoadU(some, x.weights + k * x.heads + h));
    }
    hn::StoreU(sum, some, x.sums + h);
  }
}

/// kVectors vectors of a head's output, from feature `at` on; `count` elements of the last one.
template <int kVectors, typename T, typename Stored, class Load, class Store>
HWY_INLINE void mix_vectors(const FewQueries<T, Stored>& x, int64_t h, int64_t at, const Load& load,
                            const Store& store) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t column = x.owner(h) * x.a.value_width + at;
  hn::Vec<decltype(d)> mix[kVectors];
  for (auto& each : mix) each = hn::Zero(d);
  for (int64_t k = 0; k < x.visible; ++k) {
    const auto weight = hn::Set(d, x.weights[k * x.heads + h]);
    const Stored* value = x.values(k) + column;
    for (int n = 0; n < kVectors; ++n) mix[n] = hn::MulAdd(weight, load(value + n * lanes), mix[n]);
  }
  const auto factor = hn::Set(d, x.visible > 0 ? 1 / x.sums[h] : T{0});
  T* output = x.head(h).output(x.q) + at;
  for (int n = 0; n < kVectors; ++n) store(hn::Mul(mix[n], factor), output + n * lanes);
}

template <typename T, typename Stored>
HWY_INLINE void mix_values(const FewQueries<T, Stored>& x, int64_t h) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t width = x.a.value_width;
  const auto load = [&](const Stored* p) { return load_stored(d, p); };
  const Whole<decltype(d)> store{d};
  int64_t at = 0;
  for (; at + 2 * lanes <= width; at += 2 * lanes) mix_vectors<2>(x, h, at, load, store);
  for (; at + lanes <= width; at += lanes) mix_vectors<1>(x, h, at, load, store);
  if (at == width) return;
  const Partial<decltype(d)> store_some{d, width - at};
  mix_vectors<1>(
      x, h, at, [&](const Stored* p) { return load_some_stored(d, p, width - at); }, store_some);
}

template <typename T, typename Stored>
void attend_few_queries(FewQueries<T, Stored> x, Scratch<T>& scratch) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t room = round_up(x.span.keys() * x.heads, lanes);
  scratch.begin(Scratch<T>::lines(room) + 2 * Scratch<T>::lines(x.heads));
  x.weights = scratch.take(room);
  x.highest = scratch.take(x.heads);
  x.sums = scratch.take(x.heads);
  for (; x.q < x.span.queries(); ++x.q) {
    x.visible = visible_keys(x.span, x.a.causal, x.q);
    score_keys(x);
    weigh_keys(x);
    for (int64_t h = 0; h < x.a.heads; ++h) {
      mix_values(x, h);
      if (x.a.log_sum_exp != nullptr) {
        x.head(h).log_sum_exp(x.q) = x.highest[h] * x.a.scale + std::log(x.sums[h]);
      }
    }
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
