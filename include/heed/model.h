// A model for given token ids: logits, hidden states, and decoding step by step, of which searches are made.
//
// Ids are those of heed/tokenizer.h. T tokens, R rows of a decoding, D width, V vocabulary; all tensors are
// float32.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heed/error.h"
#include "heed/hooks.h"
#include "heed/tensor.h"
#include "heed/trace.h"

namespace heed {

struct ForwardOptions {
  bool last_only = false;        ///< logits of the last position alone
  bool hidden_states = false;    ///< ForwardResult::encoder and decoder
  std::vector<int32_t> types{};  ///< token types of an encoder-only model, one for each id; empty: all 0
  Hooks hooks{};
};

struct ForwardResult {
  /// (T, V): logits[t] are of the token that follows position t of the decoder; of a masked language model of
  /// the token at position t of the encoder. With `last_only` (1, V). Of a classifier (1, classes). Undefined
  /// for an encoder without a head.
  Tensor logits{};
  /// The residual stream before the first layer and after each one, the last after the stack's final norm:
  /// one (T, D) more than there are layers, the `hidden_states` of Hugging Face's library. Empty for a stack
  /// that the model does not have.
  std::vector<Tensor> encoder{}, decoder{};
};

/// A text that is being decoded, with its cache. Each row is a continuation of it; all have the same length.
/// For one thread at a time; lives on without its Model.
class Decoding {
 public:
  ~Decoding();
  Decoding(Decoding&&) noexcept;
  Decoding& operator=(Decoding&&) noexcept;

  /// (R, V): of the token that follows each row, as the model gives them. What a search forbids, such as the
  /// padding token, is up to the caller.
  const Tensor& logits() const;
  /// R; 1 after Model::start().
  int rows() const;
  /// The number of tokens that the decoder has read, in each row.
  int64_t length() const;

  /// Reads one token more in each of R new rows; returns logits(). New row r continues row parents[r] with
  /// tokens[r]; a row may be continued several times or not at all. Without `parents`, row r continues row r.
  /// Throws kShape for numbers of tokens or parents that do not match, or no tokens; kUsage for ids and rows
  /// that are not there, beyond the maximum length of the model, and after an exception in an earlier step;
  /// kNumeric for logits that are NaN or infinite.
  const Tensor& step(const std::vector<int32_t>& tokens, const std::vector<int>& parents = {});

 private:
  friend class Model;
  struct State;
  explicit Decoding(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A loaded model of any task. Thread-safe: calls compute on the calling thread.
class Model {
 public:
  /// Opens a model directory (docs/models.md). `precision` as of Translator. Throws Error.
  explicit Model(const std::string& directory, const std::string& precision = "");
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  bool has_encoder() const;
  bool has_decoder() const;
  /// 0 for a stack that the model does not have.
  int layers(Stack stack) const;
  /// Attention heads of each layer; 0 also for a recurrent network.
  int heads(Stack stack) const;
  /// Ids of the decoder, or of an encoder alone, are 0 to vocabulary_size() - 1; those of a source 0 to
  /// source_vocabulary_size() - 1, which is the same unless a translation model has two vocabularies.
  int64_t vocabulary_size() const;
  int64_t source_vocabulary_size() const;
  /// The maximum number of tokens of each stack; 0: no limit.
  int64_t max_length() const;
  /// The token that the decoder reads first: the start token of a translation model, and of language models
  /// that have one; -1: none.
  int32_t start_id() const;
  /// The tokens that end a text; none for models without a decoder.
  std::vector<int32_t> end_ids() const;

  /// One forward pass. `ids`: what the model reads; of a model with encoder and decoder its source, and then
  /// `decoder_ids` are what the decoder reads, start_id() first; empty: start_id() alone. Hidden states equal
  /// those of Inspector::lens() for the same ids. Throws kUsage for no ids, ids that are not in the
  /// vocabulary, more than max_length(), `decoder_ids` of a model that has not both stacks, token types that
  /// the model does not have, and hooks on states that it does not have; kShape for another number of token
  /// types; kNumeric for results that are NaN or infinite; and what a hook throws.
  ForwardResult forward(const std::vector<int32_t>& ids, const std::vector<int32_t>& decoder_ids = {},
                        const ForwardOptions& options = {}) const;

  /// Begins a decoding. `ids`: the source, which is encoded, or the prompt of a language model. `decoder_ids`
  /// as of forward(). All tokens are read: Decoding::logits() is of the next one, and equal to the last
  /// position of forward() up to rounding. `hooks` are called in this and each step. Throws as forward(), and
  /// kUsage for a model without a decoder.
  Decoding start(const std::vector<int32_t>& ids, const std::vector<int32_t>& decoder_ids = {},
                 const Hooks& hooks = {}) const;

 private:
  friend class Decoding;
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace heed
