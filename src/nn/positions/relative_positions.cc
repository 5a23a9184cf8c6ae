#include "nn/positions/relative_positions.h"

namespace heed::nn {

std::optional<ops::RotaryAngles> rotary_angles(const PositionOptions& options,
                                               const std::vector<int32_t>& positions, int64_t head_width,
                                               DType dtype) {
  const bool halves = options.kind == PositionKind::kRotary;
  if (!halves && options.kind != PositionKind::kRotaryInterleaved) return std::nullopt;
  return ops::rotary_angles(positions,
                            {.head_width = head_width,
                             .base = options.rotary_base,
                             .layout = halves ? ops::RotaryLayout::kHalves : ops::RotaryLayout::kInterleaved,
                             .dtype = dtype});
}

ops::Distances distances_of(const PositionOptions& options) {
  if (options.kind == PositionKind::kRelative) return ops::Distances::clipped(options.max_relative_distance);
  if (options.kind != PositionKind::kBuckets) return {};
  return ops::Distances::buckets({options.buckets, options.bucket_max_distance, options.bidirectional});
}

RelativePositions::RelativePositions(ParameterTable& table, const std::string& prefix,
                                     const PositionOptions& options, int heads, int64_t head_width) {
  distances_ = distances_of(options);
  if (options.kind == PositionKind::kRelative) {
    const Shape shape{distances_.count(), head_width};
    keys_ = table.add({prefix + "relative_keys", shape, {}, {}});
    values_ = table.add({prefix + "relative_values", shape, {}, {}});
  } else if (options.kind == PositionKind::kBuckets) {
    *this = RelativePositions(table, prefix + "relative_attention_bias", distances_, heads);
  }
}

RelativePositions::RelativePositions(ParameterTable& table, const std::string& name,
                                     const ops::Distances& distances, int heads)
    : distances_(distances),
      bias_(table.add({name + ".weight", {distances.count(), heads}, {Initialization::Kind::kZeros}, {}})) {}

Var RelativePositions::add_to_scores(Context& context, const Var& scores,
                                     const ops::AttentionOperands& operands,
                                     const ops::AttentionLayout& layout) const {
  if (bias_.defined()) {
    return ops::add_distance_bias(scores, context.parameter(bias_), distances_, layout, operands.heads);
  }
  if (!keys_.defined()) return scores;
  return ops::add_distance_keys(scores, context.parameter(keys_), distances_, operands, layout);
}

Var RelativePositions::add_to_mix(Context& context, const ops::WeightedMix& mix,
                                  const ops::AttentionLayout& layout, int heads) const {
  if (!values_.defined()) return mix.mixed;
  return ops::add_distance_values(mix, context.parameter(values_), distances_, layout, heads);
}

}  // namespace heed::nn
