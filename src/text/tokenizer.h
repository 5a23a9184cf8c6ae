// Text to the ids of a translation model and back: the Marian layout of a model directory, as OPUS-MT models
// have it. `source.spm` and `target.spm` cut text into pieces, `vocab.json` gives each piece its id.
//
// The ids are those of MarianTokenizer of Hugging Face, with one difference, because the text may come from
// anybody: text that spells a special token ("</s>", "<pad>") or, elsewhere than at the beginning, a language
// code (">>fr<<") is ordinary text here and is spelt out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/encoding.h"
#include "text/sentencepiece.h"
#include "text/vocabulary.h"

namespace heed {

struct EncodeOptions {
  size_t max_length = 0;  ///< tokens at most, the end token included; 0: no limit
};

struct TokenizerTrainOptions {
  bool joint = true;                   ///< one model of pieces for both languages, else one each
  SentencePieceTrainOptions source{};  ///< of the joint model, or of the source's
  SentencePieceTrainOptions target{};  ///< of the target's; not used if joint
  std::string source_language = {};    ///< codes such as "de", kept in tokenizer_config.json
  std::string target_language = {};
  int max_length = 512;  ///< the longest sentence that the model is made for, kept in tokenizer_config.json
};

/// Immutable; copies share what is large, and all functions may be called from several threads at once.
class Tokenizer {
 public:
  /// Reads `source.spm`, `target.spm`, `vocab.json` and, if it is there, `tokenizer_config.json` of a
  /// directory. Throws kNotFound, kFile, or kFormat with the file that is wrong.
  static Tokenizer load(const std::string& directory);
  /// Writes the four files; the directory must exist. Throws kFile.
  void save(const std::string& directory) const;

  /// Learns pieces from lines of both languages. Ids: </s> 0, <unk> 1, the pieces in their model's order (the
  /// source's first, if not joint), and <pad> last. Errors as of SentencePieceModel::train.
  static Tokenizer train(const TokenizerTrainOptions& options, const NextLine& source,
                         const NextLine& target);

  /// Cuts text, adds the end token (the last, with an empty span at the end of the text), and gives ids;
  /// unknown pieces are <unk>. A first word such as ">>fr<<" that the vocabulary holds, as that of
  /// multilingual models does, is one token. If the text is too long, pieces are cut off and the end token
  /// stays. Bytes that are not valid UTF-8 are read as U+FFFD.
  Encoding encode_source(std::string_view text, const EncodeOptions& options = {}) const;
  Encoding encode_target(std::string_view text, const EncodeOptions& options = {}) const;

  /// The same for cuts that are drawn by chance: see SentencePieceModel::sample.
  std::vector<Encoding> sample_source(std::string_view text, const SubwordSampling& sampling,
                                      Random& random) const;
  std::vector<Encoding> sample_target(std::string_view text, const SubwordSampling& sampling,
                                      Random& random) const;

  /// The text of a translation: special tokens left out, white space at the ends too. Throws kUsage for ids
  /// that are not in the vocabulary.
  std::string decode(std::span<const int32_t> ids) const;
  /// The same by the model of the source's pieces.
  std::string decode_source(std::span<const int32_t> ids) const;

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  size_t size() const { return vocabulary_->size(); }
  int32_t end_id() const { return vocabulary_->end_id(); }
  int32_t unknown_id() const { return vocabulary_->unknown_id(); }
  int32_t pad_id() const { return vocabulary_->pad_id(); }

  /// Of tokenizer_config.json; empty if it does not say.
  const std::string& source_language() const { return source_language_; }
  const std::string& target_language() const { return target_language_; }
  /// Whether text in capitals is to be given its usual form before it is translated: unless the file says no.
  bool true_case_capitals() const { return true_case_capitals_; }

 private:
  Tokenizer(SentencePieceModel source, SentencePieceModel target, Vocabulary vocabulary, std::string config);
  /// The text without the language code that it may begin with.
  std::string_view behind_code(std::string_view text) const;
  /// The encoding of a text, given the pieces of what is behind its code.
  Encoding encoding_of(std::string_view text, std::vector<Piece> pieces, const EncodeOptions& options) const;
  Encoding encode(const SentencePieceModel& model, std::string_view text, const EncodeOptions& options) const;
  std::vector<Encoding> sample(const SentencePieceModel& model, std::string_view text,
                               const SubwordSampling& sampling, Random& random) const;
  std::string decode(const SentencePieceModel& model, std::span<const int32_t> ids) const;
  /// The id of a piece of ordinary text: never that of a special token or a language code.
  int32_t id_of_text(std::string_view piece) const;

  SentencePieceModel source_, target_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::string config_;  // the content of tokenizer_config.json, kept as it was read
  std::string source_language_, target_language_;
  bool true_case_capitals_ = true;
};

}  // namespace heed
