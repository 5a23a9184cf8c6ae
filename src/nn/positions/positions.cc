#include "nn/positions/positions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

#include "nn/positions/embedding.h"
#include "nn/positions/sinusoids.h"
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

/// A table that grows on demand, since a config may allow a million positions.
struct StackPositions::Sinusoids {
  std::mutex mutex;
  Tensor table;   // (positions so far, D)
  Tensor stored;  // (length, D), the first rows as a file has them; undefined if none does
};

StackPositions::StackPositions(ParameterTable& table, const std::string& prefix,
                               const PositionOptions& options, const Shape& shape)
    : options_(options), shape_(shape) {
  options_.bidirectional = shape.bidirectional;
  switch (options.kind) {
    case PositionKind::kSinusoidal:
    case PositionKind::kSinusoidalInterleaved:
      sinusoids_ = std::make_shared<Sinusoids>();
      if (shape.frequencies == SinusoidFrequencies::kByHalves) {
        table.ignore_prefix(prefix + "embed_positions.weights");  // of older files, not read by transformers
        break;
      }
      // Old files of Marian models hold them too.
      table.expect({.name = prefix + "embed_positions.weight",
                    .width = shape.width,
                    .values = SinusoidalPositions{shape.width, sinusoid_layout(options.kind),
                                                  [state = sinusoids_](const Tensor& rows) {
                                                    const std::lock_guard lock(state->mutex);
                                                    state->stored = rows;
                                                    state->table = Tensor();
                                                  }},
                    .tolerance = 1.0 / 256});  // bfloat16 below 1
      break;
    case PositionKind::kLearned: {
      const double deviation = std::pow(static_cast<double>(shape.width), -0.5);
      learned_ = table.add({prefix + "embed_positions.weight",
                            {shape.first_row + shape.max_length, shape.width},
                            {Initialization::Kind::kNormal, deviation},
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

Tensor StackPositions::computed_rows(int64_t count, DType dtype) const {
  if (shape_.frequencies == SinusoidFrequencies::kByWidth) {
    return sinusoid_table(count, shape_.width, sinusoid_layout(options_.kind), dtype);
  }
  Tensor rows = fairseq_sinusoid_table(count, shape_.width, dtype);
  if (shape_.padding_id < 0 || shape_.padding_id >= count) return rows;
  std::memset(rows.narrow(0, shape_.padding_id, 1).bytes(), 0,
              static_cast<size_t>(shape_.width) * size_of(dtype));
  return rows;
}

std::vector<int32_t> StackPositions::rows_of(const std::vector<int32_t>& ids,
                                             const std::vector<int32_t>& positions) const {
  std::vector<int32_t> rows = positions;
  if (shape_.first_row == 0) return rows;
  for (size_t n = 0; n < rows.size(); ++n) {
    const bool none = shape_.padding_id >= 0 && ids[n] == shape_.padding_id;
    rows[n] = none ? shape_.padding_id : rows[n] + static_cast<int32_t>(shape_.first_row);
  }
  return rows;
}

Tensor StackPositions::sinusoids(int64_t count) const {
  constexpr int64_t kLeast = 128;
  const std::lock_guard lock(sinusoids_->mutex);
  Tensor& table = sinusoids_->table;
  if (!table.defined() || table.dim(0) < count) {
    const auto rounded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(count, kLeast))));
    const int64_t limit = shape_.first_row + shape_.max_length;
    table = computed_rows(std::min(rounded, std::max(count, limit)));
    if (const Tensor& stored = sinusoids_->stored; stored.defined()) {
      const int64_t size = std::min(stored.size(), table.size());
      std::copy_n(stored.data<float>(), size, table.data<float>());
    }
  }
  return table;
}

Var StackPositions::embed(Context& context, ParamRef words, const std::vector<int32_t>& ids,
                          const std::vector<int32_t>& positions, ops::EmbeddingOptions options) const {
  const std::vector<int32_t> rows = rows_of(ids, positions);
  if (sinusoids_ != nullptr) {
    const DType dtype = context.values->flat().dtype();
    const int64_t count = rows.empty() ? 1 : *std::max_element(rows.begin(), rows.end()) + int64_t{1};
    const Tensor table = dtype == DType::kFloat32 ? sinusoids(count) : computed_rows(count, dtype);
    if (context.states != nullptr && context.states->wants(StateKind::kTokens)) {
      const Var x = token_embedding(context, shape_.stack, words, ids, options);  // (N, D)
      return ops::add(x, ops::embedding(table, id_tensor(rows)));                 // (N, D)
    }
    options.positions = table;
    options.position_ids = id_tensor(rows);
  }
  Var x = token_embedding(context, shape_.stack, words, ids, options);  // (N, D)
  if (!learned_.defined()) return x;
  return ops::add(x, ops::embedding(context.parameter(learned_), id_tensor(rows)));  // (N, D)
}

RelativePositions StackPositions::of_layer(ParameterTable& table, const std::string& prefix) const {
  if (options_.kind != PositionKind::kRelative) return all_;
  return {table, prefix, options_, shape_.heads, head_width()};
}

std::optional<ops::RotaryAngles> StackPositions::angles(const std::vector<int32_t>& positions,
                                                        DType dtype) const {
  return rotary_angles(options_, positions, head_width(), dtype);
}

}  // namespace heed::nn
