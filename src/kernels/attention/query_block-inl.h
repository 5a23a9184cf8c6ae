// A block of queries and its running softmax, whatever multiplies: from scores to weights, and from what was
// mixed with them to the output. Included once for each instruction set.

#if defined(HEED_KERNELS_QUERY_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_QUERY_BLOCK_INL_H_
#undef HEED_KERNELS_QUERY_BLOCK_INL_H_
#else
#define HEED_KERNELS_QUERY_BLOCK_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/attention-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Queries of a block, at most.
constexpr int64_t kMostQueries = 48;
// A softmax may subtract any number near the largest score, as long as no exponential overflows: what was
// mixed so far is rescaled only when a score exceeds that number by more than this.
constexpr int kHeadroom = 16;

/// A block of queries on its way through the blocks of keys.
template <typename T>
struct QueryBlock {
  int64_t begin, rows;
  int64_t width;  ///< of a row of `mix`: whole vectors
  T* mix;         ///< (rows, width): sum of exp(score - shift) value
  T* sum;         ///< (rows, lanes of a vector): sum of exp(score - shift), lane by lane
  T* highest;     ///< a score: the largest so far, or less by at most kHeadroom / scale
  T* shift;       ///< scale * highest
  T* scores;      ///< (rows, stride) of a block of keys
  int64_t stride;
};

/// Before the first keys of each row.
template <typename T>
void begin_shifts(const QueryBlock<T>& block) {
  std::fill_n(block.highest, block.rows, -std::numeric_limits<T>::infinity());
  std::fill_n(block.shift, block.rows, -std::numeric_limits<T>::infinity());
}

/// What was added up with one shift goes on with a larger one, that of `highest`.
template <typename T>
void raise_shift(QueryBlock<T>& block, int64_t row, T highest, T scale) {
  const hn::ScalableTag<T> d;
  const T before = block.shift[row], highest_before = block.highest[row], shift = highest * scale;
  block.highest[row] = highest;
  block.shift[row] = shift;
  if (before == -std::numeric_limits<T>::infinity()) return;  // nothing was added up
  const bool large = is_large(shift) || is_large(before);
  const auto correction = hn::Set(d, std::exp(large ? (highest_before - highest) * scale : before - shift));
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::StoreU(hn::Mul(hn::LoadU(d, block.sum + row * lanes), correction), d, block.sum + row * lanes);
  T* mix = block.mix + row * block.width;
  for (int64_t at = 0; at < block.width; at += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, mix + at), correction), d, mix + at);
  }
}

/// Whether no exponential of a row overflows where `score` is its largest one.
template <typename T>
HWY_INLINE bool fits(const QueryBlock<T>& block, int64_t row, T score, T scale) {
  const T shift = score * scale;
  if (is_large(shift)) return (score - block.highest[row]) * scale <= kHeadroom;
  return shift <= block.shift[row] + kHeadroom;
}

/// The number that the softmax subtracts, for four rows from `row` on, or those that there are, and keys [k0,
/// k0 + count).
template <typename T>
void find_maxima(const Head<T>& h, QueryBlock<T>& block, int64_t row, int64_t k0, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto visible = [&](int64_t i) { return h.visible(block.begin + row + i, k0, count); };
  const auto largest = [&](int64_t i) {
    const int64_t last = std::min(i, block.rows - 1 - row);  // again where there are fewer than four
    return largest_lanes(d, block.scores + (row + last) * block.stride, visible(last));
  };
  T highest[4];
  reduce_four(
      d, largest(0), largest(1), largest(2), largest(3), [](auto x, auto y) { return hn::Max(x, y); },
      highest);
  for (int64_t i = 0; i < 4 && row + i < block.rows; ++i) {
    if (visible(i) > 0 && !fits(block, row + i, highest[i], h.a.scale)) {
      raise_shift(block, row + i, highest[i], h.a.scale);
    }
  }
}

/// The scale and the shift with which the scores of a row go to the exponential function. A row with a large
/// shift has its scores of `visible` keys replaced by differences first.
template <typename T>
struct ScaleAndShift {
  T scale, shift;
};
template <typename T>
HWY_NOINLINE ScaleAndShift<T> prepare_large_scores(const Head<T>& h, const QueryBlock<T>& block, int64_t row,
                                                   int64_t visible) {
  subtract_highest(hn::ScalableTag<T>(), block.scores + row * block.stride, visible, h.a.scale,
                   block.highest[row]);
  return {1, 0};
}
template <typename T>
HWY_INLINE ScaleAndShift<T> prepare_scores(const Head<T>& h, const QueryBlock<T>& block, int64_t row,
                                           int64_t visible) {
  if (is_large(block.shift[row])) return prepare_large_scores(h, block, row, visible);
  return {h.a.scale, block.shift[row]};
}

/// divide(row, factor) for each row, with the factor that divides by its sum; and the logarithms of the sums
/// for the backward pass.
template <typename T, class Divide>
void divide_by_sums(const Head<T>& h, const QueryBlock<T>& block, const Divide& divide) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T total[kMostQueries] = {}, logarithm[kMostQueries];
  for (int64_t row = 0; row < block.rows; row += 4) {
    const auto sum = [&](int64_t i) {
      return hn::LoadU(d, block.sum + std::min(row + i, block.rows - 1) * lanes);
    };
    reduce_four(
        d, sum(0), sum(1), sum(2), sum(3), [](auto x, auto y) { return hn::Add(x, y); }, total + row);
  }
  for (int64_t r = 0; r < block.rows; ++r) {
    prefetch_behind(h.output(block.begin + r), h.a.value_width);
    divide(r, hn::Set(d, total[r] > 0 ? 1 / total[r] : total[r]));  // 0 where it sees nothing; or NaN
  }
  if (h.a.log_sum_exp == nullptr) return;
  for (int64_t r = 0; r < block.rows; r += lanes) {
    hn::StoreU(hn::Log(d, hn::LoadU(d, total + r)), d, logarithm + r);
  }
  for (int64_t r = 0; r < block.rows; ++r) h.log_sum_exp(block.begin + r) = block.shift[r] + logarithm[r];
}

/// The mix divided by the sums becomes the output.
template <typename T>
void finish(const Head<T>& h, const QueryBlock<T>& block) {
  divide_by_sums(h, block, [&](int64_t row, auto factor) {
    T* output = h.output(block.begin + row);
    for_each_vector(hn::ScalableTag<T>(), h.a.value_width, [&](auto at, auto load, auto store) {
      store(hn::Mul(load(block.mix + row * block.width + at), factor), output + at);
    });
  });
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
