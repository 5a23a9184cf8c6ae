// The derivative of the softmax of attention on matrix registers, in pieces that are done while registers
// multiply. Included once for each instruction set.

#if defined(HEED_KERNELS_SOFTMAX_BACKWARD_IN_PIECES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_SOFTMAX_BACKWARD_IN_PIECES_INL_H_
#undef HEED_KERNELS_SOFTMAX_BACKWARD_IN_PIECES_INL_H_
#else
#define HEED_KERNELS_SOFTMAX_BACKWARD_IN_PIECES_INL_H_
#endif

#include <algorithm>

#include "kernels/attention/amx/split_factor-inl.h"
#include "kernels/attention/attention-inl.h"

#if HEED_AMX && HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// Of a block of queries and one of keys.
constexpr int64_t kTurnQueries = 64;
constexpr int64_t kTurnKeys = 128;
/// Keys and values in parts, and their gradients, that fit the second-level cache.
constexpr int64_t kBackwardSlice = 512;

/// A block of queries on its way through the blocks of keys.
struct BackwardBlock {
  int64_t begin = 0, rows = 0;  ///< queries
  int64_t k0 = 0, count = 0;    ///< keys
  bool begun = false, done = false;
  SplitFactor queries, doutputs;                  ///< left factors: a line for each query
  SplitFactor queries_as_rows, doutputs_as_rows;  ///< left factors: a line for each column
  SplitFactor weights, dscores, dscores_as_rows;  ///< P R and dS, right factors; dS, left
  float delta[kTurnQueries], log_sum_exp[kTurnQueries];
  float* scores;    ///< (kTurnQueries, kTurnKeys)
  float* dweights;  ///< the same: dO V^T
  float* dqueries;  ///< (kTurnQueries, key_width), not yet times the scale

  int64_t row_tiles() const { return (rows + kTile - 1) / kTile; }
};

/// From scores and dO V^T of a block to P R and dS = P (dP - delta) in parts, in pieces of two queries, 16
/// apart: each is one half of the groups of a right factor.
class SoftmaxBackwardInPieces {
 public:
  SoftmaxBackwardInPieces(const Head<float>& h, DropoutReader& dropout, BackwardBlock& block)
      : h_(h), dropout_(dropout), block_(block) {}

  int64_t pieces() const { return block_.row_tiles() * kRowGroups; }
  bool done() const { return row_ >= block_.row_tiles() * kTile; }
  HWY_NOINLINE void advance() {
    differentiate(row_);
    ++row_;
    if (row_ % kRowGroups == 0) row_ += kRowGroups;
  }

 private:
  struct Row {
    int64_t visible = 0;
    const float *scores = nullptr, *dweights = nullptr;
    hn::Vec<Floats> log_sum_exp, delta;
    uint64_t mask[kTurnKeys / kDropoutWordBits] = {};
  };

  Row row_at(int64_t r) {
    Row row;
    row.scores = block_.scores + r * kTurnKeys;
    row.dweights = block_.dweights + r * kTurnKeys;
    const bool exists = r < block_.rows;
    row.log_sum_exp = hn::Set(Floats(), exists ? block_.log_sum_exp[r] : 0);
    row.delta = hn::Set(Floats(), exists ? block_.delta[r] : 0);
    if (!exists) return row;
    const int64_t q = block_.begin + r;
    row.visible = h_.visible(q, block_.k0, block_.count);
    if (h_.a.dropout.active()) dropout_.read(h_.mask_begin(q) + block_.k0, row.visible, row.mask);
    return row;
  }

  void differentiate(int64_t r) {
    const Floats d;
    const Row rows[] = {row_at(r), row_at(r + kRowGroups)};
    const auto scale = hn::Set(d, h_.a.scale), kept = hn::Set(d, static_cast<float>(h_.a.dropout.scale()));
    const bool drops = h_.a.dropout.active();
    const int64_t last = std::min(r / kTile * kTile + kTile, block_.rows) - 1,
                  group = r % kRowGroups * kRowGroups;
    const int64_t seen = h_.visible(block_.begin + last, block_.k0, block_.count);
    for (int64_t k = 0; k < seen; k += kTile) {
      hn::Vec<Floats> weight[2][2], dscore[2][2];  // of two queries, and keys k and k + 16
      const bool all = std::min(rows[0].visible, rows[1].visible) >= k + kTile;
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          const Row& row = rows[i];
          const int64_t at = k + j * kRowGroups;
          auto p = exponential(d, hn::MulSub(hn::LoadU(d, row.scores + at), scale, row.log_sum_exp));
          auto dweight = hn::LoadU(d, row.dweights + at);
          if (!all) {  // what is behind is no number, perhaps
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
        split<kAttentionParts>(dscore[i][0], dscore[i][1],
                               block_.dscores_as_rows.at(r + i * kRowGroups, k) + group);
      }
      for (int j = 0; j < 2; ++j) {
        const int64_t at = k + j * kRowGroups;
        split<kAttentionParts>(weight[0][j], weight[1][j], block_.weights.at(at, r) + group);
        split<kAttentionParts>(dscore[0][j], dscore[1][j], block_.dscores.at(at, r) + group);
      }
    }
  }

  const Head<float>& h_;
  DropoutReader& dropout_;
  BackwardBlock& block_;
  int64_t row_ = 0;
};

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
