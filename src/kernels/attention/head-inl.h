// One head of one sequence, and what the forward and the backward pass of attention.h do with its rows of
// scores. Included once for each instruction set.

#if defined(HEED_KERNELS_HEAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_HEAD_INL_H_
#undef HEED_KERNELS_HEAD_INL_H_
#else
#define HEED_KERNELS_HEAD_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/attention/attention.h"
#include "kernels/gemm/small_gemm-inl.h"
#include "kernels/pointwise/dropout-inl.h"
#include "kernels/simd/math-inl.h"
#include "kernels/thresholds.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// The logarithm of a weight is scale * score - shift. Its rounding error is that of the shift, up to |shift|
// 2^-24 in float32, the same for all keys of a row. Beyond this limit a row is computed from differences of
// scores, scale * (score - row_max), which are exact where a weight is not negligible. Below it, the relative
// error of a weight is at most 2^-17, less than that caused by rounded scores.
constexpr int kMaxShift = 128;

template <typename T>
HWY_INLINE bool is_large(T shift) {
  return std::abs(shift) > kMaxShift;
}

/// A bump allocator for the buffers of one head; its memory is kept from call to call.
template <typename T>
class Scratch {
 public:
  /// Buffers are rounded up to whole cache lines.
  static int64_t padded(int64_t size) { return round_up(size, 16); }
  /// Frees all buffers; the next ones have `size` elements together, each rounded up by padded().
  void reserve(int64_t size) {
    if (static_cast<int64_t>(memory_.size()) < size) memory_.resize(static_cast<size_t>(size));
    used_ = 0;
  }
  T* allocate(int64_t size) {
    T* buffer = memory_.data() + used_;
    used_ += padded(size);
    HEED_CHECK(used_ <= static_cast<int64_t>(memory_.size()));
    return buffer;
  }

 private:
  std::vector<T, PoolAllocator<T>> memory_;
  int64_t used_ = 0;
};

/// One head of one span: its rows, its part of the dropout mask, and which keys its queries see.
template <typename T>
struct Head {
  const AttentionArguments<T>& a;
  const AttentionSpan& span;
  int64_t head;
  /// The head of the keys and values, which several heads may share.
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
  /// Of the numbers in a buffer of scores: with a soft cap, these are tanh(a.scale q k / cap).
  T scale() const { return a.score_cap > 0 ? a.score_cap : a.scale; }
  int64_t dropout_begin(int64_t q) const {
    return a.heads * span.pairs_begin + (head * span.queries() + q) * span.keys();
  }
  int64_t first_key(int64_t q) const { return span.first_key(a.window, q); }
  int64_t end_key(int64_t q) const { return span.end_key(a.causal, a.window, q); }
  /// Where the first block of `size` keys begins that query `q` sees.
  int64_t first_block(int64_t q, int64_t size) const { return first_key(q) / size * size; }
  /// Of the `count` keys from `k0` on, query `q` sees [hidden(), visible()), or none if visible() is 0.
  int64_t visible(int64_t q, int64_t k0, int64_t count) const {
    const int64_t end = end_in_block(q, k0, count);
    return first_key(q) - k0 < end ? end : 0;
  }
  int64_t hidden(int64_t q, int64_t k0) const { return std::max<int64_t>(0, first_key(q) - k0); }
  /// Before which of the `count` keys from `k0` on all are that query `q` sees: increases with q.
  int64_t end_in_block(int64_t q, int64_t k0, int64_t count) const {
    return std::clamp<int64_t>(end_key(q) - k0, 0, count);
  }
};

/// Whether the queries of a span run as decode attention; with gathered key rows they always do.
template <typename T>
HWY_INLINE bool is_decode_attention(const AttentionArguments<T>& a, const AttentionSpan& span) {
  return span.queries() <= kDecodeQueries && !a.dropout.active();
}
/// In decode_attention.cc, for all heads of a span.
template <typename T, typename Stored>
void decode_attention(const AttentionArguments<T>& a, const AttentionSpan& span,
                      const KeysAndValues<Stored>& rows);

/// A vector whose largest lane is the maximum of row[0..count).
template <class D, typename T>
HWY_INLINE hn::Vec<D> max_of_lanes(D d, const T* row, int64_t count) {
  const auto lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto best = lowest;
  int64_t k = 0;
  for (; k + lanes <= count; k += lanes) best = hn::Max(best, hn::LoadU(d, row + k));
  if (k < count) {
    const auto visible = hn::FirstN(d, static_cast<size_t>(count - k));
    best = hn::Max(best, hn::IfThenElse(visible, hn::LoadU(d, row + k), lowest));
  }
  return best;
}

/// row[0..count) becomes scale * (score - row_max). Elements after it, up to a whole vector, change too.
template <class D, typename T>
HWY_INLINE void subtract_max(D d, T* row, int64_t count, T scale, T row_max) {
  const auto scale_v = hn::Set(d, scale), max_v = hn::Set(d, row_max);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t k = 0; k < count; k += lanes) {
    hn::StoreU(hn::Mul(hn::Sub(hn::LoadU(d, row + k), max_v), scale_v), d, row + k);
  }
}

/// row[0..count), products of a query and keys, becomes tanh(factor * product), with factor = scale / cap.
/// Elements after it, up to a whole vector, change too.
template <class D, typename T>
HWY_NOINLINE void cap_scores(D d, T* row, int64_t count, T factor) {
  const auto factor_v = hn::Set(d, factor);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t k = 0; k < count; k += lanes) {
    hn::StoreU(hn::Tanh(d, hn::Mul(hn::LoadU(d, row + k), factor_v)), d, row + k);
  }
}

/// row[0..count) becomes use(k, exp(scale * score - shift)), and row[count..end) use(k, 0), up to whole
/// vectors. Returns the sum of the exponentials, lane by lane.
template <class D, typename T, class Use>
HWY_INLINE hn::Vec<D> exp_row(D d, T* row, int64_t count, int64_t end, T scale, T shift, const Use& use) {
  const auto scale_v = hn::Set(d, scale), shift_v = hn::Set(d, shift);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  int64_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto e = exponential(d, hn::MulSub(hn::LoadU(d, row + k), scale_v, shift_v));
    hn::StoreU(use(k, e), d, row + k);
    sum = hn::Add(sum, e);
  }
  if (k < count) {
    const auto visible = hn::FirstN(d, static_cast<size_t>(count - k));
    const auto all = exponential(d, hn::MulSub(hn::LoadU(d, row + k), scale_v, shift_v));
    const auto e = hn::IfThenElseZero(visible, all);
    hn::StoreU(use(k, e), d, row + k);
    sum = hn::Add(sum, e);
    k += lanes;
  }
  for (; k < end; k += lanes) hn::StoreU(use(k, hn::Zero(d)), d, row + k);
  return sum;
}

/// The row of dO of query `q` of a head.
template <typename T>
HWY_INLINE const T* doutput_row(const AttentionBackwardArguments<T>& b, const Head<T>& h, int64_t q) {
  return b.doutput + (h.span.query_begin + q) * b.doutput_stride + h.head * h.a.value_width;
}

template <typename T>
HWY_INLINE T* dquery_row(const AttentionBackwardArguments<T>& b, const Head<T>& h, int64_t q) {
  return b.dquery + (h.span.query_begin + q) * b.dquery_stride + h.head * h.a.key_width;
}

/// delta_q = dO_q . O_q, which is the sum over the keys of P dP.
template <typename T>
HWY_INLINE T dot_output(const AttentionBackwardArguments<T>& b, const Head<T>& h, int64_t q) {
  const T *output = h.output(q), *upstream = doutput_row(b, h, q);
  prefetch_next_head(output, h.a.value_width);
  return sum_over(hn::ScalableTag<T>(), h.a.value_width,
                  [&](auto at, auto load) { return hn::Mul(load(output + at), load(upstream + at)); });
}

/// to = factor * from, or to += factor * from
template <typename T>
HWY_NOINLINE void store_scaled_rows(const T* from, int64_t from_stride, T factor, int64_t rows, int64_t width,
                                    T* to, int64_t stride, bool add) {
  const hn::ScalableTag<T> d;
  for (int64_t row = 0; row < rows; ++row) {
    prefetch_next_head(to + row * stride, width);
    for_each_vector(d, width, [&](auto at, auto load, auto store) {
      T* sum = to + row * stride + at;
      const auto x = load(from + row * from_stride + at), factors = hn::Set(d, factor);
      store(add ? hn::MulAdd(x, factors, load(sum)) : hn::Mul(x, factors), sum);
    });
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
