// The backward pass of attention.h on matrix registers, as attention_registers-inl.h does the forward pass.
//
// Gradients of keys and values are added up as columns, dK^T = Q^T dS and dV^T = dO^T (P R): of a tile of
// weights, rows of queries are then what a right factor is made of, and nothing but a head's sums is
// transposed. Included once for each instruction set.

#if defined(HEED_KERNELS_ATTENTION_BACKWARD_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_ATTENTION_BACKWARD_REGISTERS_INL_H_
#undef HEED_KERNELS_ATTENTION_BACKWARD_REGISTERS_INL_H_
#else
#define HEED_KERNELS_ATTENTION_BACKWARD_REGISTERS_INL_H_
#endif

#include <algorithm>

#include "kernels/attention/amx/softmax_backward_in_pieces-inl.h"
#include "kernels/attention/amx/take_turns-inl.h"
#include "kernels/attention/attention-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// One head without large rows (kLargestShift), a slice of its keys and values after the other.
class HeadBackwardOnRegisters {
 public:
  HeadBackwardOnRegisters(const AttentionBackwardArguments<float>& b, const Head<float>& h,
                          Scratch<float>& scratch, Scratch<uint32_t>& groups)
      : b_(b), h_(h), a_(h.a), dropout_(h.a.dropout), queries_(h.span.queries()) {
    const int64_t keys = std::min(round_up(h.span.keys(), kTile), kBackwardSlice);
    stride_ = keys + kRowGroups;  // no power of two
    groups.begin(2 * split_groups(keys, width_) + split_groups(keys, value_width_) +
                 2 * (2 * split_groups(kTurnQueries, width_) + 2 * split_groups(kTurnQueries, value_width_) +
                      3 * split_groups(kTurnQueries, kTurnKeys)));
    scratch.begin((width_ + value_width_) * stride_ + kRowGroups * std::max(width_, value_width_) +
                  2 * kTurnQueries * (2 * kTurnKeys + width_));
    const auto by_line = [&](int64_t lines, int64_t inputs) {
      return SplitFactor::by_line(groups.take(split_groups(lines, inputs)), inputs);
    };
    keys_ = SplitFactor::by_input(groups.take(split_groups(width_, keys)), width_);
    keys_as_columns_ = by_line(keys, width_);
    values_as_columns_ = by_line(keys, value_width_);
    dkeys_ = scratch.take(width_ * stride_);
    dvalues_ = scratch.take(value_width_ * stride_);
    rows_ = scratch.take(kRowGroups * std::max(width_, value_width_));
    for (BackwardBlock& block : blocks_) {
      block.queries = by_line(kTurnQueries, width_);
      block.doutputs = by_line(kTurnQueries, value_width_);
      block.queries_as_rows = by_line(width_, kTurnQueries);
      block.doutputs_as_rows = by_line(value_width_, kTurnQueries);
      block.weights = by_line(kTurnKeys, kTurnQueries);
      block.dscores = by_line(kTurnKeys, kTurnQueries);
      block.dscores_as_rows = by_line(kTurnQueries, kTurnKeys);
      block.scores = scratch.take(kTurnQueries * kTurnKeys);
      block.dweights = scratch.take(kTurnQueries * kTurnKeys);
      block.dqueries = scratch.take(kTurnQueries * width_);
    }
  }

  void differentiate() {
    for (begin_ = 0; begin_ < h_.span.keys(); begin_ = end_) {
      end_ = std::min(begin_ + kBackwardSlice, h_.span.keys());
      const int64_t keys = end_ - begin_;
      const float *key = h_.key(begin_), *value = h_.value(begin_);
      split_factor({key, a_.key_stride, false, true, keys, width_}, keys_as_columns_);
      split_factor({key, a_.key_stride, false, false, width_, keys}, keys_);
      split_factor({value, a_.value_stride, false, true, keys, value_width_}, values_as_columns_);
      std::fill_n(dkeys_, width_ * stride_, 0.0f);
      std::fill_n(dvalues_, value_width_ * stride_, 0.0f);
      next_query_ = 0;
      for (BackwardBlock& block : blocks_) block.begun = block.done = false;
      take_turns(*this, &blocks_[0], &blocks_[1]);
      give_columns(dkeys_, a_.scale, width_, b_.dkey + h_.key_value_head * width_, b_.dkey_stride,
                   b_.add_to_dkey);
      give_columns(dvalues_, 1, value_width_, b_.dvalue + h_.key_value_head * value_width_, b_.dvalue_stride,
                   b_.add_to_dvalue);
    }
  }

  // For take_turns().
  template <class Body>
  bool multiply(BackwardBlock& block, Body& meanwhile) {
    if (block.begun) multiply_gradients(block, meanwhile);
    if (!(block.begun ? go_on(block) : begin_block(block))) return false;
    block.begun = true;
    multiply_scores(block, meanwhile);
    return true;
  }
  int64_t calls(const BackwardBlock& block) const {
    constexpr int64_t kCalls = AttentionNumbers::kPairs;  // for a step
    const int64_t tiles = block.row_tiles() * ((block.count + kTile - 1) / kTile);
    return std::max<int64_t>(1, tiles * (3 * width_ + 2 * value_width_) / kTile * kCalls);
  }
  SoftmaxBackwardInPieces work(BackwardBlock& block) { return {h_, dropout_, block}; }

 private:
  /// How many keys of its block the last query of a tile sees.
  int64_t seen(const BackwardBlock& block, int64_t row) const {
    return h_.visible(block.begin + std::min(row + kTile, block.rows) - 1, block.k0, block.count);
  }

  /// The next queries that see keys of the slice; false where there are none.
  bool begin_block(BackwardBlock& block) {
    for (;;) {
      if (next_query_ >= queries_) return false;
      block.begin = next_query_;
      block.rows = std::min(kTurnQueries, queries_ - next_query_);
      next_query_ += block.rows;
      begin_keys(block, begin_);
      if (block.count > 0) break;
      if (!adds_to_queries()) {
        std::fill_n(block.dqueries, block.rows * width_, 0.0f);
        give_queries(block);
      }
    }
    const float *query = h_.query(block.begin), *upstream = doutput_row(b_, h_, block.begin);
    split_factor({query, a_.query_stride, true, true, block.rows, width_}, block.queries);
    split_factor({query, a_.query_stride, true, false, width_, block.rows}, block.queries_as_rows);
    split_factor({upstream, b_.doutput_stride, true, true, block.rows, value_width_}, block.doutputs);
    split_factor({upstream, b_.doutput_stride, true, false, value_width_, block.rows},
                 block.doutputs_as_rows);
    for (int64_t r = 0; r < block.rows; ++r) {
      block.delta[r] = dot_output(b_, h_, block.begin + r);
      block.log_sum_exp[r] = h_.log_sum_exp(block.begin + r);
    }
    return true;
  }
  void begin_keys(BackwardBlock& block, int64_t k0) const {
    const int64_t reach = visible_keys(h_.span, a_.causal, block.begin + block.rows - 1);
    block.k0 = k0;
    block.count = std::min(kTurnKeys, std::min(end_, reach) - k0);
  }
  /// To the next keys, or the next queries.
  bool go_on(BackwardBlock& block) {
    begin_keys(block, block.k0 + kTurnKeys);
    if (block.count > 0) return true;
    give_queries(block);
    return begin_block(block);
  }
  void give_queries(const BackwardBlock& block) const {
    give_rows(block.dqueries, width_, a_.scale, block.rows, width_, dquery_row(b_, h_, block.begin),
              b_.dquery_stride, adds_to_queries());
  }
  /// Or writes: the first slice does, where nothing is there yet.
  bool adds_to_queries() const { return b_.add_to_dquery || begin_ > 0; }

  template <class Body>
  HWY_INLINE void multiply_scores(BackwardBlock& block, Body& meanwhile) {
    for (int64_t k = 0; k < block.count; k += kTile) {
      const int64_t key = block.k0 - begin_ + k;
      for (int64_t row = 0; row < block.rows; row += kTile) {
        if (k >= seen(block, row)) continue;
        const int64_t at = row * kTurnKeys + k;
        multiply_tile(block.rows - row, block.queries.from(row, 0), keys_as_columns_.from(key, 0), width_,
                      false, {block.scores + at, kTurnKeys}, meanwhile);
        multiply_tile(block.rows - row, block.doutputs.from(row, 0), values_as_columns_.from(key, 0),
                      value_width_, false, {block.dweights + at, kTurnKeys}, meanwhile);
      }
    }
  }
  template <class Body>
  HWY_INLINE void multiply_gradients(BackwardBlock& block, Body& meanwhile) {
    const int64_t key = block.k0 - begin_;
    for (int64_t row = 0; row < block.rows; row += kTile) {
      for (int64_t column = 0; column < width_; column += kTile) {
        multiply_tile(block.rows - row, block.dscores_as_rows.from(row, 0), keys_.from(column, key),
                      seen(block, row), block.k0 > begin_, {block.dqueries + row * width_ + column, width_},
                      meanwhile);
      }
    }
    for (int64_t k = 0; k < block.count; k += kTile) {
      int64_t first = 0;  // the tiles of queries before it see none of these keys
      while (k >= seen(block, first)) first += kTile;
      const int64_t inputs = block.rows - first;
      for (int64_t column = 0; column < value_width_; column += kTile) {
        multiply_tile(kTile, block.doutputs_as_rows.from(column, first), block.weights.from(k, first), inputs,
                      true, {dvalues_ + column * stride_ + key + k, stride_}, meanwhile);
      }
      for (int64_t column = 0; column < width_; column += kTile) {
        multiply_tile(kTile, block.queries_as_rows.from(column, first), block.dscores.from(k, first), inputs,
                      true, {dkeys_ + column * stride_ + key + k, stride_}, meanwhile);
      }
    }
  }

  /// Rows of the slice = factor * from^T, or += that, where `from` is (width, stride_).
  void give_columns(const float* from, float factor, int64_t width, float* to, int64_t stride, bool add) {
    for (int64_t k = begin_; k < end_; k += kRowGroups) {
      const int64_t count = std::min(kRowGroups, end_ - k);
      transpose(from + k - begin_, stride_, width, count, rows_, width);
      give_rows(rows_, width, factor, count, width, to + (h_.span.key_begin + k) * stride, stride, add);
    }
  }

  const AttentionBackwardArguments<float>& b_;
  const Head<float>& h_;
  const AttentionArguments<float>& a_;
  DropoutReader dropout_;
  int64_t queries_, width_ = a_.key_width, value_width_ = a_.value_width;
  int64_t begin_ = 0, end_ = 0, next_query_ = 0;  ///< the slice of keys, and what is left of the queries
  SplitFactor keys_, keys_as_columns_, values_as_columns_;  ///< of the slice
  float *dkeys_, *dvalues_;  ///< (width, stride_): columns of the slice, dK not yet times the scale
  int64_t stride_;
  float* rows_;  ///< (kRowGroups, width)
  BackwardBlock blocks_[2];
};

inline void differentiate_on_registers(const AttentionBackwardArguments<float>& b, const Head<float>& h,
                                       Scratch<float>& scratch) {
  thread_local Scratch<uint32_t> groups;
  const amx::Registers registers;
  HeadBackwardOnRegisters(b, h, scratch, groups).differentiate();
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
