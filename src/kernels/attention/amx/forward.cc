// The forward pass of attention on AMX: S = Q K^T and O += P V for 32 x 32 blocks in AMX tiles, in bf16x3.
//
// Keys and values are split once for a head, queries once for a block of 32, and weights where the
// exponentials are computed. The online softmax runs on the vector unit while the tile unit computes the
// products of another block of queries (software_pipeline-inl.h).
#include <algorithm>

#include "base/check.h"
#include "kernels/attention/amx/attention_amx.h"
#include "kernels/simd/amx.h"
#include "kernels/simd/simd.h"
#include "kernels/thresholds.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/amx/forward.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/attention/amx/software_pipeline-inl.h"
#include "kernels/attention/amx/split_operand-inl.h"
#include "kernels/attention/online_softmax-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

constexpr int64_t kAmxForwardKeys = 128;
/// The split keys and values of a block of keys fit L2.
constexpr int64_t kAmxForwardL2Keys = 1024;

/// A block of queries, its packed operands, and the block of keys that it is at.
struct QueryStage {
  QueryBlock<float> block;
  SplitOperand queries, weights;
  int64_t k0 = 0, count = 0;  ///< the block of keys
  bool started = false, done = false;

  int64_t key_steps() const { return (count + kBlock - 1) / kBlock; }
};

/// The online softmax of a block of queries and one of keys, row by row: weights are split as they are
/// computed.
class SoftmaxChunks {
 public:
  SoftmaxChunks(const Head<float>& h, DropoutReader& dropout, QueryStage& stage)
      : h_(h), dropout_(dropout), stage_(stage) {}

  int64_t chunks() const { return (stage_.block.rows + 3) / 4 + stage_.block.rows; }
  bool done() const { return row_ == stage_.block.rows; }
  HWY_NOINLINE void advance() {
    if (row_ == maxima_done_) {
      update_maxima(h_, stage_.block, row_, stage_.k0, stage_.count);
      maxima_done_ += 4;
    } else {
      weigh_row(row_++);
    }
  }

 private:
  void weigh_row(int64_t row) {
    const Floats d;
    const QueryBlock<float>& block = stage_.block;
    const int64_t q = block.begin + row, visible = h_.visible(q, stage_.k0, stage_.count);
    const float* const scores = block.scores + row * block.stride;
    const auto exponent = prepare_scores(h_, block, row, visible);
    const auto scale = hn::Set(d, exponent.scale), shift = hn::Set(d, exponent.shift);
    const auto kept = hn::Set(d, static_cast<float>(h_.a.dropout.scale()));
    const bool drops = h_.a.dropout.active();
    uint64_t mask[kAmxForwardKeys / kDropoutWordBits] = {};
    if (drops) dropout_.read(h_.dropout_begin(q) + stage_.k0, visible, mask);
    auto sum = hn::Zero(d);
    const auto exp_at = [&](int64_t k) {
      return exponential(d, hn::MulSub(hn::LoadU(d, scores + k), scale, shift));
    };
    uint32_t* parts = stage_.weights.at(row, 0) + row % amx::kTileRows * kRowDwords;
    const auto split_k_step = [&](int64_t k, auto low, auto high) {
      sum = hn::Add(sum, hn::Add(low, high));
      if (drops) {
        low = hn::Mul(low, dropout_factors(d, mask, k, kept));
        high = hn::Mul(high, dropout_factors(d, mask, k + kRowDwords, kept));
      }
      split_bf16<kParts>(low, high, parts);
      parts += stage_.weights.k_stride;
    };
    int64_t k = 0;
    for (; k + kBlock <= visible; k += kBlock) split_k_step(k, exp_at(k), exp_at(k + kRowDwords));
    for (; k < stage_.count; k += kBlock) {
      split_k_step(k, hn::IfThenElseZero(first_lanes(visible - k), exp_at(k)),
                   hn::IfThenElseZero(first_lanes(visible - k - kRowDwords), exp_at(k + kRowDwords)));
    }
    float* const total = block.sum + row * kRowDwords;
    hn::StoreU(stage_.k0 == 0 ? sum : hn::Add(hn::LoadU(d, total), sum), d, total);
  }

  const Head<float>& h_;
  DropoutReader& dropout_;
  QueryStage& stage_;
  int64_t row_ = 0, maxima_done_ = 0;
};

/// One head: for each L2 block of keys and values, block by block of its queries.
class AmxForward {
 public:
  AmxForward(const Head<float>& h, Scratch<float>& scratch, Scratch<uint32_t>& dwords)
      : h_(h), a_(h.a), dropout_(h.a.dropout), queries_(h.span.queries()), width_(h.a.value_width) {
    const int64_t keys = std::min(h.span.keys(), kAmxForwardL2Keys), rows = round_up(queries_, kBlock);
    scratch.reserve(rows * (width_ + 2 * kRowDwords) + 2 * kBlock * kAmxForwardKeys);
    dwords.reserve(split_dwords(keys, a_.key_width) + split_dwords(width_, keys) +
                   2 * (split_dwords(kBlock, a_.key_width) + split_dwords(kBlock, kAmxForwardKeys)));
    const auto panel_major = [&](int64_t size, int64_t k_size) {
      return SplitOperand::panel_major(dwords.allocate(split_dwords(size, k_size)), k_size);
    };
    keys_t_ = panel_major(keys, a_.key_width);
    values_ = SplitOperand::k_major(dwords.allocate(split_dwords(width_, keys)), width_);
    output_sum_ = scratch.allocate(rows * width_);
    sum_ = scratch.allocate(rows * kRowDwords);
    row_max_ = scratch.allocate(rows);
    shift_ = scratch.allocate(rows);
    for (QueryStage& stage : stages_) {
      stage.queries = panel_major(kBlock, a_.key_width);
      stage.weights = panel_major(kBlock, kAmxForwardKeys);
      stage.block.width = width_;
      stage.block.scores = scratch.allocate(kBlock * kAmxForwardKeys);
      stage.block.stride = kAmxForwardKeys;
    }
  }

  void attend() {
    for (begin_ = 0; begin_ < h_.span.keys(); begin_ = end_) {
      end_ = std::min(begin_ + kAmxForwardL2Keys, h_.span.keys());
      const int64_t keys = end_ - begin_;
      pack_split({h_.key(begin_), a_.key_stride, Side::kB, true, keys, a_.key_width}, keys_t_);
      pack_split({h_.value(begin_), a_.value_stride, Side::kB, false, width_, keys}, values_);
      next_query_ = 0;
      for (QueryStage& stage : stages_) stage.started = stage.done = false;
      run_pipelined(*this, &stages_[0], &stages_[1]);
    }
  }

  // For run_pipelined().
  template <class Body>
  bool multiply(QueryStage& stage, Body& interleave) {
    if (stage.started) mix(stage, interleave);
    if (!(stage.started ? advance_keys(stage) : begin_block(stage))) return false;
    stage.started = true;
    score(stage, interleave);
    return true;
  }
  int64_t calls(const QueryStage& stage) const {
    constexpr int64_t kCalls = Bf16x3::kProducts;  // in each step along K
    return std::max<int64_t>(1, stage.key_steps() * (width_ + a_.key_width) / kBlock * kCalls);
  }
  SoftmaxChunks vector_work(QueryStage& stage) { return {h_, dropout_, stage}; }

 private:
  /// The next block of queries that see keys of the L2 block; false where there is none.
  bool begin_block(QueryStage& stage) {
    QueryBlock<float>& block = stage.block;
    do {
      if (next_query_ >= queries_) return false;
      block.begin = next_query_;
      block.rows = std::min(kBlock, queries_ - next_query_);
      block.output_sum = output_sum_ + block.begin * width_;
      block.sum = sum_ + block.begin * kRowDwords;
      block.row_max = row_max_ + block.begin;
      block.shift = shift_ + block.begin;
      next_query_ += kBlock;
      if (begin_ == 0) begin_sums(block);
      begin_keys(stage, begin_);
    } while (stage.count <= 0);
    pack_split({h_.query(block.begin), a_.query_stride, Side::kA, true, block.rows, a_.key_width},
               stage.queries);
    return true;
  }
  void begin_sums(QueryBlock<float>& block) const {
    begin_shifts(block);
    if (key_end_of(block) > 0) return;  // the first block of keys sets the others
    std::fill_n(block.sum, block.rows * kRowDwords, 0.0f);
    std::fill_n(block.output_sum, block.rows * width_, 0.0f);
    write_output(h_, block);
  }
  int64_t key_end_of(const QueryBlock<float>& block) const {
    return h_.span.visible_keys(a_.causal, block.begin + block.rows - 1);
  }
  void begin_keys(QueryStage& stage, int64_t k0) const {
    stage.k0 = k0;
    stage.count = std::min(kAmxForwardKeys, std::min(end_, key_end_of(stage.block)) - k0);
  }
  /// The next block of keys, or the next block of queries.
  bool advance_keys(QueryStage& stage) {
    begin_keys(stage, stage.k0 + kAmxForwardKeys);
    if (stage.count > 0) return true;
    if (stage.k0 >= key_end_of(stage.block)) write_output(h_, stage.block);
    return begin_block(stage);
  }

  template <class Body>
  HWY_INLINE void score(QueryStage& stage, Body& interleave) {
    for (int64_t k = 0; k < stage.count; k += kBlock) {
      multiply_block(stage.block.rows, stage.queries.from(0, 0), keys_t_.from(stage.k0 - begin_ + k, 0),
                     a_.key_width, false, {stage.block.scores + k, kAmxForwardKeys}, interleave);
    }
  }
  template <class Body>
  HWY_INLINE void mix(QueryStage& stage, Body& interleave) {
    for (int64_t column = 0; column < width_; column += kBlock) {
      multiply_block(stage.block.rows, stage.weights.from(0, 0), values_.from(column, stage.k0 - begin_),
                     stage.count, stage.k0 > 0, {stage.block.output_sum + column, width_}, interleave);
    }
  }

  const Head<float>& h_;
  const AttentionArguments<float>& a_;
  DropoutReader dropout_;
  int64_t queries_, width_;
  int64_t begin_ = 0, end_ = 0, next_query_ = 0;  ///< the L2 block of keys, and the next queries
  SplitOperand keys_t_, values_;                  ///< of the L2 block
  float *output_sum_, *sum_, *row_max_, *shift_;  ///< of all queries, as in QueryBlock
  QueryStage stages_[2];
};

void attention_on_amx(const AttentionArguments<float>& a, const AttentionSpan& span) {
  thread_local Scratch<float> scratch;
  thread_local Scratch<uint32_t> dwords;
  const amx::TileConfig config;
  for (int head = 0; head < a.heads; ++head) {
    const Head<float> h{a, span, head};
    AmxForward(h, scratch, dwords).attend();
  }
}

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE
namespace heed {

bool use_amx_attention(const AttentionArguments<float>& a, const AttentionSpan& span) {
  if (a.score_cap > 0 || !span.fits_in(a.causal, a.window)) return false;
  const int64_t mean_keys =
      (span.visible_keys(a.causal, 0) + span.visible_keys(a.causal, span.queries() - 1)) / 2;
  return internal::has_amx() && a.key_rows == nullptr &&
         attention_pays_on_amx(span.queries(), mean_keys, a.key_width, a.value_width);
}

void amx_attention([[maybe_unused]] const AttentionArguments<float>& arguments,
                   [[maybe_unused]] const AttentionSpan& span) {
  HEED_CHECK(internal::has_amx());
#if HEED_AMX && HWY_TARGETS & HWY_AVX3
  N_AVX3::attention_on_amx(arguments, span);
#endif
}

}  // namespace heed
#endif
