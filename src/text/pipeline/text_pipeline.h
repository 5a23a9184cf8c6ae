// Any tokenizer of a tokenizer.json: normalizer, pre-tokenizer, model, post-processor, decoder and added
// tokens. Ids, tokens, offsets and decoded text equal those of Hugging Face's tokenizers library.
//
//   text -> added tokens apart -> normalizers -> pieces -> tokens -> special tokens around -> ids
//   ids -> tokens -> decoder -> text
//
// Truncation and padding in the file are ignored, as by transformers, which applies its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/pipeline/added_vocabulary.h"
#include "text/pipeline/decoder.h"
#include "text/pipeline/normalizer.h"
#include "text/pipeline/post_processor.h"
#include "text/pipeline/pre_tokenizer.h"
#include "text/pipeline/segmentation/token_model.h"

namespace heed {

struct PipelineOptions {
  bool adds_special = true;       ///< whether the post-processor adds its special tokens
  bool tokens = true;             ///< fill PipelineEncoding::tokens
  SpecialTokenOptions read = {};  ///< special tokens in the text
  /// Tokenizes the pieces of the text instead of the model: for random tokenization.
  const std::function<void(std::string_view piece, std::vector<ModelToken>& tokens)>* model = nullptr;
};

/// The parts of a pipeline.
struct PipelineParts {
  std::string path;                 ///< for messages
  std::vector<std::string> pieces;  ///< of the model, by id; empty for ids of added tokens alone
  AddedVocabulary added;
  NormalizerList normalizers;
  PreTokenizerList pre_tokenizers;
  std::unique_ptr<const TokenModel> model;
  PostProcessor post_processor;
  /// Without a decoder, tokens are joined by spaces.
  std::optional<DecoderList> decoder;
};

/// Offsets in bytes of the text instead of code points.
std::vector<std::pair<size_t, size_t>> byte_spans(std::string_view text,
                                                  const std::vector<std::pair<uint32_t, uint32_t>>& offsets);

/// The same in order: of several tokens that share a character, the last one has it.
std::vector<std::pair<size_t, size_t>> separate_byte_spans(
    std::string_view text, const std::vector<std::pair<uint32_t, uint32_t>>& offsets);

/// Immutable and thread-safe; cheap to copy.
class TextPipeline {
 public:
  /// Ids are 0 to size - 1.
  TextPipeline(PipelineParts parts, int32_t size);

  /// Throws kText for a text that the model cannot express, that is too long, that a step makes too long
  /// (text/pipeline/pipeline_steps.h), or that takes regular expressions too many steps (PatternBudget);
  /// Cancelled in a scope of StopScope.
  PipelineEncoding encode(std::string_view text, const PipelineOptions& options = {}) const;
  PipelineEncoding encode(std::string_view first, std::string_view second,
                          const PipelineOptions& options = {}) const;

  /// The two halves of encode(): tokens without those of the post-processor, and what it makes of them.
  PipelineEncoding tokens(std::string_view text, const PipelineOptions& options = {}) const;
  PipelineEncoding finish(PipelineEncoding first, std::optional<PipelineEncoding> second,
                          bool specials) const;

  /// The text of ids; ids without a token are skipped.
  std::string decode(std::span<const int32_t> ids, bool skips_special = true) const;
  /// The bytes of a single id in the middle of a text, possibly a part of a character; special tokens have
  /// none. Empty if the text of a token depends on its neighbours.
  std::optional<std::string> bytes(int32_t id) const;
  /// Whether decode() removes a space at the beginning.
  bool removes_leading_space() const;

  /// Ids are 0 to size() - 1.
  int32_t size() const;
  /// The token of an id, as the file spells it.
  const std::string& piece(int32_t id) const;
  const AddedVocabulary& added() const;
  bool is_special(int32_t id) const;
  /// The special tokens before and after a single text.
  std::vector<int32_t> before() const;
  std::vector<int32_t> after() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace heed
