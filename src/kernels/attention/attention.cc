#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "kernels/attention/amx/attention_amx.h"
#include "kernels/simd/simd.h"
#include "kernels/thresholds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/attention/online_softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// Keys and values of a block of keys, and the scores of a block of queries, fit L1.
constexpr int64_t kQueryBlock = 48;  // a multiple of the vector length
static_assert(kQueryBlock <= kMaxQueryBlock);
constexpr int64_t kKeyBlock = 128;

/// The scores of a block of queries and one of keys, with a soft cap or a window.
template <typename T>
HWY_NOINLINE void restrict_scores(const Head<T>& h, const QueryBlock<T>& block, int64_t k0, int64_t count) {
  const hn::ScalableTag<T> d;
  for (int64_t row = 0; row < block.rows; ++row) {
    T* const scores = block.scores + row * block.stride;
    const int64_t q = block.begin + row, visible = h.visible(q, k0, count);
    if (h.a.score_cap > 0) cap_scores(d, scores, visible, h.a.scale / h.a.score_cap);
    if (visible > 0) std::fill_n(scores, h.hidden(q, k0), -std::numeric_limits<T>::infinity());
  }
}

/// P from S, for keys [k0, k0 + count): weights that are not yet divided by their sum. `first`: of the first
/// block of keys.
template <typename T>
void scores_to_weights(const Head<T>& h, QueryBlock<T>& block, int64_t k0, int64_t count, bool first,
                       DropoutReader& dropout) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto kept = hn::Set(d, static_cast<T>(h.a.dropout.scale()));
  for (int64_t row = 0; row < block.rows; ++row) {
    if (row % 4 == 0) update_maxima(h, block, row, k0, count);
    T* const scores = block.scores + row * block.stride;
    const int64_t visible = h.visible(block.begin + row, k0, count);
    const auto [scale, shift] = prepare_scores(h, block, row, visible);
    auto more = hn::Zero(d);
    if (!h.a.dropout.active()) {
      more = exp_row(d, scores, visible, count, scale, shift, [](auto, auto weight) { return weight; });
    } else {
      uint64_t mask[kKeyBlock / kDropoutWordBits] = {};
      dropout.read(h.dropout_begin(block.begin + row) + k0, visible, mask);
      more = exp_row(d, scores, visible, count, scale, shift,
                     [&](auto k, auto weight) { return hn::Mul(weight, dropout_factors(d, mask, k, kept)); });
    }
    // The exponential of minus infinity is not quite 0.
    if (visible > 0) std::fill_n(scores, h.hidden(block.begin + row, k0), T{0});
    T* const sum = block.sum + row * lanes;
    hn::StoreU(first ? more : hn::Add(hn::LoadU(d, sum), more), d, sum);
  }
}

/// Divides the weights of a block that sees no keys but [k0, k0 + count) by their sums, so that P V is the
/// output.
template <typename T>
void normalize_weights(const Head<T>& h, const QueryBlock<T>& block, int64_t k0, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  divide_by_sums(h, block, [&](int64_t row, auto factor) {
    T* const weights = block.scores + row * block.stride;
    const int64_t visible = h.visible(block.begin + row, k0, count);
    for (int64_t k = 0; k < visible; k += lanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, weights + k), factor), d, weights + k);
    }
  });
}

template <typename T>
void attend_head(const Head<T>& h, Scratch<T>& scratch) {
  const AttentionArguments<T>& a = h.a;
  const int64_t queries = h.span.queries(), keys = h.span.keys();
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const int64_t width = round_up(a.value_width, lanes), columns = round_up(keys, panel_width<T>());
  scratch.reserve(Scratch<T>::padded(columns * a.key_width) + Scratch<T>::padded(keys * width) +
                  kQueryBlock * (kKeyBlock + width + 18));
  const auto keys_t =
      pack_b_transposed(h.key(0), a.key_stride, keys, a.key_width, scratch.allocate(columns * a.key_width));
  const auto values = pack_b(h.value(0), a.value_stride, keys, a.value_width, scratch.allocate(keys * width));
  QueryBlock<T> block{};
  block.width = width;
  block.output_sum = scratch.allocate(kQueryBlock * width);
  block.sum = scratch.allocate(kQueryBlock * 16);
  block.row_max = scratch.allocate(kQueryBlock);
  block.shift = scratch.allocate(kQueryBlock);
  block.scores = scratch.allocate(kQueryBlock * kKeyBlock);
  block.stride = kKeyBlock;
  DropoutReader dropout(a.dropout);
  const bool restricted = a.score_cap > 0 || !h.span.fits_in(a.causal, a.window);

  for (block.begin = 0; block.begin < queries; block.begin += kQueryBlock) {
    block.rows = std::min(kQueryBlock, queries - block.begin);
    begin_shifts(block);
    const int64_t key_begin = h.first_block(block.begin, kKeyBlock);
    const int64_t key_end = h.end_key(block.begin + block.rows - 1);
    // All keys are in one block, and rows of the output are whole vectors: P V goes to the output directly.
    const bool at_once = key_end > 0 && key_end - key_begin <= kKeyBlock && width == a.value_width;
    T* const output = at_once ? h.output(block.begin) : block.output_sum;
    const int64_t stride = at_once ? a.output_stride : width;
    if (key_end == 0) {  // no keys are visible
      std::fill_n(block.sum, block.rows * lanes, T{0});
      std::fill_n(block.output_sum, block.rows * width, T{0});
    }
    for (int64_t k0 = key_begin; k0 < key_end; k0 += kKeyBlock) {
      const int64_t count = std::min(kKeyBlock, key_end - k0);
      // The last query of MR rows sees the most keys.
      const auto seen = [&](int64_t row, int64_t rows) {
        return h.end_in_block(block.begin + row + rows - 1, k0, count);
      };
      for_each_mr(block.rows, [&](int64_t row, int64_t rows) {
        for (int64_t r = row; k0 == key_begin && r < row + rows; ++r) {
          prefetch_next_head(h.query(block.begin + r), a.key_width);
        }
        small_gemm<false, T>({.rows = rows,
                              .columns = seen(row, rows),
                              .depth = a.key_width,
                              .a = h.query(block.begin + row),
                              .a_stride = a.query_stride,
                              .b = keys_t.from_column(k0),
                              .c = block.scores + row * kKeyBlock,
                              .c_stride = kKeyBlock});
      });
      if (restricted) restrict_scores(h, block, k0, count);
      scores_to_weights(h, block, k0, count, k0 == key_begin, dropout);
      if (at_once) normalize_weights(h, block, k0, count);
      for_each_mr(block.rows, [&](int64_t row, int64_t rows) {
        small_gemm<false, T>({.rows = rows,
                              .columns = width,
                              .depth = seen(row, rows),
                              .a = block.scores + row * kKeyBlock,
                              .a_stride = kKeyBlock,
                              .b = values.from_row(k0),
                              .c = output + row * stride,
                              .c_stride = stride,
                              .accumulate = k0 > key_begin});
      });
    }
    if (!at_once) write_output(h, block);
  }
}

template <typename T>
void attention(const AttentionArguments<T>& a) {
  HEED_CHECK(a.key_rows == nullptr || !a.dropout.active());
  thread_local Scratch<T> scratch;
  for (int64_t s = 0; s < a.span_count; ++s) {
    const AttentionSpan& span = a.spans[s];
    if (is_decode_attention(a, span) || a.key_rows != nullptr) {
      decode_attention<T, T>(a, span, {a.key, a.value, a.key_stride, a.value_stride});
      continue;
    }
    if constexpr (std::is_same_v<T, float>) {
      if (use_amx_attention(a, span)) {
        amx_attention(a, span);
        continue;
      }
    }
    for (int head = 0; head < a.heads; ++head) attend_head(Head<T>{a, span, head}, scratch);
  }
}

HEED_KERNEL(attention, AttentionArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(attention, AttentionArguments)
}  // namespace heed
#endif
