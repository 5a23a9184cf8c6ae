// Decoders: from tokens back to text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/normalization/sentencepiece_normalizer.h"
#include "text/pipeline/segmentation/sentencepiece_vocabulary.h"
#include "text/pipeline/words/pattern.h"

namespace heed {

/// One step. Immutable and thread-safe.
class DecoderStep {
 public:
  virtual ~DecoderStep() = default;
  virtual void apply(std::vector<std::string>& tokens) const = 0;
  /// What a single token in the middle of a text contributes: bytes, possibly a part of a character. `done`:
  /// no later step changes it. Empty if the text of a token depends on others.
  virtual std::optional<std::string> bytes(std::string_view token, bool& done) const;
  /// Whether it removes a space at the beginning of the text.
  virtual bool removes_leading_space() const { return false; }
};

using DecoderList = std::vector<std::unique_ptr<const DecoderStep>>;

/// Inverts byte_level_pre_tokenizer(); tokens with other characters stay.
std::unique_ptr<DecoderStep> byte_level_decoder();
/// The replacement becomes a space; in the first token, if `strips_first`, it is dropped.
std::unique_ptr<DecoderStep> metaspace_decoder(char32_t replacement, bool strips_first);
/// Words are joined by spaces; tokens with the prefix continue a word. `cleans_up` removes spaces before
/// punctuation and in contractions ("do n't").
std::unique_ptr<DecoderStep> word_piece_decoder(std::string prefix, bool cleans_up);
/// The suffix ends words.
std::unique_ptr<DecoderStep> bpe_decoder(std::string suffix);
std::unique_ptr<DecoderStep> replace_decoder(Pattern pattern, std::string content);
/// Joins all tokens.
std::unique_ptr<DecoderStep> fuse_decoder();
/// Removes up to `left` and `right` characters equal to `content` from the ends of each token.
std::unique_ptr<DecoderStep> strip_decoder(char32_t content, size_t left, size_t right);
/// Runs of byte pieces ("<0xE4>") become characters, or one U+FFFD for each byte if they are not valid UTF-8.
std::unique_ptr<DecoderStep> byte_fallback_decoder();
struct CtcDecoderOptions {
  std::string pad, word_delimiter;
  bool cleans_up = true;
};
/// Connectionist temporal classification: repeated tokens count once, padding is dropped.
std::unique_ptr<DecoderStep> ctc_decoder(CtcDecoderOptions options);
struct SentencePieceDecoderOptions {
  std::shared_ptr<const SentencePieceVocabulary> vocabulary;
  std::optional<SentencePieceNormalizer> denormalizer = {};
  std::string unknown_surface = {};  ///< what <unk> decodes to
  /// From the beginning of decoded text: one space, or all.
  bool strips_space = true, strips_spaces = true;
  /// Whether marks of spaces in unknown pieces, such as those of another model, become spaces, too.
  bool unmarks_unknown = false;
};
/// Pieces of a SentencePiece model, control pieces without text, bytes combined to characters.
std::unique_ptr<DecoderStep> sentencepiece_decoder(SentencePieceDecoderOptions options);

}  // namespace heed
