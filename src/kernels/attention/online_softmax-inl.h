// The online softmax of a block of queries, shared by the vector and the AMX kernel (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018; FlashAttention: Dao et al., 2022). For each block of
// keys,
//
//   m' = max(m, scores),   l' = l e^(m - m') + sum e^(score - m'),   O' = O e^(m - m') + sum e^(score - m') V
//
// and the output is O / l. Included once for each instruction set.

#if defined(HEED_KERNELS_ONLINE_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ONLINE_SOFTMAX_INL_H_
#undef HEED_KERNELS_ONLINE_SOFTMAX_INL_H_
#else
#define HEED_KERNELS_ONLINE_SOFTMAX_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/head-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Queries of a block at most.
constexpr int64_t kMaxQueryBlock = 48;
// Any m near the largest score will do, as long as no exponential overflows: m is raised, and l and O are
// rescaled, only when an exponent would exceed this.
constexpr int kMaxExponent = 16;

/// A block of queries and its state between blocks of keys.
template <typename T>
struct QueryBlock {
  int64_t begin, rows;
  int64_t width;  ///< of a row of output_sum: whole vectors
  T* output_sum;  ///< O: (rows, width), sum of exp(scale score - shift) value
  T* sum;         ///< l: (rows, lanes of a vector), sum of exp(scale score - shift), lane by lane
  T* row_max;     ///< the largest score so far, or less by at most kMaxExponent / scale
  T* shift;       ///< m: scale * row_max
  T* scores;      ///< (rows, stride) of a block of keys
  int64_t stride;
};

/// m before the first keys.
template <typename T>
void begin_shifts(const QueryBlock<T>& block) {
  std::fill_n(block.row_max, block.rows, -std::numeric_limits<T>::infinity());
  std::fill_n(block.shift, block.rows, -std::numeric_limits<T>::infinity());
}

/// Raises m of a row and rescales l and O.
template <typename T>
void raise_shift(QueryBlock<T>& block, int64_t row, T row_max, T scale) {
  const hn::ScalableTag<T> d;
  const T before = block.shift[row], max_before = block.row_max[row], shift = row_max * scale;
  block.row_max[row] = row_max;
  block.shift[row] = shift;
  if (before == -std::numeric_limits<T>::infinity()) return;  // l and O are still 0
  const bool large = is_large(shift) || is_large(before);
  const auto correction = hn::Set(d, std::exp(large ? (max_before - row_max) * scale : before - shift));
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::StoreU(hn::Mul(hn::LoadU(d, block.sum + row * lanes), correction), d, block.sum + row * lanes);
  T* output_sum = block.output_sum + row * block.width;
  for (int64_t at = 0; at < block.width; at += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, output_sum + at), correction), d, output_sum + at);
  }
}

/// Whether m of a row can stay as it is with `score` as the largest one.
template <typename T>
HWY_INLINE bool fits(const QueryBlock<T>& block, int64_t row, T score, T scale) {
  const T shift = score * scale;
  if (is_large(shift)) return (score - block.row_max[row]) * scale <= kMaxExponent;
  return shift <= block.shift[row] + kMaxExponent;
}

/// m with keys [k0, k0 + count), for at most four rows from `row` on.
template <typename T>
void update_maxima(const Head<T>& h, QueryBlock<T>& block, int64_t row, int64_t k0, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto visible = [&](int64_t i) { return h.visible(block.begin + row + i, k0, count); };
  const auto largest = [&](int64_t i) {
    const int64_t r = std::min(i, block.rows - 1 - row);  // repeats the last row
    return max_of_lanes(d, block.scores + (row + r) * block.stride, visible(r));
  };
  T row_max[4];
  reduce_four(
      d, largest(0), largest(1), largest(2), largest(3), [](auto x, auto y) { return hn::Max(x, y); },
      row_max);
  for (int64_t i = 0; i < 4 && row + i < block.rows; ++i) {
    if (visible(i) > 0 && !fits(block, row + i, row_max[i], h.scale())) {
      raise_shift(block, row + i, row_max[i], h.scale());
    }
  }
}

/// Weights are exp(scale score - shift). In a row with a large shift, the scores of `visible` keys are first
/// replaced by their differences from the maximum.
template <typename T>
struct ScaleAndShift {
  T scale, shift;
};
template <typename T>
HWY_NOINLINE ScaleAndShift<T> prepare_large_scores(const Head<T>& h, const QueryBlock<T>& block, int64_t row,
                                                   int64_t visible) {
  subtract_max(hn::ScalableTag<T>(), block.scores + row * block.stride, visible, h.scale(),
               block.row_max[row]);
  return {1, 0};
}
template <typename T>
HWY_INLINE ScaleAndShift<T> prepare_scores(const Head<T>& h, const QueryBlock<T>& block, int64_t row,
                                           int64_t visible) {
  if (is_large(block.shift[row])) return prepare_large_scores(h, block, row, visible);
  return {h.scale(), block.shift[row]};
}

/// divide(row, factor) for each row, with the factor 1 / l; and writes log-sum-exp for the backward pass.
template <typename T, class Divide>
void divide_by_sums(const Head<T>& h, const QueryBlock<T>& block, const Divide& divide) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T total[kMaxQueryBlock] = {}, logarithm[kMaxQueryBlock];
  for (int64_t row = 0; row < block.rows; row += 4) {
    const auto sum = [&](int64_t i) {
      return hn::LoadU(d, block.sum + std::min(row + i, block.rows - 1) * lanes);
    };
    reduce_four(
        d, sum(0), sum(1), sum(2), sum(3), [](auto x, auto y) { return hn::Add(x, y); }, total + row);
  }
  for (int64_t r = 0; r < block.rows; ++r) {
    prefetch_next_head(h.output(block.begin + r), h.a.value_width);
    divide(r, hn::Set(d, total[r] > 0 ? 1 / total[r] : total[r]));  // 0 without visible keys; NaN stays NaN
  }
  if (h.a.log_sum_exp == nullptr) return;
  for (int64_t r = 0; r < block.rows; r += lanes) {
    hn::StoreU(hn::Log(d, hn::LoadU(d, total + r)), d, logarithm + r);
  }
  for (int64_t r = 0; r < block.rows; ++r) h.log_sum_exp(block.begin + r) = block.shift[r] + logarithm[r];
}

/// Writes the output, O / l.
template <typename T>
void write_output(const Head<T>& h, const QueryBlock<T>& block) {
  divide_by_sums(h, block, [&](int64_t row, auto factor) {
    T* output = h.output(block.begin + row);
    for_each_vector(hn::ScalableTag<T>(), h.a.value_width, [&](auto at, auto load, auto store) {
      store(hn::Mul(load(block.output_sum + row * block.width + at), factor), output + at);
    });
  });
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
