#include "nn/positions.h"

#include <cmath>

#include "ops/elementwise.h"

namespace heed::nn {

Tensor sinusoidal_positions(int64_t count, int64_t width, SinusoidLayout layout, DType dtype) {
  const int64_t sines = (width + 1) / 2;
  std::vector<double> table(static_cast<size_t>(count * width));
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < sines; ++k) {
      const double angle = static_cast<double>(i) /
                           std::pow(10000.0, 2.0 * static_cast<double>(k) / static_cast<double>(width));
      const bool halves = layout == SinusoidLayout::kHalves;
      const int64_t sine_at = halves ? k : 2 * k, cosine_at = halves ? sines + k : 2 * k + 1;
      table[i * width + sine_at] = std::sin(angle);
      if (cosine_at < width) table[i * width + cosine_at] = std::cos(angle);
    }
  }
  return Tensor::from(table, {count, width}).to(dtype);
}

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
      all_ = RelativePositions(table, prefix, options, {shape.heads, head_width(), shape.both_sides});
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

Var StackPositions::embed(Context& context, const Var& words, const std::vector<int32_t>& ids,
                          const std::vector<int32_t>& places, ops::EmbeddingOptions options) const {
  if (sinusoids_.defined()) {
    options.positions = words.dtype() == DType::kFloat32
                            ? sinusoids_
                            : sinusoidal_positions(shape_.longest, shape_.width,
                                                   sinusoid_layout(options_.kind), words.dtype());
    options.places = id_tensor(places);
  }
  const Var x = ops::embedding(words, id_tensor(ids), options);  // (N, D)
  if (!learned_.defined()) return x;
  return ops::add(x, ops::embedding(context.parameter(learned_), id_tensor(places)));  // (N, D)
}

RelativePositions StackPositions::of_layer(ParameterTable& table, const std::string& prefix) const {
  if (options_.kind != PositionKind::kRelative) return all_;
  return RelativePositions(table, prefix, options_, {shape_.heads, head_width(), shape_.both_sides});
}

std::optional<ops::RotaryAngles> StackPositions::angles(const std::vector<int32_t>& places,
                                                        DType dtype) const {
  return rotary_angles(options_, places, head_width(), dtype);
}

}  // namespace heed::nn
