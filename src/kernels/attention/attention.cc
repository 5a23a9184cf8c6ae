#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/attention/amx/attention_registers-inl.h"
#include "kernels/attention/amx/worth_registers-inl.h"
#include "kernels/attention/few_queries-inl.h"
#include "kernels/attention/query_block-inl.h"
#include "kernels/simd/half_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

// Keys and values of a block of keys, and the scores of a block of queries, share the first-level cache.
constexpr int64_t kQueryBlock = 48;  // a whole number of vectors
static_assert(kQueryBlock <= kMostQueries);
constexpr int64_t kKeyBlock = 128;
/// The largest number that 16 bits hold.
constexpr float kLargestHalf = 65504;

// ---- Many queries -----------------------------------------------------------------------------------------

/// Scores of keys [k0, k0 + count) become weights, up to the sum that they are divided by at the end.
template <typename T>
void weigh(const Head<T>& h, QueryBlock<T>& block, int64_t k0, int64_t count, DropoutReader& dropout) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto kept = hn::Set(d, static_cast<T>(h.a.dropout.scale()));
  for (int64_t row = 0; row < block.rows; ++row) {
    if (row % 4 == 0) find_maxima(h, block, row, k0, count);
    T* const scores = block.scores + row * block.stride;
    const int64_t visible = h.visible(block.begin + row, k0, count);
    const auto [scale, shift] = prepare_scores(h, block, row, visible);
    auto more = hn::Zero(d);
    if (!h.a.dropout.active()) {
      more = exponentials(d, scores, visible, count, scale, shift, [](auto, auto weight) { return weight; });
    } else {
      uint64_t mask[kKeyBlock / kDropoutWordBits] = {};
      dropout.read(h.mask_begin(block.begin + row) + k0, visible, mask);
      more = exponentials(d, scores, visible, count, scale, shift, [&](auto k, auto weight) {
        return hn::Mul(weight, dropout_factors(d, mask, k, kept));
      });
    }
    T* const sum = block.sum + row * lanes;
    hn::StoreU(k0 == 0 ? more : hn::Add(hn::LoadU(d, sum), more), d, sum);
  }
}

/// Divides the weights of all `count` keys that a block sees by their sum, so that what they mix is the
/// output.
template <typename T>
void divide_weights(const Head<T>& h, const QueryBlock<T>& block, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  divide_by_sums(h, block, [&](int64_t row, auto factor) {
    T* const weights = block.scores + row * block.stride;
    const int64_t visible = h.visible(block.begin + row, 0, count);
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
  scratch.begin(Scratch<T>::lines(columns * a.key_width) + Scratch<T>::lines(keys * width) +
                kQueryBlock * (kKeyBlock + width + 18));
  const auto keys_as_columns =
      pack_transposed(h.key(0), a.key_stride, keys, a.key_width, scratch.take(columns * a.key_width));
  const auto values = pack(h.value(0), a.value_stride, keys, a.value_width, scratch.take(keys * width));
  QueryBlock<T> block{};
  block.width = width;
  block.mix = scratch.take(kQueryBlock * width);
  block.sum = scratch.take(kQueryBlock * 16);
  block.highest = scratch.take(kQueryBlock);
  block.shift = scratch.take(kQueryBlock);
  block.scores = scratch.take(kQueryBlock * kKeyBlock);
  block.stride = kKeyBlock;
  DropoutReader dropout(a.dropout);

  for (block.begin = 0; block.begin < queries; block.begin += kQueryBlock) {
    block.rows = std::min(kQueryBlock, queries - block.begin);
    begin_shifts(block);
    const int64_t reach = visible_keys(h.span, a.causal, block.begin + block.rows - 1);
    // All keys are in one block, and whole vectors are as wide as the output.
    const bool at_once = reach > 0 && reach <= kKeyBlock && width == a.value_width;
    T* const mix = at_once ? h.output(block.begin) : block.mix;
    const int64_t stride = at_once ? a.output_stride : width;
    if (reach == 0) {  // no block sets these
      std::fill_n(block.sum, block.rows * lanes, T{0});
      std::fill_n(block.mix, block.rows * width, T{0});
    }
    for (int64_t k0 = 0; k0 < reach; k0 += kKeyBlock) {
      const int64_t count = std::min(kKeyBlock, reach - k0);
      // The last query of a tile sees the most.
      const auto seen = [&](int64_t row, int64_t rows) {
        return h.visible(block.begin + row + rows - 1, k0, count);
      };
      for_each_tile(block.rows, [&](int64_t row, int64_t rows) {
        for (int64_t r = row; k0 == 0 && r < row + rows; ++r) {
          prefetch_behind(h.query(block.begin + r), a.key_width);
        }
        multiply_rows<false>(rows, seen(row, rows), a.key_width, h.query(block.begin + row), a.query_stride,
                             keys_as_columns.from_column(k0), block.scores + row * kKeyBlock, kKeyBlock,
                             false);
      });
      weigh(h, block, k0, count, dropout);
      if (at_once) divide_weights(h, block, count);
      for_each_tile(block.rows, [&](int64_t row, int64_t rows) {
        multiply_rows<false>(rows, width, seen(row, rows), block.scores + row * kKeyBlock, kKeyBlock,
                             values.from_row(k0), mix + row * stride, stride, k0 > 0);
      });
    }
    if (!at_once) finish(h, block);
  }
}

template <typename T>
void attention(const AttentionArguments<T>& a) {
  HEED_CHECK(a.key_rows == nullptr || !a.dropout.active());
  thread_local Scratch<T> scratch;
  for (int64_t s = 0; s < a.span_count; ++s) {
    const AttentionSpan& span = a.spans[s];
    const bool few = span.queries() <= kFewQueries && !a.dropout.active();
    if (few || a.key_rows != nullptr) {
      attend_few_queries(FewQueries<T, T>(a, span, {a.key, a.value, a.key_stride, a.value_stride}), scratch);
      continue;
    }
#if HEED_AMX && HWY_TARGET == HWY_AVX3
    if constexpr (std::is_same_v<T, float>) {
      if (worth_registers(a, span)) {
        attend_on_registers(a, span, scratch);
        continue;
      }
    }
#endif
    for (int head = 0; head < a.heads; ++head) attend_head(Head<T>{a, span, head}, scratch);
  }
}

HEED_KERNEL(attention, AttentionArguments)

void half_attention(const AttentionArguments<float>& a, const HalfKeysAndValues& cached) {
  HEED_CHECK(!a.dropout.active());
  thread_local Scratch<float> scratch;
  for (int64_t s = 0; s < a.span_count; ++s) {
    attend_few_queries(FewQueries<float, uint16_t>(a, a.spans[s], cached), scratch);
  }
}

void floats_to_halves(const float* floats, int64_t size, uint16_t* halves) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto largest = hn::Set(d, kLargestHalf), lowest = hn::Set(d, -kLargestHalf);
  const auto convert = [&](const float* from, uint16_t* to) {
    // Not Min() and Max(), which on some instruction sets make a number of what is none.
    const auto x = hn::LoadU(d, from);
    const auto finite =
        hn::IfThenElse(hn::Gt(x, largest), largest, hn::IfThenElse(hn::Lt(x, lowest), lowest, x));
    store_halves(d, finite, to);
  };
  int64_t at = 0;
  for (; at + lanes <= size; at += lanes) convert(floats + at, halves + at);
  if (at == size) return;
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
HEED_DISPATCH(attention, AttentionArguments)
HEED_EXPORT(half_attention);
HEED_EXPORT(floats_to_halves);

void attention(const AttentionArguments<float>& arguments, const HalfKeysAndValues& cached) {
  HEED_SELECT(half_attention)(arguments, cached);
}

void floats_to_halves(const float* floats, int64_t size, uint16_t* halves) {
  HEED_SELECT(floats_to_halves)(floats, size, halves);
}
}  // namespace heed
#endif
