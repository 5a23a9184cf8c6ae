// Attention on matrix registers: the products of attention.h in float32 by parts (bfloat16_parts-inl.h).
//
// Keys and values are split once a head, queries once a block of them, and weights where the exponentials are
// made. Included once for each instruction set.

#if defined(HEED_KERNELS_ATTENTION_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_REGISTERS_INL_H_
#undef HEED_KERNELS_ATTENTION_REGISTERS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_REGISTERS_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "kernels/attention/amx/softmax_in_pieces-inl.h"
#include "kernels/attention/amx/take_turns-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// One head, a slice of its keys and values after the other.
class HeadOnRegisters {
 public:
  HeadOnRegisters(const Head<float>& h, Scratch<float>& scratch, Scratch<uint32_t>& groups)
      : h_(h), a_(h.a), dropout_(h.a.dropout), queries_(h.span.queries()), width_(h.a.value_width) {
    const int64_t keys = std::min(h.span.keys(), kSliceKeys), rows = round_up(queries_, kTile);
    scratch.begin(rows * (width_ + 2 * kRowGroups) + 2 * kTile * kRegisterKeys);
    groups.begin(split_groups(keys, a_.key_width) + split_groups(width_, keys) +
                 2 * (split_groups(kTile, a_.key_width) + split_groups(kTile, kRegisterKeys)));
    const auto by_line = [&](int64_t lines, int64_t inputs) {
      return SplitFactor::by_line(groups.take(split_groups(lines, inputs)), inputs);
    };
    keys_as_columns_ = by_line(keys, a_.key_width);
    values_ = SplitFactor::by_input(groups.take(split_groups(width_, keys)), width_);
    mix_ = scratch.take(rows * width_);
    sum_ = scratch.take(rows * kRowGroups);
    highest_ = scratch.take(rows);
    shift_ = scratch.take(rows);
    for (QueryTile& tile : tiles_) {
      tile.queries = by_line(kTile, a_.key_width);
      tile.weights = by_line(kTile, kRegisterKeys);
      tile.block.width = width_;
      tile.block.scores = scratch.take(kTile * kRegisterKeys);
      tile.block.stride = kRegisterKeys;
    }
  }

  void attend() {
    for (begin_ = 0; begin_ < h_.span.keys(); begin_ = end_) {
      end_ = std::min(begin_ + kSliceKeys, h_.span.keys());
      const int64_t keys = end_ - begin_;
      split_factor({h_.key(begin_), a_.key_stride, false, true, keys, a_.key_width}, keys_as_columns_);
      split_factor({h_.value(begin_), a_.value_stride, false, false, width_, keys}, values_);
      next_query_ = 0;
      for (QueryTile& tile : tiles_) tile.begun = tile.done = false;
      take_turns(*this, &tiles_[0], &tiles_[1]);
    }
  }

  // For take_turns().
  template <class Body>
  bool multiply(QueryTile& tile, Body& meanwhile) {
    if (tile.begun) mix(tile, meanwhile);
    if (!(tile.begun ? go_on(tile) : begin_tile(tile))) return false;
    tile.begun = true;
    score(tile, meanwhile);
    return true;
  }
  int64_t calls(const QueryTile& tile) const {
    constexpr int64_t kCalls = AttentionNumbers::kPairs;  // for a step
    return std::max<int64_t>(1, tile.steps() * (width_ + a_.key_width) / kTile * kCalls);
  }
  SoftmaxInPieces work(QueryTile& tile) { return {h_, dropout_, tile}; }

 private:
  /// The next tile of queries that see keys of the slice; false where there is none.
  bool begin_tile(QueryTile& tile) {
    QueryBlock<float>& block = tile.block;
    do {
      if (next_query_ >= queries_) return false;
      block.begin = next_query_;
      block.rows = std::min(kTile, queries_ - next_query_);
      block.mix = mix_ + block.begin * width_;
      block.sum = sum_ + block.begin * kRowGroups;
      block.highest = highest_ + block.begin;
      block.shift = shift_ + block.begin;
      next_query_ += kTile;
      if (begin_ == 0) begin_sums(block);
      begin_keys(tile, begin_);
    } while (tile.count <= 0);
    split_factor({h_.query(block.begin), a_.query_stride, true, true, block.rows, a_.key_width},
                 tile.queries);
    return true;
  }
  void begin_sums(QueryBlock<float>& block) const {
    begin_shifts(block);
    if (reach_of(block) > 0) return;  // the first keys set the others
    std::fill_n(block.sum, block.rows * kRowGroups, 0.0f);
    std::fill_n(block.mix, block.rows * width_, 0.0f);
    finish(h_, block);
  }
  int64_t reach_of(const QueryBlock<float>& block) const {
    return visible_keys(h_.span, a_.causal, block.begin + block.rows - 1);
  }
  void begin_keys(QueryTile& tile, int64_t k0) const {
    tile.k0 = k0;
    tile.count = std::min(kRegisterKeys, std::min(end_, reach_of(tile.block)) - k0);
  }
  /// To the next block of keys, or the next tile.
  bool go_on(QueryTile& tile) {
    begin_keys(tile, tile.k0 + kRegisterKeys);
    if (tile.count > 0) return true;
    if (tile.k0 >= reach_of(tile.block)) finish(h_, tile.block);
    return begin_tile(tile);
  }

  template <class Body>
  HWY_INLINE void score(QueryTile& tile, Body& meanwhile) {
    for (int64_t k = 0; k < tile.count; k += kTile) {
      multiply_tile(tile.block.rows, tile.queries.from(0, 0), keys_as_columns_.from(tile.k0 - begin_ + k, 0),
                    a_.key_width, false, {tile.block.scores + k, kRegisterKeys}, meanwhile);
    }
  }
  template <class Body>
  HWY_INLINE void mix(QueryTile& tile, Body& meanwhile) {
    for (int64_t column = 0; column < width_; column += kTile) {
      multiply_tile(tile.block.rows, tile.weights.from(0, 0), values_.from(column, tile.k0 - begin_),
                    tile.count, tile.k0 > 0, {tile.block.mix + column, width_}, meanwhile);
    }
  }

  const Head<float>& h_;
  const AttentionArguments<float>& a_;
  DropoutReader dropout_;
  int64_t queries_, width_;
  int64_t begin_ = 0, end_ = 0, next_query_ = 0;  ///< the slice of keys, and what is left of the queries
  SplitFactor keys_as_columns_, values_;          ///< of the slice
  float *mix_, *sum_, *highest_, *shift_;         ///< of all queries, as in QueryBlock
  QueryTile tiles_[2];
};

inline void attend_on_registers(const AttentionArguments<float>& a, const AttentionSpan& span,
                                Scratch<float>& scratch) {
  thread_local Scratch<uint32_t> groups;
  const amx::Registers registers;
  for (int head = 0; head < a.heads; ++head) {
    const Head<float> h{a, span, head};
    HeadOnRegisters(h, scratch, groups).attend();
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
