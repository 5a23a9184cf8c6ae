#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "kernels/attention/amx/attention_amx.h"
#include "kernels/attention/attention.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention_backward.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/attention/head-inl.h"
#include "kernels/simd/unroll-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// P and dP of a block of queries and one of keys stay in cache.
constexpr int64_t kBackwardQueries = 96;
constexpr int64_t kBackwardKeys = 128;

/// The logarithm of a weight is scale * score - shift, with log_sum_exp of the forward pass as shift. For a
/// large row (see kMaxShift), maximum and sum are computed again, and its scores are replaced by h.scale() *
/// (score - row_max); its scale is then 1, and its shift the logarithm of its sum.
template <typename T>
struct QueryRow {
  T delta;  ///< dO . O
  T scale, shift;
  bool large;
  T row_max, sum;  ///< of a large row
};

/// One head: packed operands, and the gradients that are accumulated.
template <typename T>
struct HeadBackward {
  const Head<T>& h;
  PackedB<T> keys, keys_t, values_t;
  int64_t key_width, value_width;  ///< whole vectors
  T* dkeys;                        ///< (keys, key_width), without the scale
  T* dvalues;                      ///< (keys, value_width)
  // Of a block of queries:
  T* dqueries;  ///< (queries, key_width), without the scale
  T* weights;   ///< (kBackwardQueries, kBackwardKeys): scores, then P, then P R
  T* dscores;   ///< the same: dO V^T, then dS
  T* slopes;    ///< the same: the derivatives of a soft cap, or null
  QueryRow<T>* rows;
  bool any_large;   ///< of the rows
  bool restricted;  ///< by a soft cap or a window
};

/// An upper bound of scale * sum over i of |q_i k_i| for all queries and keys of a head.
template <typename T>
T max_products(const Head<T>& h) {
  const hn::ScalableTag<T> d;
  const auto largest = [&](const auto& load, const T* column, int64_t stride, int64_t rows)
                           HEED_INLINE_LAMBDA {
                             auto found = hn::Zero(d);
                             for (int64_t row = 0; row < rows; ++row)
                               found = hn::Max(found, hn::Abs(load(column + row * stride)));
                             return found;
                           };
  const int64_t queries = h.span.queries(), keys = h.span.keys();
  const T *query = h.query(0), *key = h.key(0);
  return h.a.scale * sum_over(d, h.a.key_width, [&](auto at, auto load) HEED_INLINE_LAMBDA {
           return hn::Mul(largest(load, query + at, h.a.query_stride, queries),
                          largest(load, key + at, h.a.key_stride, keys));
         });
}

/// Whether the forward pass computed scores in another order of additions, and they are so large that it
/// matters. Then log_sum_exp does not fit the scores computed here.
template <typename T>
bool differs_from_forward(const Head<T>& h) {
  if (!is_decode_attention(h.a, h.span)) return false;
  return is_large(h.a.score_cap > 0 ? std::min(h.a.score_cap, max_products(h)) : max_products(h));
}

/// Whether query `q` sees keys and log_sum_exp is too inexact for its weights.
template <typename T>
bool is_large_row(const Head<T>& h, int64_t q) {
  return h.end_key(q) > 0 && is_large(h.log_sum_exp(q));
}

template <typename T>
bool has_large_rows(const Head<T>& h) {
  for (int64_t q = 0; q < h.span.queries(); ++q) {
    if (is_large_row(h, q)) return true;
  }
  return false;
}

/// The scores of queries [q0, q0 + rows) and `count` keys, with a soft cap or a window.
template <typename T>
HWY_NOINLINE void restrict_scores(const HeadBackward<T>& x, int64_t q0, int64_t rows, int64_t k0,
                                  int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto one = hn::Set(d, T{1});
  for (int64_t r = 0; r < rows; ++r) {
    T* const scores = x.weights + r * kBackwardKeys;
    const int64_t visible = x.h.visible(q0 + r, k0, count);
    if (x.slopes != nullptr) {  // tanh' = 1 - tanh^2
      cap_scores(d, scores, visible, x.h.a.scale / x.h.a.score_cap);
      for (int64_t k = 0; k < visible; k += lanes) {
        const auto capped = hn::LoadU(d, scores + k);
        hn::StoreU(hn::NegMulAdd(capped, capped, one), d, x.slopes + r * kBackwardKeys + k);
      }
    }
    if (visible > 0) std::fill_n(scores, x.h.hidden(q0 + r, k0), -std::numeric_limits<T>::infinity());
  }
}

/// Maxima and sums of the large rows of [q0, q0 + rows), which see keys in [key_begin, key_end).
template <typename T>
HWY_NOINLINE void sum_large_rows(const HeadBackward<T>& x, const PackedB<T>& queries, int64_t q0,
                                 int64_t rows, int64_t key_begin, int64_t key_end) {
  const hn::ScalableTag<T> d;
  const T scale = x.h.scale();
  for (int64_t r = 0; r < rows; ++r) {
    x.rows[r].row_max = -std::numeric_limits<T>::infinity();
    x.rows[r].sum = 0;
  }
  for (int64_t k0 = key_begin; k0 < key_end; k0 += kBackwardKeys) {
    const int64_t count = std::min(kBackwardKeys, key_end - k0);
    for_each_mr(rows, [&](int64_t row, int64_t mr) {
      small_gemm<false, T>({.rows = mr,
                            .columns = x.h.end_in_block(q0 + row + mr - 1, k0, count),
                            .depth = x.h.a.key_width,
                            .a = queries.data + row * queries.row_stride,
                            .a_stride = queries.row_stride,
                            .b = x.keys_t.from_column(k0),
                            .c = x.weights + row * kBackwardKeys,
                            .c_stride = kBackwardKeys});
    });
    if (x.restricted) restrict_scores(x, q0, rows, k0, count);
    for (int64_t r = 0; r < rows; ++r) {
      QueryRow<T>& row = x.rows[r];
      const int64_t visible = x.h.visible(q0 + r, k0, count);
      if (!row.large || visible == 0) continue;
      T* const scores = x.weights + r * kBackwardKeys;
      const T row_max =
          std::max(row.row_max, hn::GetLane(hn::MaxOfLanes(d, max_of_lanes(d, scores, visible))));
      subtract_max(d, scores, visible, scale, row_max);
      const auto more = exp_row(d, scores, visible, visible, T{1}, T{0}, [](auto, auto e) { return e; });
      const T before = row.sum > 0 ? row.sum * std::exp((row.row_max - row_max) * scale) : T{0};
      row.sum = before + sum_of_lanes(d, more);
      row.row_max = row_max;
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    if (!x.rows[r].large) continue;
    x.rows[r].scale = 1;
    x.rows[r].shift = std::log(x.rows[r].sum);
  }
}

/// The scores of large rows of a block become h.scale() * (score - row_max).
template <typename T>
HWY_NOINLINE void subtract_from_large_rows(const HeadBackward<T>& x, int64_t q0, int64_t rows, int64_t k0,
                                           int64_t count) {
  for (int64_t r = 0; r < rows; ++r) {
    if (!x.rows[r].large) continue;
    subtract_max(hn::ScalableTag<T>(), x.weights + r * kBackwardKeys, x.h.visible(q0 + r, k0, count),
                 x.h.scale(), x.rows[r].row_max);
  }
}

/// Of a query and `count` keys, of which it sees `visible`: P R and dS = P (dP - delta) from scores and dO
/// V^T.
template <typename T>
void differentiate_row(const HeadBackward<T>& x, DropoutReader& dropout, int64_t q, int64_t k0,
                       int64_t visible, int64_t count, const QueryRow<T>& row, T* p, T* s) {
  const hn::ScalableTag<T> d;
  const auto delta_v = hn::Set(d, row.delta);
  const T scale = row.scale, shift = visible > 0 ? row.shift : T{0};
  // dP of hidden keys, which is not computed or of no meaning, is multiplied by a weight of 0. It must be
  // finite.
  std::fill(s + visible, s + round_up(count, static_cast<int64_t>(hn::Lanes(d))), T{0});
  if (!x.h.a.dropout.active()) {
    exp_row(d, p, visible, count, scale, shift, [&](auto k, auto weight) {
      hn::StoreU(hn::Mul(weight, hn::Sub(hn::LoadU(d, s + k), delta_v)), d, s + k);
      return weight;
    });
    return;
  }
  uint64_t mask[kBackwardKeys / kDropoutWordBits] = {};
  dropout.read(x.h.dropout_begin(q) + k0, visible, mask);
  const auto kept = hn::Set(d, static_cast<T>(x.h.a.dropout.scale()));
  exp_row(d, p, visible, count, scale, shift, [&](auto k, auto weight) {
    const auto factor = dropout_factors(d, mask, k, kept);
    hn::StoreU(hn::Mul(weight, hn::MulSub(hn::LoadU(d, s + k), factor, delta_v)), d, s + k);
    return hn::Mul(weight, factor);
  });
}

/// The weights and dS of queries and keys that do not see each other are 0; dS goes through the soft cap.
template <typename T>
HWY_NOINLINE void restrict_gradients(const HeadBackward<T>& x, int64_t q0, int64_t rows, int64_t k0,
                                     int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t visible = x.h.visible(q0 + r, k0, count), at = r * kBackwardKeys;
    if (visible == 0) continue;
    const int64_t hidden = x.h.hidden(q0 + r, k0);
    std::fill_n(x.weights + at, hidden, T{0});
    std::fill_n(x.dscores + at, hidden, T{0});
    for (int64_t k = 0; x.slopes != nullptr && k < visible; k += lanes) {
      T* const ds = x.dscores + at + k;
      hn::StoreU(hn::Mul(hn::LoadU(d, ds), hn::LoadU(d, x.slopes + at + k)), d, ds);
    }
  }
}

/// The gradients between queries [q0, q0 + rows) and keys [k0, k0 + count).
template <typename T>
void differentiate_block(const HeadBackward<T>& x, DropoutReader& dropout, const PackedB<T>& queries,
                         const PackedB<T>& doutputs, int64_t q0, int64_t rows, int64_t k0, int64_t count) {
  const AttentionArguments<T>& a = x.h.a;
  const auto seen = [&](int64_t row, int64_t mr) { return x.h.end_in_block(q0 + row + mr - 1, k0, count); };
  for_each_mr(rows, [&](int64_t row, int64_t mr) {
    small_gemm<false, T>({.rows = mr,  // S = Q K^T
                          .columns = seen(row, mr),
                          .depth = a.key_width,
                          .a = queries.data + row * queries.row_stride,
                          .a_stride = queries.row_stride,
                          .b = x.keys_t.from_column(k0),
                          .c = x.weights + row * kBackwardKeys,
                          .c_stride = kBackwardKeys});
    small_gemm<false, T>({.rows = mr,  // dP = dO V^T
                          .columns = seen(row, mr),
                          .depth = a.value_width,
                          .a = doutputs.data + row * doutputs.row_stride,
                          .a_stride = doutputs.row_stride,
                          .b = x.values_t.from_column(k0),
                          .c = x.dscores + row * kBackwardKeys,
                          .c_stride = kBackwardKeys});
  });
  if (x.restricted) restrict_scores(x, q0, rows, k0, count);
  if (x.any_large) subtract_from_large_rows(x, q0, rows, k0, count);
  for (int64_t r = 0; r < rows; ++r) {
    differentiate_row(x, dropout, q0 + r, k0, x.h.visible(q0 + r, k0, count), count, x.rows[r],
                      x.weights + r * kBackwardKeys, x.dscores + r * kBackwardKeys);
  }
  if (x.restricted) restrict_gradients(x, q0, rows, k0, count);
  for_each_mr(rows, [&](int64_t row, int64_t mr) {
    small_gemm<false, T>({.rows = mr,  // dQ += dS K
                          .columns = x.key_width,
                          .depth = seen(row, mr),
                          .a = x.dscores + row * kBackwardKeys,
                          .a_stride = kBackwardKeys,
                          .b = x.keys.from_row(k0),
                          .c = x.dqueries + row * x.key_width,
                          .c_stride = x.key_width,
                          .accumulate = true});
  });
  for_each_mr(count, [&](int64_t k, int64_t mr) {
    // The queries before `first` and from `end` on see none of these keys.
    const int64_t first = std::clamp<int64_t>(k0 + k + 1 - x.h.end_key(q0), 0, rows);
    const int64_t last_key = k0 + k + mr - 1;
    const int64_t end = std::clamp(last_key + a.window.left + 1 - x.h.span.position(q0), first, rows);
    if (end == first) return;
    small_gemm<true, T>({.rows = mr,  // dV += (P R)^T dO
                         .columns = x.value_width,
                         .depth = end - first,
                         .a = x.weights + first * kBackwardKeys + k,
                         .a_stride = kBackwardKeys,
                         .b = doutputs.from_row(first),
                         .c = x.dvalues + (k0 + k) * x.value_width,
                         .c_stride = x.value_width,
                         .accumulate = true});
    small_gemm<true, T>({.rows = mr,  // dK += dS^T Q
                         .columns = x.key_width,
                         .depth = end - first,
                         .a = x.dscores + first * kBackwardKeys + k,
                         .a_stride = kBackwardKeys,
                         .b = queries.from_row(first),
                         .c = x.dkeys + (k0 + k) * x.key_width,
                         .c_stride = x.key_width,
                         .accumulate = true});
  });
}

// With P the weights, R the dropout mask, O the output and delta_q = dO_q . O_q:
//   dV = (P R)^T dO;  dP = (dO V^T) R;  dS = P (dP - delta);  dQ = scale dS K;  dK = scale dS^T Q
template <typename T>
void attention_backward_head(const AttentionBackwardArguments<T>& b, const Head<T>& h, Scratch<T>& scratch) {
  const AttentionArguments<T>& a = h.a;
  const int64_t queries = h.span.queries(), keys = h.span.keys();
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t key_width = round_up(a.key_width, lanes), value_width = round_up(a.value_width, lanes);
  const int64_t columns = round_up(keys, panel_width<T>());
  const auto padded = [](int64_t size) { return Scratch<T>::padded(size); };
  scratch.reserve(padded(keys * key_width) * 2 + padded(keys * value_width) + padded(columns * a.key_width) +
                  padded(columns * a.value_width) +
                  kBackwardQueries * (2 * key_width + value_width + 3 * kBackwardKeys) + 64);
  QueryRow<T> query_rows[kBackwardQueries];
  HeadBackward<T> x{h, {}, {}, {}, key_width, value_width, {}, {}, {}, {}, {}, {}, query_rows, false, false};
  x.restricted = a.score_cap > 0 || !h.span.fits_in(a.causal, a.window);
  x.keys = pack_b(h.key(0), a.key_stride, keys, a.key_width, scratch.allocate(keys * key_width));
  x.keys_t =
      pack_b_transposed(h.key(0), a.key_stride, keys, a.key_width, scratch.allocate(columns * a.key_width));
  x.values_t = pack_b_transposed(h.value(0), a.value_stride, keys, a.value_width,
                                 scratch.allocate(columns * a.value_width));
  x.dkeys = scratch.allocate(keys * key_width);
  x.dvalues = scratch.allocate(keys * value_width);
  x.dqueries = scratch.allocate(kBackwardQueries * key_width);
  x.weights = scratch.allocate(kBackwardQueries * kBackwardKeys);
  x.dscores = scratch.allocate(kBackwardQueries * kBackwardKeys);
  x.slopes = a.score_cap > 0 ? scratch.allocate(kBackwardQueries * kBackwardKeys) : nullptr;
  T* query_block = scratch.allocate(kBackwardQueries * key_width);
  T* doutput_block = scratch.allocate(kBackwardQueries * value_width);
  std::fill_n(x.dkeys, keys * key_width, T{0});
  std::fill_n(x.dvalues, keys * value_width, T{0});
  DropoutReader dropout(a.dropout);
  const bool all_large = differs_from_forward(h);

  for (int64_t q0 = 0; q0 < queries; q0 += kBackwardQueries) {
    const int64_t rows = std::min(kBackwardQueries, queries - q0);
    x.any_large = false;
    for (int64_t r = 0; r < rows; ++r) {
      const bool large = all_large || is_large_row(h, q0 + r);
      query_rows[r].delta = dot_output(b, h, q0 + r);
      query_rows[r].scale = h.scale();
      query_rows[r].shift = h.log_sum_exp(q0 + r);
      query_rows[r].large = large;
      x.any_large = x.any_large || large;
    }
    const auto block = pack_b(h.query(q0), a.query_stride, rows, a.key_width, query_block);
    const auto doutputs = pack_b(doutput_row(b, h, q0), b.doutput_stride, rows, a.value_width, doutput_block);
    std::fill_n(x.dqueries, rows * key_width, T{0});
    const int64_t key_begin = h.first_block(q0, kBackwardKeys), key_end = h.end_key(q0 + rows - 1);
    if (x.any_large) sum_large_rows(x, block, q0, rows, key_begin, key_end);
    for (int64_t k0 = key_begin; k0 < key_end; k0 += kBackwardKeys) {
      differentiate_block(x, dropout, block, doutputs, q0, rows, k0, std::min(kBackwardKeys, key_end - k0));
    }
    store_scaled_rows(x.dqueries, key_width, a.scale, rows, a.key_width, dquery_row(b, h, q0),
                      b.dquery_stride, b.add_to_dquery);
  }
  store_scaled_rows(x.dkeys, key_width, a.scale, keys, a.key_width,
                    b.dkey + h.span.key_begin * b.dkey_stride + h.key_value_head * a.key_width, b.dkey_stride,
                    b.add_to_dkey);
  store_scaled_rows(x.dvalues, value_width, T{1}, keys, a.value_width,
                    b.dvalue + h.span.key_begin * b.dvalue_stride + h.key_value_head * a.value_width,
                    b.dvalue_stride, b.add_to_dvalue);
}

template <typename T>
void attention_backward(const AttentionBackwardArguments<T>& b) {
  HEED_CHECK(b.forward.key_rows == nullptr);
  const bool shared = b.forward.key_value_heads != 0 && b.forward.key_value_heads != b.forward.heads;
  HEED_CHECK(!shared || (b.add_to_dkey && b.add_to_dvalue));
  thread_local Scratch<T> scratch;
  for (int64_t s = 0; s < b.forward.span_count; ++s) {
    for (int head = 0; head < b.forward.heads; ++head) {
      const Head<T> h{b.forward, b.forward.spans[s], head};
      if constexpr (std::is_same_v<T, float>) {
        if (use_amx_attention(b.forward, h.span) && !has_large_rows(h)) {
          amx_attention_backward(b, h.span, head);
          continue;
        }
      }
      attention_backward_head(b, h, scratch);
    }
  }
}

HEED_KERNEL(attention_backward, AttentionBackwardArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(attention_backward, AttentionBackwardArguments)
}  // namespace heed
#endif
