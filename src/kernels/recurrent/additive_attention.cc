#include "kernels/recurrent/additive_attention.h"

#include <algorithm>
#include <vector>

#include "base/memory_pool.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/recurrent/additive_attention.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// e_ij of one query and one key.
template <class D, typename T>
HWY_INLINE T score(D d, const AdditiveAttentionArguments<T>& a, const T* query, const T* key) {
  if (a.v == nullptr) {
    return sum_over(d, a.key_width,
                    [&](auto at, auto load) { return hn::Mul(load(query + at), load(key + at)); });
  }
  return sum_over(d, a.key_width, [&](auto at, auto load) {
    return hn::Mul(load(a.v + at), hn::Tanh(d, hn::Add(load(query + at), load(key + at))));
  });
}

/// y += factor * x
template <class D, typename T>
HWY_INLINE void add_multiple(D d, int64_t size, T factor, const T* x, T* y) {
  const auto f = hn::Set(d, factor);
  for_each_vector(d, size, [&](auto at, auto load, auto store) {
    store(hn::MulAdd(f, load(x + at), load(y + at)), y + at);
  });
}

template <typename T>
void additive_attention(const AdditiveAttentionArguments<T>& a) {
  const hn::ScalableTag<T> d;
  for (int64_t n = 0; n < a.span_count; ++n) {
    const AttentionSpan& span = a.spans[n];
    const int64_t keys = span.keys();
    const T* key = a.key + span.key_begin * a.key_stride;
    const T* value = a.value + span.key_begin * a.value_stride;
    for (int64_t q = 0; q < span.queries(); ++q) {
      const T* query = a.query + (span.query_begin + q) * a.query_stride;
      T* weights = a.weights + span.pairs_begin + q * keys;
      for (int64_t k = 0; k < keys; ++k) weights[k] = score(d, a, query, key + k * a.key_stride);
      if (keys > 0) {
        const auto shift = hn::Set(d, *std::max_element(weights, weights + keys));
        for_each_vector(d, keys, [&](auto at, auto load, auto store) {
          store(exact_exponential(d, hn::Sub(load(weights + at), shift)), weights + at);
        });
        T sum = 0;
        for (int64_t k = 0; k < keys; ++k) sum += weights[k];
        const T factor = 1 / sum;
        for (int64_t k = 0; k < keys; ++k) weights[k] *= factor;
      }
      T* context = a.context + (span.query_begin + q) * a.context_stride;
      for_each_vector(d, a.value_width, [&](auto at, auto load, auto store) {
        auto mix = hn::Zero(d);
        for (int64_t k = 0; k < keys; ++k) {
          mix = hn::MulAdd(hn::Set(d, weights[k]), load(value + k * a.value_stride + at), mix);
        }
        store(mix, context + at);
      });
    }
  }
}

/// What the gradient `de` of one additive score does, with t = tanh(q + k):
///   dv += de t,   dq and dk += de v (1 - t^2)
template <class D, typename T>
HWY_INLINE void additive_score_backward(D d, const AdditiveAttentionBackwardArguments<T>& b, const T* query,
                                        const T* key, T de, T* dquery, T* dkey) {
  const auto gradient = hn::Set(d, de), one = hn::Set(d, T{1});
  for_each_vector(d, b.forward.key_width, [&](auto at, auto load, auto store) {
    const auto t = hn::Tanh(d, hn::Add(load(query + at), load(key + at)));
    if (b.dv != nullptr) store(hn::MulAdd(gradient, t, load(b.dv + at)), b.dv + at);
    const auto inner = hn::Mul(hn::Mul(gradient, load(b.forward.v + at)), hn::NegMulAdd(t, t, one));
    store(hn::Add(inner, load(dquery + at)), dquery + at);
    if (dkey != nullptr) store(hn::Add(inner, load(dkey + at)), dkey + at);
  });
}

template <typename T>
void additive_attention_backward(const AdditiveAttentionBackwardArguments<T>& b) {
  const hn::ScalableTag<T> d;
  const AdditiveAttentionArguments<T>& a = b.forward;
  std::vector<T, PoolAllocator<T>> dweights;
  for (int64_t n = 0; n < a.span_count; ++n) {
    const AttentionSpan& span = a.spans[n];
    const int64_t keys = span.keys();
    dweights.resize(static_cast<size_t>(keys));
    for (int64_t q = 0; q < span.queries(); ++q) {
      const T* query = a.query + (span.query_begin + q) * a.query_stride;
      const T* weights = a.weights + span.pairs_begin + q * keys;
      const T* dcontext = b.dcontext + (span.query_begin + q) * b.dcontext_stride;
      T* dquery = b.dquery + (span.query_begin + q) * b.dquery_stride;
      T mean = 0;  // of dweights, by the weights
      for (int64_t k = 0; k < keys; ++k) {
        const T* value = a.value + (span.key_begin + k) * a.value_stride;
        dweights[k] = sum_over(d, a.value_width, [&](auto at, auto load) {
          return hn::Mul(load(dcontext + at), load(value + at));
        });
        mean += weights[k] * dweights[k];
        if (b.dvalue != nullptr) {
          add_multiple(d, a.value_width, weights[k], dcontext,
                       b.dvalue + (span.key_begin + k) * b.dvalue_stride);
        }
      }
      for (int64_t k = 0; k < keys; ++k) {
        const T de = weights[k] * (dweights[k] - mean);
        const T* key = a.key + (span.key_begin + k) * a.key_stride;
        T* dkey = b.dkey != nullptr ? b.dkey + (span.key_begin + k) * b.dkey_stride : nullptr;
        if (a.v != nullptr) {
          additive_score_backward(d, b, query, key, de, dquery, dkey);
        } else {
          add_multiple(d, a.key_width, de, key, dquery);
          if (dkey != nullptr) add_multiple(d, a.key_width, de, query, dkey);
        }
      }
    }
  }
}

HEED_KERNEL(additive_attention, AdditiveAttentionArguments)
HEED_KERNEL(additive_attention_backward, AdditiveAttentionBackwardArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(additive_attention, AdditiveAttentionArguments)
HEED_DISPATCH(additive_attention_backward, AdditiveAttentionBackwardArguments)
}  // namespace heed
#endif
