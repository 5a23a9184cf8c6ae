// Positions of the tokens of a stack.
//
// Attention is permutation-equivariant: exchange two tokens, and their outputs are exchanged. Either a vector
// for each position is added to the embeddings (absolute positions), or attention itself compares positions
// by their distance (relative positions).
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

/// The positions of one stack: what is added to embeddings, and the inputs of its layers' self-attention.
/// Cross-attention has none.
class StackPositions {
 public:
  struct Shape {
    int64_t width = 512;        ///< D
    int heads = 8;              ///< H
    int64_t max_length = 512;   ///< the number of learned position vectors
    bool bidirectional = true;  ///< false for a decoder, whose queries see no later keys
  };
  StackPositions() = default;
  /// Registers the parameters of the whole stack under `prefix`: "embed_positions.weight" (max_length, D) or
  /// "relative_attention_bias.weight" (buckets, H). Throws kUsage and kShape for invalid options.
  StackPositions(ParameterTable& table, const std::string& prefix, const PositionOptions& options,
                 const Shape& shape);

  /// Rows `ids` of the token embeddings, plus the vectors of their positions `places`: (N, D).
  Var embed(Context& context, ParamRef words, const std::vector<int32_t>& ids,
            const std::vector<int32_t>& places, ops::EmbeddingOptions options) const;

  /// For the self-attention of one layer, whose own tables are registered under `prefix`.
  RelativePositions of_layer(ParameterTable& table, const std::string& prefix) const;

  /// The rotation angles of queries and keys at these positions; none, unless positions are rotary.
  std::optional<ops::RotaryAngles> angles(const std::vector<int32_t>& places, DType dtype) const;

 private:
  int64_t head_width() const { return shape_.width / shape_.heads; }

  PositionOptions options_;
  Shape shape_;
  struct Sinusoids;
  /// A table of at least `count` rows. Thread-safe.
  Tensor sinusoids(int64_t count) const;

  std::shared_ptr<Sinusoids> sinusoids_;  // with sinusoidal positions, else null
  ParamRef learned_;                      // (max_length, D)
  RelativePositions all_;                 // what all layers share
};

}  // namespace heed::nn
