// Any tokenizer: normalizer, pre-tokenizer, model, post-processor, decoder and added tokens. The readers of
// text/readers make them of files. Ids, tokens, spans and decoded text equal those of Hugging Face's
// tokenizers library for a tokenizer.json, and of SentencePiece for its models.
//
//   text -> added tokens apart -> normalizers -> pieces -> tokens -> special tokens around -> ids
//   ids -> tokens -> decoder -> text
//
// Truncation and padding in a tokenizer.json are ignored, as by transformers, which applies its own.
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
#include "text/pipeline/normalization/normalizer.h"
#include "text/pipeline/normalization/sentencepiece_normalizer.h"
#include "text/pipeline/post_processor.h"
#include "text/pipeline/segmentation/token_model.h"
#include "text/pipeline/words/pre_tokenizer.h"

namespace heed {

struct PipelineOptions {
  bool adds_special = true;       ///< whether the post-processor adds its special tokens
  bool pieces = true;             ///< fill Encoding::pieces
  bool spans = true;              ///< fill Encoding::spans
  SpecialTokenOptions read = {};  ///< special tokens in the text
  /// Tokenizes the pieces of the text instead of the model: for random tokenization.
  const std::function<void(std::string_view piece, std::vector<ModelToken>& tokens)>* model = nullptr;
};

/// The parts of a pipeline.
struct PipelineParts {
  std::string path = {};                 ///< for messages
  std::vector<std::string> pieces = {};  ///< of the model, by id; empty for ids of added tokens alone
  AddedVocabulary added = {};
  /// Whether the model sees the bytes of a text as they are, ill-formed UTF-8 too. There are no normalizers
  /// and pre-tokenizers then.
  bool keeps_bytes = false;
  /// Normalizes the bytes of a text instead of the next two.
  std::optional<SentencePieceNormalizer> sentencepiece = {};
  NormalizerList normalizers = {};
  PreTokenizerList pre_tokenizers = {};
  std::unique_ptr<const TokenModel> model = {};
  PostProcessor post_processor = PostProcessor();
  /// Without a decoder, tokens are joined by spaces.
  std::optional<DecoderList> decoder = {};
  /// The bytes of each id, instead of a decoder: texts of ids are joined.
  std::vector<std::string> texts = {};
};

/// Makes the spans of an encoding disjoint: of several tokens that share a character, the last one has it.
void separate_spans(size_t bytes, Encoding& encoding);

/// Immutable and thread-safe; cheap to copy.
class TextPipeline {
 public:
  /// Ids are 0 to size - 1.
  TextPipeline(PipelineParts parts, int32_t size);

  /// Throws kText for a text that the model cannot express, that is too long, that a step makes too long
  /// (text/pipeline/pipeline_steps.h), or that takes regular expressions too many steps (PatternBudget);
  /// Cancelled in a scope of StopScope.
  Encoding encode(std::string_view text, const PipelineOptions& options = {}) const;
  Encoding encode(std::string_view first, std::string_view second, const PipelineOptions& options = {}) const;

  /// The two halves of encode(): tokens without those of the post-processor, and what it makes of them.
  Encoding tokens(std::string_view text, const PipelineOptions& options = {}) const;
  Encoding finish(TokenizedText first, std::optional<TokenizedText> second, bool specials) const {
    return post_processor_.process(std::move(first), std::move(second), specials);
  }
  /// The tokens of segmentations that are drawn at random: subword regularization. Throws kUsage unless the
  /// model is a unigram model of SentencePiece.
  std::vector<Encoding> sample(std::string_view text, const SubwordSampling& sampling, Random& random) const;

  /// The same pipeline with other tokens around a text.
  TextPipeline with_frame(const std::vector<int32_t>& before, const std::vector<int32_t>& after) const;

  /// The text of ids; ids without a token are skipped, or, where ids have bytes, refused with kUsage.
  std::string decode(std::span<const int32_t> ids, bool skips_special = true) const;
  /// The bytes of a single id in the middle of a text, possibly a part of a character; special tokens have
  /// none. Empty if the text of a token depends on its neighbours.
  std::optional<std::string> bytes(int32_t id) const;
  /// Appends them, if there are any.
  void append_bytes(int32_t id, std::string& text) const;
  /// Whether decode() removes a space at the beginning.
  bool removes_leading_space() const;

  /// Ids are 0 to size() - 1.
  int32_t size() const;
  /// The token of an id, as the file spells it.
  const std::string& piece(int32_t id) const;
  const AddedVocabulary& added() const;
  bool is_special(int32_t id) const;
  /// The special tokens before and after a single text.
  std::vector<int32_t> before() const { return post_processor_.before(); }
  std::vector<int32_t> after() const { return post_processor_.after(); }

 private:
  /// Throws kUsage for an id that is none.
  size_t require_id(int32_t id) const;

  struct State;
  std::shared_ptr<const State> state_;
  PostProcessor post_processor_;
};

}  // namespace heed
