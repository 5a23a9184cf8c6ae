// Relative positions: scores or values that depend on the distance between query and key only, so they are
// translation-invariant.
//
// The rows of a small table are for distances, and many distances may share a row. Three ways to use it:
//
//   bias     score_ij += table[row(j - i), head]               T5: Raffel et al., "Exploring the limits of
//                                                              transfer learning", 2020, section 2.1
//   keys     score_ij += scale * q_i . table[row(j - i)]       Shaw, Uszkoreit and Vaswani, "Self-attention
//   values   mix_i    += sum_j weight_ij * table[row(j - i)]   with relative position representations", 2018
//
// j - i is the position of the key minus that of the query; as in the look-ahead mask, the last query of a
// sequence is at the position of its last key. All three need the weights, so they go with attention_scores()
// and attention_mix(), not with flash_attention().
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/tape.h"
#include "ops/attention/attention.h"

namespace heed::ops {

struct BucketOptions {
  int64_t buckets = 32;  ///< rows of the table
  int64_t reach = 128;   ///< distances from here on share the last bucket of their side
  /// Whether keys after the query have half of the buckets. Otherwise they share that of distance 0, since
  /// look-ahead masks hide them.
  bool bidirectional = true;
  int64_t table_rows = 0;  ///< of a larger table, whose last rows are not used; 0: `buckets`
};

/// The table row of each distance.
class Distances {
 public:
  Distances() = default;
  /// Shaw's: a row for each distance from -reach to reach, and further ones count as these. Throws kUsage for
  /// a reach below 1.
  static Distances clipped(int64_t reach);
  /// T5's: small distances have buckets of their own, larger ones share them, in steps that grow with the
  /// logarithm. Throws kUsage for numbers that leave no bucket or no such steps.
  static Distances buckets(const BucketOptions& options);

  bool defined() const { return !rows_.empty(); }
  /// Rows of the table.
  int64_t count() const { return count_; }
  int32_t row(int64_t distance) const;

 private:
  int64_t count_ = 0, reach_ = 0;
  std::vector<int32_t> rows_;  // of the distances from -reach_ to reach_
};

/// scores as attention_scores() gives them, table (rows, H) -> the scores with their biases.
Var add_distance_bias(const Var& scores, const Var& table, const Distances& distances,
                      const AttentionLayout& layout, int heads);

/// scores that attention_scores() gave for these operands, table (rows, d_k), the same for all heads.
Var add_distance_keys(const Var& scores, const Var& table, const Distances& distances,
                      const AttentionOperands& operands, const AttentionLayout& layout);

/// mixed (query rows, H d_v) that attention_mix() made with these weights, table (rows, d_v), the same for
/// all heads.
struct WeightedMix {
  Var weights, mixed;
  MatmulPrecision precision = MatmulPrecision::kHighest;
};
Var add_distance_values(const WeightedMix& mix, const Var& table, const Distances& distances,
                        const AttentionLayout& layout, int heads);

}  // namespace heed::ops
