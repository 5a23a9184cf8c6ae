// Attention of few queries: the steps of a decoder, whose keys and values are rows of a cache, anywhere in
// memory.
//
// With so little arithmetic per key, transposing keys does not pay, and what surrounds the products counts.
// So the heads of a query are processed together: four dot products are reduced in one go, and the softmax
// runs across heads.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "kernels/attention/attention.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/decode_attention.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/attention/head-inl.h"
#include "kernels/simd/float16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Heads whose dot products are reduced together.
constexpr int64_t kHeadGroup = 4;

/// One query and its weights, in rows of `heads`, a multiple of kHeadGroup. Stored is the type of keys and
/// values.
template <typename T, typename Stored>
struct DecodeQuery {
  DecodeQuery(const AttentionArguments<T>& arguments, const AttentionSpan& one,
              const KeysAndValues<Stored>& rows)
      : a(arguments), span(one), stored(rows) {}

  const AttentionArguments<T>& a;
  const AttentionSpan& span;
  const KeysAndValues<Stored> stored;
  /// Heads of keys and values.
  const int64_t kv_heads = a.key_value_heads == 0 ? a.heads : a.key_value_heads;
  const int64_t heads = round_up(a.heads, kHeadGroup);
  int64_t q = 0;                   ///< the query,
  int64_t first = 0, visible = 0;  ///< the first key it sees, and how many
  T* weights = nullptr;            ///< (visible, heads): scores, then exp(scale (score - row_max))
  T* row_max = nullptr;            ///< (heads)
  T* sums = nullptr;               ///< (heads) of the weights

  Head<T> head(int64_t h) const { return {a, span, h}; }
  /// The row of the k-th key that the query sees.
  int64_t row(int64_t k) const { return head(0).key_row(first + k); }
  /// The head of keys and values that query head h uses.
  int64_t kv_head(int64_t h) const { return kv_heads == a.heads ? h : h * kv_heads / a.heads; }
  const Stored* keys(int64_t k) const { return stored.key + row(k) * stored.key_stride; }
  const Stored* values(int64_t k) const { return stored.value + row(k) * stored.value_stride; }
};

template <class D>
HWY_INLINE hn::Vec<D> load_stored(D d, const hn::TFromD<D>* p) {
  return hn::LoadU(d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> load_stored(D d, const uint16_t* p) {
  return load_float16(d, p);
}

/// The first `count` lanes, and zeros. Not called for vectors of one lane, where GCC 14 warns of a copy.
template <class D, typename Stored>
HWY_INLINE hn::Vec<D> load_some_stored(D d, const Stored* p, int64_t count) {
  Stored some[hn::MaxLanes(D())] = {};
  if (hn::MaxLanes(D()) > 1) std::copy_n(p, count, some);
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

/// Rows may be anywhere, so that the hardware prefetcher does not help: the values of key k, and the next
/// keys.
template <typename T, typename Stored>
HWY_INLINE void prefetch_rows(const DecodeQuery<T, Stored>& x, int64_t k) {
  constexpr int64_t kDistance = 2;
  prefetch(x.values(k), x.kv_heads * x.a.value_width);
  if (k + kDistance < x.visible) prefetch(x.keys(k + kDistance), x.kv_heads * x.a.key_width);
}

template <typename T, typename Stored>
HWY_INLINE void score_keys(const DecodeQuery<T, Stored>& x) {
  const hn::ScalableTag<T> d;
  const T* queries = x.head(0).query(x.q);
  for (int64_t k = 0; k < x.visible; ++k) {
    prefetch_rows(x, k);
    const Stored* keys = x.keys(k);
    const auto product = [&](int64_t head) {
      const int64_t h = std::min<int64_t>(head, x.a.heads - 1);  // repeats the last one
      const T* query = queries + h * x.a.key_width;
      const Stored* key = keys + x.kv_head(h) * x.a.key_width;
      auto sum = hn::Zero(d);
      for_each_stored(d, x.a.key_width,
                      [&](auto at, auto load) { sum = hn::MulAdd(load(query + at), load(key + at), sum); });
      return sum;
    };
    for (int64_t h = 0; h < x.heads; h += kHeadGroup) {
      reduce_four(
          d, product(h), product(h + 1), product(h + 2), product(h + 3),
          [](auto one, auto other) { return hn::Add(one, other); }, x.weights + k * x.heads + h);
    }
  }
}

template <typename T, typename Stored>
HWY_INLINE void weigh_keys(const DecodeQuery<T, Stored>& x) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, kHeadGroup> some;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), step = static_cast<int64_t>(hn::Lanes(some));
  if (x.a.score_cap > 0) cap_scores(d, x.weights, x.visible * x.heads, x.a.scale / x.a.score_cap);
  const auto scale = hn::Set(some, x.head(0).scale());
  for (int64_t h = 0; h < x.heads; h += step) {
    auto max = hn::Set(some, x.visible > 0 ? -std::numeric_limits<T>::infinity() : T{0});
    for (int64_t k = 0; k < x.visible; ++k) {
      max = hn::Max(max, hn::LoadU(some, x.weights + k * x.heads + h));
    }
    for (int64_t k = 0; k < x.visible; ++k) {
      T* score = x.weights + k * x.heads + h;
      hn::StoreU(hn::Mul(hn::Sub(hn::LoadU(some, score), max), scale), some, score);
    }
    hn::StoreU(max, some, x.row_max + h);
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

/// kVectors vectors of a head's output, from feature `at` on.
template <int kVectors, typename T, typename Stored, class Load, class Store>
HWY_INLINE void mix_vectors(const DecodeQuery<T, Stored>& x, int64_t h, int64_t at, const Load& load,
                            const Store& store) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t column = x.kv_head(h) * x.a.value_width + at;
  hn::Vec<decltype(d)> sum[kVectors];
  for (auto& each : sum) each = hn::Zero(d);
  for (int64_t k = 0; k < x.visible; ++k) {
    const auto weight = hn::Set(d, x.weights[k * x.heads + h]);
    const Stored* value = x.values(k) + column;
    for (int n = 0; n < kVectors; ++n) sum[n] = hn::MulAdd(weight, load(value + n * lanes), sum[n]);
  }
  const auto factor = hn::Set(d, x.visible > 0 ? 1 / x.sums[h] : T{0});
  T* output = x.head(h).output(x.q) + at;
  for (int n = 0; n < kVectors; ++n) store(hn::Mul(sum[n], factor), output + n * lanes);
}

template <typename T, typename Stored>
HWY_INLINE void mix_values(const DecodeQuery<T, Stored>& x, int64_t h) {
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
void decode_attention(const AttentionArguments<T>& a, const AttentionSpan& span,
                      const KeysAndValues<Stored>& rows) {
  thread_local Scratch<T> scratch;
  DecodeQuery<T, Stored> x(a, span, rows);
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t weights = round_up(span.keys() * x.heads, lanes);
  scratch.reserve(Scratch<T>::padded(weights) + 2 * Scratch<T>::padded(x.heads));
  x.weights = scratch.allocate(weights);
  x.row_max = scratch.allocate(x.heads);
  x.sums = scratch.allocate(x.heads);
  for (; x.q < span.queries(); ++x.q) {
    x.first = span.first_key(a.window, x.q);
    x.visible = std::max<int64_t>(0, span.end_key(a.causal, a.window, x.q) - x.first);
    score_keys(x);
    weigh_keys(x);
    for (int64_t h = 0; h < a.heads; ++h) {
      mix_values(x, h);
      if (a.log_sum_exp != nullptr) {
        x.head(h).log_sum_exp(x.q) = x.row_max[h] * x.head(h).scale() + std::log(x.sums[h]);
      }
    }
  }
}

template void decode_attention(const AttentionArguments<float>&, const AttentionSpan&,
                               const KeysAndValues<float>&);
template void decode_attention(const AttentionArguments<double>&, const AttentionSpan&,
                               const KeysAndValues<double>&);

void decode_attention_float16(const AttentionArguments<float>& a, const HalfKeysAndValues& cached) {
  HEED_CHECK(!a.dropout.active());
  for (int64_t s = 0; s < a.span_count; ++s) decode_attention<float, uint16_t>(a, a.spans[s], cached);
}

void floats_to_halves(const float* floats, int64_t size, uint16_t* halves) {
  constexpr float kLargestFloat16 = 65504;
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto largest = hn::Set(d, kLargestFloat16), lowest = hn::Set(d, -kLargestFloat16);
  const auto convert = [&](const float* from, uint16_t* to) {
    // Not Min() and Max(), which lose NaN on some instruction sets.
    const auto x = hn::LoadU(d, from);
    const auto finite =
        hn::IfThenElse(hn::Gt(x, largest), largest, hn::IfThenElse(hn::Lt(x, lowest), lowest, x));
    store_float16(d, finite, to);
  };
  int64_t at = 0;
  for (; at + lanes <= size; at += lanes) convert(floats + at, halves + at);
  if (hn::MaxLanes(d) == 1 || at == size) return;  // as in load_some_stored()
  float last[hn::MaxLanes(d)] = {};
  uint16_t converted[hn::MaxLanes(d)];
  std::copy(floats + at, floats + size, last);
  convert(last, converted);
  std::copy_n(converted, size - at, halves + at);
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_EXPORT(decode_attention_float16);
HEED_EXPORT(floats_to_halves);

void attention(const AttentionArguments<float>& arguments, const HalfKeysAndValues& cached) {
  HEED_SELECT(decode_attention_float16)(arguments, cached);
}

void floats_to_halves(const float* floats, int64_t size, uint16_t* halves) {
  HEED_SELECT(floats_to_halves)(floats, size, halves);
}
}  // namespace heed
#endif
