// The tokenizer of all models: text to ids by a pipeline (text/pipeline/text_pipeline.h), and back. Readers
// of a model directory make it of any files:
//
//   language models       text/tokenizers/language_tokenizer.h
//   encoders              text/tokenizers/encoder_tokenizer.h
//   translation models    text/tokenizers/translation_tokenizer.h, one tokenizer for each side
//
// Ids equal those of Hugging Face's tokenizers, with one difference for untrusted input: special tokens in a
// text ("</s>") are ordinary text unless asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/text_pipeline.h"
#include "text/tokenizers/vocabulary.h"
#include "text/tokenizers/wordpiece_dropout.h"

namespace heed {

struct EncodeOptions {
  /// Truncate to this many tokens, including special ones; 0: no limit. Tokens are removed from the end of a
  /// text, or from its beginning (TokenizerParts::truncates_left); of a pair, from the longer text, then
  /// alternately from both.
  size_t max_length = 0;
  bool special_tokens = false;  ///< special tokens in the text stand for themselves
  /// Whether "[MASK]" in a text is the mask token, for masked language models.
  bool read_mask = false;
  /// Of several tokens that share a character, each has its span, where otherwise the last one may have it.
  bool shared_spans = false;
  /// Tokenizes the words of a WordPiece vocabulary at random.
  std::optional<WordPieceDropout> dropout = {};
};

/// What a tokenizer consists of.
struct TokenizerParts {
  TextPipeline pipeline;
  std::string kind = {};                                   ///< for messages
  std::optional<int32_t> start = {}, end = {}, mask = {};  ///< ids of special tokens
  /// The pieces with the special ones; none for language models.
  std::shared_ptr<const Vocabulary> vocabulary = {};
  std::vector<int32_t> in_text = {};  ///< special tokens that a text may spell, such as T5's <extra_id_0>
  /// How tokens are shown: as the vocabulary spells them, and unknown ones as the text does; or by
  /// ModelTokenizer::piece().
  bool shows_pieces = false;
  /// Whether pieces are spelled in the characters of bytes, and shown as text.
  bool spells_bytes = false;
  bool is_word_piece = false;    ///< pieces that continue a word begin with "##"
  bool separates_spans = false;  ///< of several tokens that share a character, the last one has it
  /// Whether text_of() removes the space that a text begins with.
  bool removes_space = false;
  bool reads_ids = false;       ///< a text is a list of ids, "1 403 407"
  size_t max_length = 0;        ///< of the model, in tokens; 0: unknown
  bool truncates_left = false;  ///< of a text that is too long, the end is kept instead of the beginning
  std::string mask_name = {};   ///< how the mask token is spelled, whether there is one or not
  /// Writes the files of the tokenizer into a directory.
  std::function<void(const std::string& directory)> save = {};
  /// The tokenizer.json that save() writes for other libraries; empty: none.
  std::function<std::string()> tokenizer_json = {};
  std::string beyond_hugging_face = {};  ///< see ModelTokenizer::beyond_hugging_face()
};

/// Immutable and thread-safe; cheap to copy.
class ModelTokenizer {
 public:
  ModelTokenizer() = default;  ///< none yet
  explicit ModelTokenizer(TokenizerParts parts)
      : parts_(std::make_shared<const TokenizerParts>(std::move(parts))) {}

  /// Writes the files that it was made of, or their like; the directory must exist. Throws kFile.
  void save(const std::string& directory) const { parts_->save(directory); }
  /// The content of the tokenizer.json that save() writes for other libraries; empty if not needed.
  std::string tokenizer_json() const { return parts_->tokenizer_json ? parts_->tokenizer_json() : ""; }
  /// Why Hugging Face's library cannot reproduce this tokenizer; empty if it can.
  const std::string& beyond_hugging_face() const { return parts_->beyond_hugging_face; }
  const std::string& kind() const { return parts_->kind; }

  /// Ids are 0 to size() - 1.
  int32_t size() const { return pipeline().size(); }
  /// The start token (GPT-2's <|endoftext|>, Llama's <s>, [CLS]) if any.
  std::optional<int32_t> start_id() const { return parts_->start; }
  /// The end token ([SEP]).
  std::optional<int32_t> end_id() const { return parts_->end; }
  std::optional<int32_t> mask_id() const { return parts_->mask; }
  /// Whether the start token precedes every text, as in Llama, or only stands for an empty prompt, as in
  /// GPT-2.
  bool starts_every_text() const { return !pipeline().before().empty(); }
  /// Whether an id is a special token.
  bool is_special(int32_t id) const;
  /// Whether a text begins with a space that text_of() removes.
  bool adds_space() const { return parts_->removes_space; }
  bool is_word_piece() const { return parts_->is_word_piece; }
  /// Whether texts are lists of ids, of a model without a tokenizer.
  bool reads_ids() const { return parts_->reads_ids; }
  size_t max_length() const { return parts_->max_length; }
  const std::string& mask_name() const { return parts_->mask_name; }
  bool has_vocabulary() const { return parts_->vocabulary != nullptr; }
  /// Not of language models.
  const Vocabulary& vocabulary() const { return *parts_->vocabulary; }

  /// A text, or two, with the special tokens around. Throws kText for a text that the model cannot express or
  /// that is too long (TextPipeline::encode), kUsage for dropout in another vocabulary than WordPiece.
  Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;
  Encoding encode(std::string_view first, std::string_view second, const EncodeOptions& options = {}) const;
  /// The tokens of a text alone; and their ids.
  Encoding tokens(std::string_view text, const EncodeOptions& options = {}) const;
  std::vector<int32_t> ids(std::string_view text, const EncodeOptions& options = {}) const;
  /// tokens() of segmentations that are drawn at random. Throws as TextPipeline::sample().
  std::vector<Encoding> sample(std::string_view text, const SubwordSampling& sampling, Random& random) const {
    return pipeline().sample(text, sampling, random);
  }
  /// The input of a language model for continuing `text`: its ids, after the start token if every text begins
  /// with it or there are no ids. Throws kUsage for an empty text if there is no start token.
  std::vector<int32_t> prompt_ids(std::string_view text, const EncodeOptions& options = {}) const;

  /// Readable text without special tokens; BERT's words are joined by spaces. Not the exact inverse of
  /// encode(). Throws kUsage for invalid ids.
  std::string decode(std::span<const int32_t> ids) const;
  /// The bytes of an id in the middle of a text, possibly a part of a character; empty for special tokens.
  /// Throws kUsage for an invalid id.
  std::string bytes(int32_t id) const { return pipeline().bytes(id).value_or(""); }
  /// What a language model writes: the bytes of the ids. Tokenizers that put a space before a text remove it,
  /// unless the ids `continue` another text.
  std::string text_of(std::span<const int32_t> ids, bool continues = false) const;
  /// The display form of an id in UTF-8: "▁the" begins with a space, "<0x0A>" is a byte, "<|endoftext|>" a
  /// special token.
  std::string piece(int32_t id) const;
  /// The id with this display form; empty if there is none.
  std::optional<int32_t> find(std::string_view piece) const;

  const TextPipeline& pipeline() const { return parts_->pipeline; }
  /// The same tokenizer with other tokens around a text.
  ModelTokenizer with_frame(const std::vector<int32_t>& before, const std::vector<int32_t>& after) const;

 private:
  Encoding encode_texts(std::string_view first, std::optional<std::string_view> second,
                        const EncodeOptions& options) const;
  Encoding read(std::string_view text, const EncodeOptions& options, bool ids_alone) const;

  std::shared_ptr<const TokenizerParts> parts_;
};

/// Incremental decoding for streaming: returns only complete characters. Invalid UTF-8 becomes U+FFFD.
class TextStream {
 public:
  /// `continues`: see ModelTokenizer::text_of. The tokenizer must outlive this.
  explicit TextStream(const ModelTokenizer& tokenizer, bool continues = false)
      : tokenizer_(tokenizer), at_beginning_(!continues) {}
  /// The newly completed text; may be empty.
  std::string push(int32_t id);
  /// The remaining text at the end.
  std::string finish();

 private:
  const ModelTokenizer& tokenizer_;
  bool at_beginning_;
  std::string waiting_;  // bytes of an incomplete character
};

}  // namespace heed
