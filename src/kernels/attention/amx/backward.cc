// The backward pass of attention on AMX, as forward.cc does the forward pass.
//
// Gradients of keys and values are accumulated transposed, dK^T = Q^T dS and dV^T = dO^T (P R): dS and P R
// are then B, whose dwords are made of whole rows, and only the final gradients of a head have to be
// transposed.
#include <algorithm>

#include "base/check.h"
#include "kernels/attention/amx/attention_amx.h"
#include "kernels/simd/amx.h"
#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/amx/backward.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/attention/amx/software_pipeline-inl.h"
#include "kernels/attention/amx/split_operand-inl.h"
#include "kernels/attention/head-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int64_t kAmxBackwardQueries = 64;
constexpr int64_t kAmxBackwardKeys = 128;
/// The split keys and values of a block of keys, and their gradients, fit L2.
constexpr int64_t kAmxBackwardL2Keys = 512;

/// A block of queries, its packed operands, and the block of keys that it is at.
struct BackwardBlock {
  int64_t begin = 0, rows = 0;  ///< queries
  int64_t k0 = 0, count = 0;    ///< keys
  bool started = false, done = false;
  SplitOperand queries, doutputs;            ///< Q and dO as A
  SplitOperand queries_t, doutputs_t;        ///< Q^T and dO^T as A
  SplitOperand weights, dscores_b, dscores;  ///< P R and dS as B; dS as A
  float delta[kAmxBackwardQueries], log_sum_exp[kAmxBackwardQueries];
  float* scores;    ///< (kTurnQueries, kTurnKeys)
  float* dweights;  ///< the same: dO V^T
  float* dqueries;  ///< (kTurnQueries, key_width), without the scale

  int64_t row_blocks() const { return (rows + kBlock - 1) / kBlock; }
};

/// P R and dS = P (dP - delta), split, from scores and dO V^T of a block of queries and one of keys. A chunk
/// is two queries that are 16 apart: the two halves of the dwords of B.
class SoftmaxBackwardChunks {
 public:
  SoftmaxBackwardChunks(const Head<float>& h, DropoutReader& dropout, BackwardBlock& block)
      : h_(h), dropout_(dropout), block_(block) {}

  int64_t chunks() const { return block_.row_blocks() * kRowDwords; }
  bool done() const { return row_ >= block_.row_blocks() * kBlock; }
  HWY_NOINLINE void advance() {
    differentiate(row_);
    ++row_;
    if (row_ % kRowDwords == 0) row_ += kRowDwords;
  }

 private:
  struct Row {
    int64_t visible = 0;
    const float *scores = nullptr, *dweights = nullptr;
    hn::Vec<Floats> log_sum_exp, delta;
    uint64_t mask[kAmxBackwardKeys / kDropoutWordBits] = {};
  };

  Row row_at(int64_t r) {
    Row row;
    row.scores = block_.scores + r * kAmxBackwardKeys;
    row.dweights = block_.dweights + r * kAmxBackwardKeys;
    const bool exists = r < block_.rows;
    row.log_sum_exp = hn::Set(Floats(), exists ? block_.log_sum_exp[r] : 0);
    row.delta = hn::Set(Floats(), exists ? block_.delta[r] : 0);
    if (!exists) return row;
    const int64_t q = block_.begin + r;
    row.visible = h_.visible(q, block_.k0, block_.count);
    if (h_.a.dropout.active()) dropout_.read(h_.dropout_begin(q) + block_.k0, row.visible, row.mask);
    return row;
  }

  void differentiate(int64_t r) {
    const Floats d;
    const Row rows[] = {row_at(r), row_at(r + kRowDwords)};
    const auto scale = hn::Set(d, h_.a.scale), kept = hn::Set(d, static_cast<float>(h_.a.dropout.scale()));
    const bool drops = h_.a.dropout.active();
    const int64_t last = std::min(r / kBlock * kBlock + kBlock, block_.rows) - 1,
                  dword = r % kRowDwords * kRowDwords;
    const int64_t seen = h_.visible(block_.begin + last, block_.k0, block_.count);
    for (int64_t k = 0; k < seen; k += kBlock) {
      hn::Vec<Floats> weight[2][2], dscore[2][2];  // of two queries, and keys k and k + 16
      const bool all = std::min(rows[0].visible, rows[1].visible) >= k + kBlock;
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          const Row& row = rows[i];
          const int64_t at = k + j * kRowDwords;
          auto p = exponential(d, hn::MulSub(hn::LoadU(d, row.scores + at), scale, row.log_sum_exp));
          auto dweight = hn::LoadU(d, row.dweights + at);
          if (!all) {  // the scores after them are uninitialized
            const auto visible = first_lanes(row.visible - at);
            p = hn::IfThenElseZero(visible, p);
            dweight = hn::IfThenElseZero(visible, dweight);
          }
          if (drops) {
            const auto factor = dropout_factors(d, row.mask, at, kept);
            dscore[i][j] = hn::Mul(p, hn::MulSub(dweight, factor, row.delta));
            weight[i][j] = hn::Mul(p, factor);
          } else {
            dscore[i][j] = hn::Mul(p, hn::Sub(dweight, row.delta));
            weight[i][j] = p;
          }
        }
      }
      for (int i = 0; i < 2; ++i) {
        split_bf16<kParts>(dscore[i][0], dscore[i][1], block_.dscores.at(r + i * kRowDwords, k) + dword);
      }
      for (int j = 0; j < 2; ++j) {
        const int64_t at = k + j * kRowDwords;
        split_bf16<kParts>(weight[0][j], weight[1][j], block_.weights.at(at, r) + dword);
        split_bf16<kParts>(dscore[0][j], dscore[1][j], block_.dscores_b.at(at, r) + dword);
      }
    }
  }

  const Head<float>& h_;
  DropoutReader& dropout_;
  BackwardBlock& block_;
  int64_t row_ = 0;
};

/// One head: for each L2 block of keys and values, block by block of its queries.
class AmxBackward {
 public:
  AmxBackward(const AttentionBackwardArguments<float>& b, const Head<float>& h, Scratch<float>& scratch,
              Scratch<uint32_t>& dwords)
      : b_(b), h_(h), a_(h.a), dropout_(h.a.dropout), queries_(h.span.queries()) {
    const int64_t keys = std::min(round_up(h.span.keys(), kBlock), kAmxBackwardL2Keys);
    stride_ = keys + kRowDwords;  // not a power of two: fewer cache conflicts
    dwords.reserve(2 * split_dwords(keys, width_) + split_dwords(keys, value_width_) +
                   2 * (2 * split_dwords(kAmxBackwardQueries, width_) +
                        2 * split_dwords(kAmxBackwardQueries, value_width_) +
                        3 * split_dwords(kAmxBackwardQueries, kAmxBackwardKeys)));
    scratch.reserve((width_ + value_width_) * stride_ + kRowDwords * std::max(width_, value_width_) +
                    2 * kAmxBackwardQueries * (2 * kAmxBackwardKeys + width_));
    const auto panel_major = [&](int64_t size, int64_t k_size) {
      return SplitOperand::panel_major(dwords.allocate(split_dwords(size, k_size)), k_size);
    };
    keys_ = SplitOperand::k_major(dwords.allocate(split_dwords(width_, keys)), width_);
    keys_t_ = panel_major(keys, width_);
    values_t_ = panel_major(keys, value_width_);
    dkeys_ = scratch.allocate(width_ * stride_);
    dvalues_ = scratch.allocate(value_width_ * stride_);
    rows_ = scratch.allocate(kRowDwords * std::max(width_, value_width_));
    for (BackwardBlock& block : blocks_) {
      block.queries = panel_major(kAmxBackwardQueries, width_);
      block.doutputs = panel_major(kAmxBackwardQueries, value_width_);
      block.queries_t = panel_major(width_, kAmxBackwardQueries);
      block.doutputs_t = panel_major(value_width_, kAmxBackwardQueries);
      block.weights = panel_major(kAmxBackwardKeys, kAmxBackwardQueries);
      block.dscores_b = panel_major(kAmxBackwardKeys, kAmxBackwardQueries);
      block.dscores = panel_major(kAmxBackwardQueries, kAmxBackwardKeys);
      block.scores = scratch.allocate(kAmxBackwardQueries * kAmxBackwardKeys);
      block.dweights = scratch.allocate(kAmxBackwardQueries * kAmxBackwardKeys);
      block.dqueries = scratch.allocate(kAmxBackwardQueries * width_);
    }
  }

  void differentiate() {
    for (begin_ = 0; begin_ < h_.span.keys(); begin_ = end_) {
      end_ = std::min(begin_ + kAmxBackwardL2Keys, h_.span.keys());
      const int64_t keys = end_ - begin_;
      const float *key = h_.key(begin_), *value = h_.value(begin_);
      pack_split({key, a_.key_stride, Side::kB, true, keys, width_}, keys_t_);
      pack_split({key, a_.key_stride, Side::kB, false, width_, keys}, keys_);
      pack_split({value, a_.value_stride, Side::kB, true, keys, value_width_}, values_t_);
      std::fill_n(dkeys_, width_ * stride_, 0.0f);
      std::fill_n(dvalues_, value_width_ * stride_, 0.0f);
      next_query_ = 0;
      for (BackwardBlock& block : blocks_) block.started = block.done = false;
      run_pipelined(*this, &blocks_[0], &blocks_[1]);
      store_scaled_columns(dkeys_, a_.scale, width_, b_.dkey + h_.key_value_head * width_, b_.dkey_stride,
                           b_.add_to_dkey);
      store_scaled_columns(dvalues_, 1, value_width_, b_.dvalue + h_.key_value_head * value_width_,
                           b_.dvalue_stride, b_.add_to_dvalue);
    }
  }

  // For run_pipelined().
  template <class Body>
  bool multiply(BackwardBlock& block, Body& interleave) {
    if (block.started) multiply_gradients(block, interleave);
    if (!(block.started ? advance_keys(block) : begin_block(block))) return false;
    block.started = true;
    multiply_scores(block, interleave);
    return true;
  }
  int64_t calls(const BackwardBlock& block) const {
    constexpr int64_t kCalls = Bf16x3::kProducts;  // in each step along K
    const int64_t tiles = block.row_blocks() * ((block.count + kBlock - 1) / kBlock);
    return std::max<int64_t>(1, tiles * (3 * width_ + 2 * value_width_) / kBlock * kCalls);
  }
  SoftmaxBackwardChunks vector_work(BackwardBlock& block) { return {h_, dropout_, block}; }

 private:
  /// How many keys of its block the last of kBlock queries from `row` on sees.
  int64_t seen(const BackwardBlock& block, int64_t row) const {
    return h_.visible(block.begin + std::min(row + kBlock, block.rows) - 1, block.k0, block.count);
  }

  /// The next block of queries that see keys of the L2 block; false where there is none.
  bool begin_block(BackwardBlock& block) {
    for (;;) {
      if (next_query_ >= queries_) return false;
      block.begin = next_query_;
      block.rows = std::min(kAmxBackwardQueries, queries_ - next_query_);
      next_query_ += block.rows;
      begin_keys(block, begin_);
      if (block.count > 0) break;
      if (!adds_to_dquery()) {
        std::fill_n(block.dqueries, block.rows * width_, 0.0f);
        store_dqueries(block);
      }
    }
    const float *query = h_.query(block.begin), *upstream = doutput_row(b_, h_, block.begin);
    pack_split({query, a_.query_stride, Side::kA, true, block.rows, width_}, block.queries);
    pack_split({query, a_.query_stride, Side::kA, false, width_, block.rows}, block.queries_t);
    pack_split({upstream, b_.doutput_stride, Side::kA, true, block.rows, value_width_}, block.doutputs);
    pack_split({upstream, b_.doutput_stride, Side::kA, false, value_width_, block.rows}, block.doutputs_t);
    for (int64_t r = 0; r < block.rows; ++r) {
      block.delta[r] = dot_output(b_, h_, block.begin + r);
      block.log_sum_exp[r] = h_.log_sum_exp(block.begin + r);
    }
    return true;
  }
  void begin_keys(BackwardBlock& block, int64_t k0) const {
    const int64_t key_end = h_.span.visible_keys(a_.causal, block.begin + block.rows - 1);
    block.k0 = k0;
    block.count = std::min(kAmxBackwardKeys, std::min(end_, key_end) - k0);
  }
  /// The next block of keys, or the next block of queries.
  bool advance_keys(BackwardBlock& block) {
    begin_keys(block, block.k0 + kAmxBackwardKeys);
    if (block.count > 0) return true;
    store_dqueries(block);
    return begin_block(block);
  }
  void store_dqueries(const BackwardBlock& block) const {
    store_scaled_rows(block.dqueries, width_, a_.scale, block.rows, width_, dquery_row(b_, h_, block.begin),
                      b_.dquery_stride, adds_to_dquery());
  }
  /// False: writes, for the first L2 block.
  bool adds_to_dquery() const { return b_.add_to_dquery || begin_ > 0; }

  template <class Body>
  HWY_INLINE void multiply_scores(BackwardBlock& block, Body& interleave) {
    for (int64_t k = 0; k < block.count; k += kBlock) {
      const int64_t key = block.k0 - begin_ + k;
      for (int64_t row = 0; row < block.rows; row += kBlock) {
        if (k >= seen(block, row)) continue;
        const int64_t at = row * kAmxBackwardKeys + k;
        multiply_block(block.rows - row, block.queries.from(row, 0), keys_t_.from(key, 0), width_, false,
                       {block.scores + at, kAmxBackwardKeys}, interleave);
        multiply_block(block.rows - row, block.doutputs.from(row, 0), values_t_.from(key, 0), value_width_,
                       false, {block.dweights + at, kAmxBackwardKeys}, interleave);
      }
    }
  }
  template <class Body>
  HWY_INLINE void multiply_gradients(BackwardBlock& block, Body& interleave) {
    const int64_t key = block.k0 - begin_;
    for (int64_t row = 0; row < block.rows; row += kBlock) {
      for (int64_t column = 0; column < width_; column += kBlock) {
        multiply_block(block.rows - row, block.dscores.from(row, 0), keys_.from(column, key),
                       seen(block, row), block.k0 > begin_, {block.dqueries + row * width_ + column, width_},
                       interleave);
      }
    }
    for (int64_t k = 0; k < block.count; k += kBlock) {
      int64_t first = 0;  // queries before it see none of these keys
      while (k >= seen(block, first)) first += kBlock;
      const int64_t k_size = block.rows - first;
      for (int64_t column = 0; column < value_width_; column += kBlock) {
        multiply_block(kBlock, block.doutputs_t.from(column, first), block.weights.from(k, first), k_size,
                       true, {dvalues_ + column * stride_ + key + k, stride_}, interleave);
      }
      for (int64_t column = 0; column < width_; column += kBlock) {
        multiply_block(kBlock, block.queries_t.from(column, first), block.dscores_b.from(k, first), k_size,
                       true, {dkeys_ + column * stride_ + key + k, stride_}, interleave);
      }
    }
  }

  /// Rows of the L2 block = factor * from^T, or += that, where `from` is (width, stride_).
  void store_scaled_columns(const float* from, float factor, int64_t width, float* to, int64_t stride,
                            bool add) {
    for (int64_t k = begin_; k < end_; k += kRowDwords) {
      const int64_t count = std::min(kRowDwords, end_ - k);
      transpose(from + k - begin_, stride_, width, count, rows_, width);
      store_scaled_rows(rows_, width, factor, count, width, to + (h_.span.key_begin + k) * stride, stride,
                        add);
    }
  }

  const AttentionBackwardArguments<float>& b_;
  const Head<float>& h_;
  const AttentionArguments<float>& a_;
  DropoutReader dropout_;
  int64_t queries_, width_ = a_.key_width, value_width_ = a_.value_width;
  int64_t begin_ = 0, end_ = 0, next_query_ = 0;  ///< the L2 block of keys, and the next queries
  SplitOperand keys_, keys_t_, values_t_;         ///< of the L2 block
  float *dkeys_, *dvalues_;                       ///< (width, stride_): transposed, dK without the scale
  int64_t stride_;
  float* rows_;  ///< (kRowGroups, width)
  BackwardBlock blocks_[2];
};

void attention_backward_on_amx(const AttentionBackwardArguments<float>& b, const AttentionSpan& span,
                               int head) {
  thread_local Scratch<float> scratch;
  thread_local Scratch<uint32_t> dwords;
  const amx::TileConfig config;
  const Head<float> h{b.forward, span, head};
  AmxBackward(b, h, scratch, dwords).differentiate();
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

void amx_attention_backward([[maybe_unused]] const AttentionBackwardArguments<float>& arguments,
                            [[maybe_unused]] const AttentionSpan& span, [[maybe_unused]] int head) {
  HEED_CHECK(internal::has_amx());
#if HEED_AMX && HWY_TARGETS & HWY_AVX3
  N_AVX3::attention_backward_on_amx(arguments, span, head);
#endif
}

}  // namespace heed
#endif
