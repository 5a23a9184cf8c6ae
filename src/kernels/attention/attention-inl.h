// What the forward and the backward pass of attention.h share. Included once for each instruction set.

#if defined(HEED_KERNELS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_INL_H_
#undef HEED_KERNELS_ATTENTION_INL_H_
#else
#define HEED_KERNELS_ATTENTION_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/memory_pool.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/tile-inl.h"
#include "kernels/pointwise/dropout-inl.h"
#include "kernels/simd/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// How many keys of a span query `q` (counted within the span) sees.
HWY_INLINE int64_t visible_keys(const AttentionSpan& span, bool causal, int64_t q) {
  return causal ? std::max<int64_t>(0, span.keys() - span.queries() + q + 1) : span.keys();
}

/// With so few queries, transposing the keys costs more than it saves: the forward pass of few_queries-inl.h.
constexpr int64_t kFewQueries = 4;

// The logarithm of a weight is scale * score - shift, and its rounding error is that of the shift: up to
// |shift| 2^-24 in float32, the same for all keys of a row. Beyond this limit a row is computed from the
// differences of its scores, scale * (score - highest), which are exact where a weight is not negligible.
// Below it, a weight is off by at most 2^-17 of itself, less than what rounded scores do to it.
constexpr int kLargestShift = 128;

template <typename T>
HWY_INLINE bool is_large(T shift) {
  return std::abs(shift) > kLargestShift;
}

/// Memory for one head at a time, kept from call to call; handed out in pieces of whole cache lines.
template <typename T>
class Scratch {
 public:
  static int64_t lines(int64_t size) { return (size + 15) / 16 * 16; }
  /// The pieces to come have `size` elements in all, each rounded up by lines().
  void begin(int64_t size) {
    if (static_cast<int64_t>(memory_.size()) < size) memory_.resize(static_cast<size_t>(size));
    used_ = 0;
  }
  T* take(int64_t size) {
    T* piece = memory_.data() + used_;
    used_ += lines(size);
    HEED_CHECK(used_ <= static_cast<int64_t>(memory_.size()));
    return piece;
  }

 private:
  std::vector<T, PoolAllocator<T>> memory_;
  int64_t used_ = 0;
};

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
  /// How many of the `count` keys from `k0` on query `q` sees.
  int64_t visible(int64_t q, int64_t k0, int64_t count) const {
    return std::clamp<int64_t>(visible_keys(span, a.causal, q) - k0, 0, count);
  }
};

/// The largest of the lanes of a row, lane by lane.
template <class D, typename T>
HWY_INLINE hn::Vec<D> largest_lanes(D d, const T* row, int64_t count) {
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

/// row[0..count) becomes scale * (score - highest). What stands behind it, up to a whole vector, changes too.
template <class D, typename T>
HWY_INLINE void subtract_highest(D d, T* row, int64_t count, T scale, T highest) {
  const auto scale_v = hn::Set(d, scale), highest_v = hn::Set(d, highest);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t k = 0; k < count; k += lanes) {
    hn::StoreU(hn::Mul(hn::Sub(hn::LoadU(d, row + k), highest_v), scale_v), d, row + k);
  }
}

/// row[0..count) becomes use(k, exp(scale * score - shift)), and row[count..end) use(k, 0), up to whole
/// vectors. Gives the sum of the exponentials, lane by lane.
template <class D, typename T, class Use>
HWY_INLINE hn::Vec<D> exponentials(D d, T* row, int64_t count, int64_t end, T scale, T shift,
                                   const Use& use) {
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

/// delta_q = dO_q . O_q, the sum over the keys of P dP.
template <typename T>
HWY_INLINE T dot_output(const AttentionBackwardArguments<T>& b, const Head<T>& h, int64_t q) {
  const T *output = h.output(q), *upstream = doutput_row(b, h, q);
  prefetch_behind(output, h.a.value_width);
  return sum_over(hn::ScalableTag<T>(), h.a.value_width,
                  [&](auto at, auto load) { return hn::Mul(load(output + at), load(upstream + at)); });
}

/// to = factor * from, or to += factor * from
template <typename T>
HWY_NOINLINE void give_rows(const T* from, int64_t from_stride, T factor, int64_t rows, int64_t width, T* to,
                            int64_t stride, bool add) {
  const hn::ScalableTag<T> d;
  for (int64_t row = 0; row < rows; ++row) {
    prefetch_behind(to + row * stride, width);
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
