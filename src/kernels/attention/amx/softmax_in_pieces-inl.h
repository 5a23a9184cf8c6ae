// The softmax of attention on matrix registers, in pieces that are done while registers multiply. Included
// once for each instruction set.

#if defined(HEED_KERNELS_SOFTMAX_IN_PIECES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SOFTMAX_IN_PIECES_INL_H_
#undef HEED_KERNELS_SOFTMAX_IN_PIECES_INL_H_
#else
#define HEED_KERNELS_SOFTMAX_IN_PIECES_INL_H_
#endif

#include <algorithm>

#include "kernels/attention/amx/split_factor-inl.h"
#include "kernels/attention/query_block-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Of a block of keys.
constexpr int64_t kRegisterKeys = 128;
/// Keys and values in parts that fit the second-level cache.
constexpr int64_t kSliceKeys = 1024;

/// A tile of queries on its way through the blocks of keys.
struct QueryTile {
  QueryBlock<float> block;
  SplitFactor queries, weights;
  int64_t k0 = 0, count = 0;  ///< the block of keys
  bool begun = false, done = false;

  int64_t steps() const { return (count + kTile - 1) / kTile; }
};

/// The softmax of a tile and a block of keys, in pieces so small that they are done while registers multiply.
class SoftmaxInPieces {
 public:
  SoftmaxInPieces(const Head<float>& h, DropoutReader& dropout, QueryTile& tile)
      : h_(h), dropout_(dropout), tile_(tile) {}

  int64_t pieces() const { return (tile_.block.rows + 3) / 4 + tile_.block.rows; }
  bool done() const { return row_ == tile_.block.rows; }
  HWY_NOINLINE void advance() {
    if (row_ == with_maxima_) {
      find_maxima(h_, tile_.block, row_, tile_.k0, tile_.count);
      with_maxima_ += 4;
    } else {
      weigh(row_++);
    }
  }

 private:
  void weigh(int64_t row) {
    const Floats d;
    const QueryBlock<float>& block = tile_.block;
    const int64_t q = block.begin + row, visible = h_.visible(q, tile_.k0, tile_.count);
    const float* const scores = block.scores + row * block.stride;
    const auto exponent = prepare_scores(h_, block, row, visible);
    const auto scale = hn::Set(d, exponent.scale), shift = hn::Set(d, exponent.shift);
    const auto kept = hn::Set(d, static_cast<float>(h_.a.dropout.scale()));
    const bool drops = h_.a.dropout.active();
    uint64_t mask[kRegisterKeys / kDropoutWordBits] = {};
    if (drops) dropout_.read(h_.mask_begin(q) + tile_.k0, visible, mask);
    auto sum = hn::Zero(d);
    const auto exponentials = [&](int64_t k) {
      return exponential(d, hn::MulSub(hn::LoadU(d, scores + k), scale, shift));
    };
    uint32_t* parts = tile_.weights.at(row, 0) + row % amx::kTileRows * kRowGroups;
    const auto finish_step = [&](int64_t k, auto low, auto high) {
      sum = hn::Add(sum, hn::Add(low, high));
      if (drops) {
        low = hn::Mul(low, dropout_factors(d, mask, k, kept));
        high = hn::Mul(high, dropout_factors(d, mask, k + kRowGroups, kept));
      }
      split<kAttentionParts>(low, high, parts);
      parts += tile_.weights.step;
    };
    int64_t k = 0;
    for (; k + kTile <= visible; k += kTile) finish_step(k, exponentials(k), exponentials(k + kRowGroups));
    for (; k < tile_.count; k += kTile) {
      finish_step(k, hn::IfThenElseZero(first_lanes(visible - k), exponentials(k)),
                  hn::IfThenElseZero(first_lanes(visible - k - kRowGroups), exponentials(k + kRowGroups)));
    }
    float* const total = block.sum + row * kRowGroups;
    hn::StoreU(tile_.k0 == 0 ? sum : hn::Add(hn::LoadU(d, total), sum), d, total);
  }

  const Head<float>& h_;
  DropoutReader& dropout_;
  QueryTile& tile_;
  int64_t row_ = 0, with_maxima_ = 0;
};

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
