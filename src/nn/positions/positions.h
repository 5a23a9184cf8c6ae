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
#include "nn/positions/relative_positions.h"
#include "nn/positions/sinusoids.h"
#include "ops/attention/rotary.h"
#include "ops/embedding.h"

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
    int64_t head_width = 0;     ///< d_k; 0: D / H
    /// The row of the first position in the table of learned or sinusoidal positions: 2 in BART and M2M-100.
    int64_t first_row = 0;
    SinusoidFrequencies frequencies = SinusoidFrequencies::kByWidth;  ///< of kSinusoidal
    /// With kByHalves: tokens with this id get no position vector, as in M2M-100; -1: all get one.
    int32_t padding_id = -1;
    Stack stack = Stack::kEncoder;  ///< as which hidden states are reported
  };
  StackPositions() = default;
  /// Registers the parameters of the whole stack under `prefix`: "embed_positions.weight" (first_row +
  /// max_length, D) or "relative_attention_bias.weight" (buckets, H). Throws kUsage and kShape for invalid
  /// options.
  StackPositions(ParameterTable& table, const std::string& prefix, const PositionOptions& options,
                 const Shape& shape);

  /// Rows `ids` of the token embeddings, plus the vectors of their positions `positions`: (N, D).
  Var embed(Context& context, ParamRef words, const std::vector<int32_t>& ids,
            const std::vector<int32_t>& positions, ops::EmbeddingOptions options) const;

  /// For the self-attention of one layer, whose own tables are registered under `prefix`.
  RelativePositions of_layer(ParameterTable& table, const std::string& prefix) const;

  /// The rotation angles of queries and keys at these positions; none, unless positions are rotary.
  std::optional<ops::RotaryAngles> angles(const std::vector<int32_t>& positions, DType dtype) const;

  /// The table of sinusoidal positions in float32, with at least `count` rows; its first rows are those that
  /// the weights hold, if they do. Thread-safe.
  Tensor sinusoids(int64_t count) const;

 private:
  int64_t head_width() const {
    return shape_.head_width > 0 ? shape_.head_width : shape_.width / shape_.heads;
  }
  /// The first `count` rows, at least.
  Tensor computed_rows(int64_t count, DType dtype = DType::kFloat32) const;
  /// The rows of the table for tokens with these ids.
  std::vector<int32_t> rows_of(const std::vector<int32_t>& ids, const std::vector<int32_t>& positions) const;

  PositionOptions options_;
  Shape shape_;
  struct Sinusoids;

  std::shared_ptr<Sinusoids> sinusoids_;  // with sinusoidal positions, else null
  ParamRef learned_;                      // (first_row + max_length, D)
  RelativePositions all_;                 // what all layers share
};

}  // namespace heed::nn
