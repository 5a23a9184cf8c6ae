#include "nn/positions.h"

#include <cmath>

#include "nn/embedding.h"
#include "ops/elementwise.h"

namespace heed::nn {

namespace {

SinusoidLayout sinusoid_layout(PositionKind kind) {
  return kind == PositionKind::kSinusoidalInterleaved ? SinusoidLayout::kInterleaved
                                                      : SinusoidLayout::kHalves;
}

Tensor id_tensor(const std::vector<int32_t>& ids) {
  return Tensor::from(ids, {static_cast<int64_t>(ids.size())});
}

}  // namespace

StackPositions::StackPositions(ParameterTable& table, const std::string& prefix,
                               const PositionOptions& options, const Shape& shape)
    : options_(options), shape_(shape) {
  options_.both_sides = shape.both_sides;
  switch (options.kind) {
    case PositionKind::kSinusoidal:
    case PositionKind::kSinusoidalInterleaved:
      sinusoids_ = sinusoidal_positions(shape.longest, shape.width, sinusoid_layout(options.kind));
      break;
    case PositionKind::kLearned: {
      const double deviation = std::pow(static_cast<double>(shape.width), -0.5);
      learned_ = table.add({prefix + "embed_positions.weight",
                            {shape.longest, shape.width},
                            {Initialisation::Kind::kNormal, deviation},
                            {}});
      break;
    }
    case PositionKind::kBuckets:
      all_ = RelativePositions(table, prefix, options_, shape.heads, head_width());
      break;
    case PositionKind::kRotary:
    case PositionKind::kRotaryInterleaved:
      angles({0}, DType::kFloat32);  // throws for heads of an odd width
      break;
    case PositionKind::kNone:
    case PositionKind::kRelative:
      break;
  }
}

Var StackPositions::embed(Context& context, ParamRef words, const std::vector<int32_t>& ids,
                          const std::vector<int32_t>& places, ops::EmbeddingOptions options) const {
  if (sinusoids_.defined()) {
    const DType dtype = context.values->flat().dtype();
    options.positions =
        dtype == DType::kFloat32
            ? sinusoids_
            : sinusoidal_positions(shape_.longest, shape_.width, sinusoid_layout(options_.kind), dtype);
    options.places = id_tensor(places);
  }
  Var x = embedding(context, words, ids, options);  // (N, D)
  if (!learned_.defined()) return x;
  return ops::add(x, ops::embedding(context.parameter(learned_), id_tensor(places)));  // (N, D)
}

RelativePositions StackPositions::of_layer(ParameterTable& table, const std::string& prefix) const {
  if (options_.kind != PositionKind::kRelative) return all_;
  return {table, prefix, options_, shape_.heads, head_width()};
}

std::optional<ops::RotaryAngles> StackPositions::angles(const std::vector<int32_t>& places,
                                                        DType dtype) const {
  return rotary_angles(options_, places, head_width(), dtype);
}

}  // namespace heed::nn
