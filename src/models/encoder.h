// The interface of encoders: models that read a text and give a vector for each token. Classifiers and masked
// language models are encoders with a head on top; an encoder without a head gives sentence embeddings.
#pragma once

#include <cstdint>
#include <vector>

#include "base/sequences.h"
#include "models/model.h"
#include "nn/context.h"

namespace heed::models {

using heed::Sequences;

/// Tokenized texts with special tokens.
struct EncoderInput {
  Sequences text;
  /// Token types: 0 for the first text, 1 for the second; empty: all 0.
  std::vector<int32_t> types;
};

class Encoder : public Model {
 public:
  Task task() const override { return Task::kEmbedding; }
  virtual int64_t vocabulary_size() const = 0;
  /// D, the width of the vectors.
  virtual int64_t width() const = 0;
  /// The maximum input length in tokens, including special tokens.
  virtual int64_t max_length() const = 0;
  /// Number of token types; 0 for models that do not read them.
  virtual int64_t types() const = 0;
  virtual int32_t padding_id() const = 0;

  /// The vector of each token, without the head: (N, D).
  virtual Var encode(nn::Context& context, const EncoderInput& input) const = 0;
};

}  // namespace heed::models
