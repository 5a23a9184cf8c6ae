// Relative positions in self-attention: Shaw, T5 buckets, rotary.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/positions.h"
#include "nn/context.h"
#include "ops/attention/distances.h"
#include "ops/attention/rotary.h"

namespace heed::nn {

using heed::PositionKind;
using heed::PositionOptions;

/// The rotation angles of rows at these positions; none, unless positions are rotary. Throws kShape for an
/// odd head width.
std::optional<ops::RotaryAngles> rotary_angles(const PositionOptions& options,
                                               const std::vector<int32_t>& positions, int64_t head_width,
                                               DType dtype);

/// The table row of each distance for kRelative and kBuckets; undefined for other kinds.
ops::Distances distances_of(const PositionOptions& options);

/// The tables of kRelative and kBuckets and their use in self-attention; empty for other kinds.
class RelativePositions {
 public:
  RelativePositions() = default;
  /// Registers, under `prefix`, for kRelative "relative_keys" and "relative_values", both (2 distance + 1,
  /// d_k) and shared by the heads, and for kBuckets "relative_attention_bias.weight" (buckets, H).
  RelativePositions(ParameterTable& table, const std::string& prefix, const PositionOptions& options,
                    int heads, int64_t head_width);
  /// A bias for each head and row of `distances`: registers `name`.weight (rows, H). A copy is the same bias,
  /// as in T5 and MPNet, whose layers share one.
  RelativePositions(ParameterTable& table, const std::string& name, const ops::Distances& distances,
                    int heads);

  bool defined() const { return distances_.defined(); }

  /// Adds the contribution of distances to the scores of these operands.
  Var add_to_scores(Context& context, const Var& scores, const ops::AttentionOperands& operands,
                    const ops::AttentionLayout& layout) const;
  /// Adds it to the mix (Nq, D) of these weights and values.
  Var add_to_mix(Context& context, const ops::WeightedMix& mix, const ops::AttentionLayout& layout,
                 int heads) const;

 private:
  ops::Distances distances_;
  ParamRef keys_, values_, bias_;
};

}  // namespace heed::nn
