// How a stack of layers knows the order of its words.
//
// Attention by itself does not: exchange two words, and their outputs are exchanged. Either a vector for each
// place is added to the embeddings (absolute positions), or attention compares places itself, and then all
// that counts is how far apart two words are (relative positions).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/positions.h"
#include "nn/context.h"
#include "nn/relative_positions.h"
#include "ops/embedding.h"
#include "ops/rotary.h"

namespace heed::nn {

/// The positions of one stack: what they add to embeddings, and what its layers' self-attention is told.
/// Attention to another stack's output has none.
class StackPositions {
 public:
  struct Shape {
    int64_t width = 512;        ///< D
    int heads = 8;              ///< H
    int64_t max_length = 512;   ///< there are vectors for so many places, where there are any
    bool bidirectional = true;  ///< words behind are seen too: false for a decoder
  };
  StackPositions() = default;
  /// Registers what is learned for the whole stack under `prefix`: "embed_positions.weight" (max_length, D)
  /// or "relative_attention_bias.weight" (buckets, H). Throws kUsage and kShape for options that make no
  /// sense.
  StackPositions(ParameterTable& table, const std::string& prefix, const PositionOptions& options,
                 const Shape& shape);

  /// Rows `ids` of the table of words, and what there is for their `places`: (N, D).
  Var embed(Context& context, ParamRef words, const std::vector<int32_t>& ids,
            const std::vector<int32_t>& places, ops::EmbeddingOptions options) const;

  /// For the self-attention of one layer, whose own tables are registered under `prefix`.
  RelativePositions of_layer(ParameterTable& table, const std::string& prefix) const;

  /// How far the queries and keys at these places are turned; none, unless positions are rotary.
  std::optional<ops::RotaryAngles> angles(const std::vector<int32_t>& places, DType dtype) const;

 private:
  int64_t head_width() const { return shape_.width / shape_.heads; }

  PositionOptions options_;
  Shape shape_;
  struct Sinusoids;
  /// Rows for places below `count`, at least; more where there are more. Thread-safe.
  Tensor sinusoids(int64_t count) const;

  std::shared_ptr<Sinusoids> sinusoids_;  // with sinusoidal positions, else null
  ParamRef learned_;                      // (max_length, D)
  RelativePositions all_;                 // what all layers share
};

}  // namespace heed::nn
