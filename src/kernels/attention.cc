#include "kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/dropout-inl.h"
#include "kernels/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// A tile of scores is kQueryBlock x kKeyBlock: small enough to stay in the first-level cache.
constexpr int64_t kQueryBlock = 32;
constexpr int64_t kKeyBlock = 64;
// So few queries are not worth transposing the keys for.
constexpr int64_t kFewQueries = 4;

template <typename T>
using Scratch = std::vector<T, PoolAllocator<T>>;

/// How many keys of a span query `q` (counted within the span) sees.
HWY_INLINE int64_t visible_keys(const AttentionSpan& span, bool causal, int64_t q) {
  return causal ? std::max<int64_t>(0, span.keys() - span.queries() + q + 1) : span.keys();
}

/// One head of one span: pointers to its first rows, and where its dropout mask begins.
template <typename T>
struct Head {
  const AttentionArguments<T>& a;
  const AttentionSpan& span;
  int64_t head;
  /// Of the keys and values that the head has.
  int64_t key_value_head = a.key_value_heads == 0 ? head : head * a.key_value_heads / a.heads;

  const T* query(int64_t q) const {
    return a.query + (span.query_begin + q) * a.query_stride + head * a.key_width;
  }
  T* output(int64_t q) const {
    return a.output + (span.query_begin + q) * a.output_stride + head * a.value_width;
  }
  T& log_sum_exp(int64_t q) const { return a.log_sum_exp[(span.query_begin + q) * a.heads + head]; }
  int64_t key_row(int64_t k) const {
    return a.key_rows != nullptr ? a.key_rows[span.key_begin + k] : span.key_begin + k;
  }
  const T* key(int64_t k) const { return a.key + key_row(k) * a.key_stride + key_value_head * a.key_width; }
  const T* value(int64_t k) const {
    return a.value + key_row(k) * a.value_stride + key_value_head * a.value_width;
  }
  int64_t mask_begin(int64_t q) const {
    return a.heads * span.pairs_begin + (head * span.queries() + q) * span.keys();
  }
};

/// scores[0..count) become exp(scale * score - shift); returns their sum. Scores beyond `count` become 0, up
/// to a whole number of vectors.
template <class D, typename T>
HWY_INLINE T exponentials(D d, T* scores, int64_t count, T scale, T shift) {
  const auto scale_v = hn::Set(d, scale), shift_v = hn::Set(d, shift);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  for (int64_t k = 0; k < count; k += lanes) {
    const auto visible = hn::FirstN(d, static_cast<size_t>(count - k));
    const auto x = hn::MulSub(hn::LoadU(d, scores + k), scale_v, shift_v);
    const auto e = hn::IfThenElseZero(visible, hn::Exp(d, x));
    hn::StoreU(e, d, scores + k);
    sum = hn::Add(sum, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <class D, typename T>
HWY_INLINE T largest(D d, const T* scores, int64_t count) {
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto best = lowest;
  for (int64_t k = 0; k < count; k += lanes) {
    const auto visible = hn::FirstN(d, static_cast<size_t>(count - k));
    best = hn::Max(best, hn::IfThenElse(visible, hn::LoadU(d, scores + k), lowest));
  }
  return hn::GetLane(hn::MaxOfLanes(d, best));
}

/// A few queries against rows that may lie anywhere: the steps of a decoder. Dot products along the width.
template <typename T>
void attend_few_queries(const Head<T>& h, Scratch<T>& scratch) {
  const hn::ScalableTag<T> d;
  const AttentionArguments<T>& a = h.a;
  const int64_t keys = h.span.keys();
  scratch.resize(static_cast<size_t>(keys) + hn::Lanes(d));
  T* scores = scratch.data();
  for (int64_t q = 0; q < h.span.queries(); ++q) {
    const int64_t visible = visible_keys(h.span, a.causal, q);
    const T* query = h.query(q);
    for (int64_t k = 0; k < visible; ++k) {
      const T* key = h.key(k);
      scores[k] = sum_over(d, a.key_width,
                           [&](auto at, auto load) { return hn::Mul(load(query + at), load(key + at)); });
    }
    const T shift = visible > 0 ? largest(d, scores, visible) * a.scale : 0;
    const T sum = exponentials(d, scores, visible, a.scale, shift);
    const T factor = visible > 0 ? 1 / sum : 0;
    T* output = h.output(q);
    for_each_vector(d, a.value_width, [&](auto at, auto load, auto store) {
      auto mix = hn::Zero(d);
      for (int64_t k = 0; k < visible; ++k)
        mix = hn::MulAdd(hn::Set(d, scores[k]), load(h.value(k) + at), mix);
      store(hn::Mul(mix, hn::Set(d, factor)), output + at);
    });
    if (a.log_sum_exp != nullptr) h.log_sum_exp(q) = shift + std::log(sum);
  }
}

/// x^T for all keys of a head, in blocks of kKeyBlock columns: block b begins at b * width * kKeyBlock.
template <typename T, class Row>
void transpose_keys(const Row& row, int64_t stride, int64_t keys, int64_t width, T* out) {
  for (int64_t k = 0; k < keys; k += kKeyBlock) {
    transpose(row(k), stride, std::min(kKeyBlock, keys - k), width, out + k * width, kKeyBlock);
  }
}

int64_t round_up(int64_t size, int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

template <typename T>
void attend_head(const Head<T>& h, Scratch<T>& scratch) {
  const hn::ScalableTag<T> d;
  const AttentionArguments<T>& a = h.a;
  const int64_t queries = h.span.queries(), keys = h.span.keys(), padded_keys = round_up(keys, kKeyBlock);
  scratch.resize(static_cast<size_t>(padded_keys * a.key_width + 2 * kQueryBlock * kKeyBlock +
                                     kQueryBlock * a.value_width));
  T* keys_transposed = scratch.data();
  T* weights = keys_transposed + padded_keys * a.key_width;
  T* mask = weights + kQueryBlock * kKeyBlock;
  T* mix = mask + kQueryBlock * kKeyBlock;
  transpose_keys<T>([&](int64_t k) { return h.key(k); }, a.key_stride, keys, a.key_width, keys_transposed);
  DropoutReader<T> dropout(a.dropout);

  for (int64_t q0 = 0; q0 < queries; q0 += kQueryBlock) {
    const int64_t rows = std::min(kQueryBlock, queries - q0);
    T shift[kQueryBlock], sum[kQueryBlock];
    std::fill(shift, shift + rows, -std::numeric_limits<T>::infinity());
    std::fill(sum, sum + rows, T{0});
    std::fill(mix, mix + rows * a.value_width, T{0});
    const int64_t reach = visible_keys(h.span, a.causal, q0 + rows - 1);
    for (int64_t k0 = 0; k0 < reach; k0 += kKeyBlock) {
      const int64_t count = std::min(kKeyBlock, reach - k0);
      multiply_tile<T>(rows, count, a.key_width, {h.query(q0), a.query_stride, 1},
                       keys_transposed + k0 * a.key_width, kKeyBlock, weights, kKeyBlock, false);
      for (int64_t r = 0; r < rows; ++r) {
        T* row = weights + r * kKeyBlock;
        const int64_t visible = std::clamp<int64_t>(visible_keys(h.span, a.causal, q0 + r) - k0, 0, count);
        if (visible > 0) {
          const T highest = std::max(shift[r], largest(d, row, visible) * a.scale);
          const T correction = std::exp(shift[r] - highest);
          sum[r] = sum[r] * correction + exponentials(d, row, visible, a.scale, highest);
          if (correction != 1) {
            T* mixed = mix + r * a.value_width;
            for (int64_t c = 0; c < a.value_width; ++c) mixed[c] *= correction;
          }
          shift[r] = highest;
        }
        std::fill(row + visible, row + count, T{0});
        if (a.dropout.active()) {
          dropout.read(h.mask_begin(q0 + r) + k0, visible, mask);
          for (int64_t k = 0; k < visible; ++k) row[k] *= mask[k];
        }
      }
      multiply_tile<T>(rows, a.value_width, count, {weights, kKeyBlock, 1}, h.value(k0), a.value_stride, mix,
                       a.value_width, true);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const T factor = sum[r] > 0 ? 1 / sum[r] : 0;
      T* output = h.output(q0 + r);
      for (int64_t c = 0; c < a.value_width; ++c) output[c] = mix[r * a.value_width + c] * factor;
      if (a.log_sum_exp != nullptr) h.log_sum_exp(q0 + r) = shift[r] + std::log(sum[r]);
    }
  }
}

template <typename T>
void attention(const AttentionArguments<T>& a) {
  HEED_CHECK(a.key_rows == nullptr || !a.dropout.active());
  thread_local Scratch<T> scratch;
  for (int64_t s = 0; s < a.span_count; ++s) {
    const AttentionSpan& span = a.spans[s];
    const bool few = span.queries() <= kFewQueries && !a.dropout.active();
    for (int head = 0; head < a.heads; ++head) {
      const Head<T> h{a, span, head};
      if (few || a.key_rows != nullptr) {
        attend_few_queries(h, scratch);
      } else {
        attend_head(h, scratch);
      }
    }
  }
}

// With P the weights, R the dropout mask, O the output and delta_q = dO_q . O_q:
//   dV = (P R)^T dO;  dP = (dO V^T) R;  dS = scale * P (dP - delta);  dQ = dS K;  dK = dS^T Q
template <typename T>
void attention_backward_head(const AttentionBackwardArguments<T>& b, const Head<T>& h, Scratch<T>& scratch) {
  const hn::ScalableTag<T> d;
  const AttentionArguments<T>& a = h.a;
  const int64_t queries = h.span.queries(), keys = h.span.keys(), padded_keys = round_up(keys, kKeyBlock);
  scratch.resize(
      static_cast<size_t>(padded_keys * (a.key_width + a.value_width) + 3 * kQueryBlock * kKeyBlock));
  T* keys_transposed = scratch.data();
  T* values_transposed = keys_transposed + padded_keys * a.key_width;
  T* weights = values_transposed + padded_keys * a.value_width;
  T* scores = weights + kQueryBlock * kKeyBlock;  // dP, then dS
  T* mask = scores + kQueryBlock * kKeyBlock;
  transpose_keys<T>([&](int64_t k) { return h.key(k); }, a.key_stride, keys, a.key_width, keys_transposed);
  transpose_keys<T>([&](int64_t k) { return h.value(k); }, a.value_stride, keys, a.value_width,
                    values_transposed);
  DropoutReader<T> dropout(a.dropout);
  const auto doutput = [&](int64_t q) {
    return b.doutput + (h.span.query_begin + q) * b.doutput_stride + h.head * a.value_width;
  };
  const auto dquery = [&](int64_t q) {
    return b.dquery + (h.span.query_begin + q) * b.dquery_stride + h.head * a.key_width;
  };
  const auto dkey = [&](int64_t k) {
    return b.dkey + (h.span.key_begin + k) * b.dkey_stride + h.key_value_head * a.key_width;
  };
  const auto dvalue = [&](int64_t k) {
    return b.dvalue + (h.span.key_begin + k) * b.dvalue_stride + h.key_value_head * a.value_width;
  };

  for (int64_t q0 = 0; q0 < queries; q0 += kQueryBlock) {
    const int64_t rows = std::min(kQueryBlock, queries - q0);
    T delta[kQueryBlock];
    for (int64_t r = 0; r < rows; ++r) {
      const T* output = h.output(q0 + r);
      const T* upstream = doutput(q0 + r);
      delta[r] = sum_over(d, a.value_width, [&](auto at, auto load) {
        return hn::Mul(load(output + at), load(upstream + at));
      });
    }
    const int64_t reach = visible_keys(h.span, a.causal, q0 + rows - 1);
    for (int64_t k0 = 0; k0 < reach; k0 += kKeyBlock) {
      const int64_t count = std::min(kKeyBlock, reach - k0);
      multiply_tile<T>(rows, count, a.key_width, {h.query(q0), a.query_stride, 1},
                       keys_transposed + k0 * a.key_width, kKeyBlock, weights, kKeyBlock, false);
      multiply_tile<T>(rows, count, a.value_width, {doutput(q0), b.doutput_stride, 1},
                       values_transposed + k0 * a.value_width, kKeyBlock, scores, kKeyBlock, false);
      for (int64_t r = 0; r < rows; ++r) {
        T* p = weights + r * kKeyBlock;
        T* s = scores + r * kKeyBlock;
        const int64_t visible = std::clamp<int64_t>(visible_keys(h.span, a.causal, q0 + r) - k0, 0, count);
        if (visible > 0) exponentials(d, p, visible, a.scale, h.log_sum_exp(q0 + r));
        std::fill(p + visible, p + count, T{0});
        const auto scale = hn::Set(d, a.scale), delta_r = hn::Set(d, delta[r]);
        if (a.dropout.active()) {
          dropout.read(h.mask_begin(q0 + r) + k0, visible, mask);
          std::fill(mask + visible, mask + count, T{0});
          for_each_vector(d, count, [&](auto at, auto load, auto store) {
            const auto weight = load(p + at), keep = load(mask + at);
            const auto ds = hn::Mul(hn::Mul(weight, scale), hn::MulSub(load(s + at), keep, delta_r));
            store(ds, s + at);
            store(hn::Mul(weight, keep), p + at);
          });
        } else {
          for_each_vector(d, count, [&](auto at, auto load, auto store) {
            store(hn::Mul(hn::Mul(load(p + at), scale), hn::Sub(load(s + at), delta_r)), s + at);
          });
        }
      }
      multiply_tile<T>(count, a.value_width, rows, {weights, 1, kKeyBlock}, doutput(q0), b.doutput_stride,
                       dvalue(k0), b.dvalue_stride, true);
      multiply_tile<T>(count, a.key_width, rows, {scores, 1, kKeyBlock}, h.query(q0), a.query_stride,
                       dkey(k0), b.dkey_stride, true);
      multiply_tile<T>(rows, a.key_width, count, {scores, kKeyBlock, 1}, h.key(k0), a.key_stride, dquery(q0),
                       b.dquery_stride, true);
    }
  }
}

template <typename T>
void attention_backward(const AttentionBackwardArguments<T>& b) {
  HEED_CHECK(b.forward.key_rows == nullptr);
  thread_local Scratch<T> scratch;
  for (int64_t s = 0; s < b.forward.span_count; ++s) {
    for (int head = 0; head < b.forward.heads; ++head) {
      attention_backward_head(b, Head<T>{b.forward, b.forward.spans[s], head}, scratch);
    }
  }
}

HEED_KERNEL(attention, AttentionArguments)
HEED_KERNEL(attention_backward, AttentionBackwardArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(attention, AttentionArguments)
HEED_DISPATCH(attention_backward, AttentionBackwardArguments)
}  // namespace heed
#endif
