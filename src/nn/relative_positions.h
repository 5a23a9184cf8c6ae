// What self-attention itself knows of the places of its queries and keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/positions.h"
#include "nn/context.h"
#include "ops/distances.h"
#include "ops/rotary.h"

namespace heed::nn {

using heed::PositionKind;
using heed::PositionOptions;

/// How far rows at these places are turned; none, unless positions are rotary. Throws kShape for heads of an
/// odd width.
std::optional<ops::RotaryAngles> rotary_angles(const PositionOptions& options,
                                               const std::vector<int32_t>& places, int64_t head_width,
                                               DType dtype);

/// Which row of their table kRelative and kBuckets take for a distance; not defined for other kinds.
ops::Distances distances_of(const PositionOptions& options);

/// The tables of kRelative and kBuckets, and what self-attention does with them; for other kinds, nothing.
class RelativePositions {
 public:
  RelativePositions() = default;
  /// Registers, under `prefix`, for kRelative "relative_keys" and "relative_values", both (2 distance + 1,
  /// d_k) and shared by the heads, and for kBuckets "relative_attention_bias.weight" (buckets, H).
  RelativePositions(ParameterTable& table, const std::string& prefix, const PositionOptions& options,
                    int heads, int64_t head_width);

  bool defined() const { return distances_.defined(); }

  /// What distances add to the scores of these operands.
  Var add_to_scores(Context& context, const Var& scores, const ops::AttentionOperands& operands,
                    const ops::AttentionLayout& layout) const;
  /// What they add to the mix (Nq, D) that was made with these weights.
  Var add_to_mix(Context& context, const ops::WeightedMix& mix, const ops::AttentionLayout& layout,
                 int heads) const;

 private:
  ops::Distances distances_;
  ParamRef keys_, values_, bias_;
};

}  // namespace heed::nn
