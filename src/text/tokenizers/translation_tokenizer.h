// The tokenizers of translation models: one for the source and one for the target, with the special tokens
// that each has around it.
//
//   Marian           `source.spm` and `target.spm` split text into pieces, `vocab.json` maps pieces to ids.
//                    With "separate_vocabs" in tokenizer_config.json, `vocab.json` is that of the source, and
//                    `target_vocab.json` that of the target.
//   other families   a tokenizer.json (T5, BART, NLLB, mBART), or `sentencepiece.bpe.model` (M2M-100, mBART);
//                    see text/tokenizers/family_tokenizers.h
//
// Special tokens ("</s>", "<pad>") in a text, and language codes (">>fr<<") after its beginning, are ordinary
// text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/model_inventory.h"
#include "text/tokenizers/numbered_pieces.h"
#include "text/tokenizers/tokenizer.h"
#include "text/training/sentencepiece_trainer.h"

namespace heed {

struct TokenizerTrainOptions {
  bool joint = true;                   ///< one SentencePiece model for both languages, or one each
  SentencePieceTrainOptions source{};  ///< for the joint or the source model
  SentencePieceTrainOptions target{};  ///< for the target model; unused if joint
  std::string source_language = {};    ///< codes such as "de", stored in tokenizer_config.json
  std::string target_language = {};
  int max_length = 512;  ///< the model's maximum length, stored in tokenizer_config.json
};

struct FamilyTokenizer;

/// Immutable and thread-safe; cheap to copy.
class TranslationTokenizer {
 public:
  /// Loads `source.spm`, `target.spm`, `vocab.json` and, if present, `tokenizer_config.json` and
  /// `target_vocab.json`, or the files of another family. Without a `vocab.json`, reads the vocabularies of
  /// CTranslate2. Throws kNotFound, kFile, or kFormat with the file name.
  static TranslationTokenizer load(const ModelInventory& files);
  static TranslationTokenizer load(const std::string& directory) { return load(ModelInventory(directory)); }
  /// Writes these files; the directory must exist. Throws kFile.
  void save(const std::string& directory) const;

  /// Trains on lines of both languages. Ids: </s> 0, <unk> 1, the pieces in model order (source first, if not
  /// joint), and <pad> last. Throws the errors of train_sentencepiece().
  static TranslationTokenizer train(const TokenizerTrainOptions& options, const NextLine& source,
                                    const NextLine& target);

  /// Tokenizes text and appends the end token, which has an empty span at the end of the text. Unknown pieces
  /// become <unk>. A leading language code of a multilingual vocabulary, such as ">>fr<<", is one token, and
  /// <unk> if a vocabulary of several codes lacks it.
  /// Truncation keeps the end token. Invalid UTF-8 is read as U+FFFD.
  Encoding encode_source(std::string_view text, const EncodeOptions& options = {}) const;
  Encoding encode_target(std::string_view text, const EncodeOptions& options = {}) const;
  /// The ids of a part of a target: without the special tokens around a target.
  std::vector<int32_t> target_phrase(std::string_view text) const;

  /// Tokenizes with sampled segmentations; see TextPipeline::sample.
  std::vector<Encoding> sample_source(std::string_view text, const SubwordSampling& sampling,
                                      Random& random) const;
  std::vector<Encoding> sample_target(std::string_view text, const SubwordSampling& sampling,
                                      Random& random) const;

  /// Decodes a translation, without special tokens, and strips white space. Throws kUsage for invalid ids.
  std::string decode(std::span<const int32_t> ids) const;
  /// Decodes with the tokenizer of the source.
  std::string decode_source(std::span<const int32_t> ids) const;

  /// The tokenizers of source and target, with the tokens around each.
  const ModelTokenizer& source() const { return source_; }
  const ModelTokenizer& target() const { return target_; }

  /// The number of special tokens around a source.
  size_t tokens_around_source() const {
    return source_.pipeline().before().size() + source_.pipeline().after().size();
  }

  /// Throws kUsage for a text that does not begin with one of the language codes of the vocabulary, if it has
  /// several: the model would translate into any of its languages. Blank text needs no code. In other
  /// families than Marian, throws if no target language is chosen.
  void require_language_code(std::string_view text) const;

  /// The languages of a model of another family than Marian that a token stands for, in order of their ids.
  std::vector<std::string> languages() const;
  /// The same tokenizer for a source or target in these languages (the same as before where empty). Throws
  /// kUsage for an unknown language.
  TranslationTokenizer with_languages(const std::string& source, const std::string& target) const;
  /// Whether with_languages() takes a source, and a target.
  bool chooses_source_language() const;
  bool chooses_target_language() const;
  /// Whether a target begins with the token of its language.
  bool target_begins_with_language() const;
  /// Whether the token of one of them has this id.
  bool is_language(const std::string& language, int32_t id) const;
  /// The id that a target begins with: its language, or the start token in BART; empty if there is none.
  std::optional<int32_t> first_target_id() const;

  /// The vocabulary of the target, and of the source unless it has its own.
  const Vocabulary& vocabulary() const { return target_.vocabulary(); }
  const Vocabulary& source_vocabulary() const { return source_.vocabulary(); }
  bool has_two_vocabularies() const { return &source_vocabulary() != &vocabulary(); }
  /// Of vocabulary().
  size_t size() const { return vocabulary().size(); }
  int32_t end_id() const { return vocabulary().end_id(); }
  int32_t unknown_id() const { return vocabulary().unknown_id(); }
  int32_t pad_id() const { return vocabulary().pad_id(); }

  /// From tokenizer_config.json; empty if missing.
  const std::string& source_language() const { return source_language_; }
  const std::string& target_language() const { return target_language_; }
  /// Whether to true-case text in capitals before translation; from tokenizer_config.json, true if missing.
  bool true_case_capitals() const { return true_case_capitals_; }

 private:
  /// The contents of the two models are what save() writes.
  struct MarianFiles {
    std::string source_model, target_model;
  };
  TranslationTokenizer(ModelTokenizer source, ModelTokenizer target, std::string config, MarianFiles files);
  explicit TranslationTokenizer(FamilyTokenizer family);
  static TranslationTokenizer load_ctranslate2(const ModelInventory& files, const SpecialPieces& special,
                                               const std::string& config);
  /// The leading language code of a text; empty if there is none.
  std::string_view code_of(std::string_view text) const;
  std::string_view after_code(std::string_view text) const { return text.substr(code_of(text).size()); }
  /// The encoding of a text, given the tokens after its language code.
  Encoding encoding_of(const ModelTokenizer& side, std::string_view text, Encoding tokens,
                       const EncodeOptions& options) const;
  Encoding encode(const ModelTokenizer& side, std::string_view text, const EncodeOptions& options) const;
  std::vector<Encoding> sample(const ModelTokenizer& side, std::string_view text,
                               const SubwordSampling& sampling, Random& random) const;
  static std::string decode(const ModelTokenizer& side, std::span<const int32_t> ids);

  ModelTokenizer source_, target_;
  std::vector<std::string> language_codes_;        // of the source vocabulary
  std::string config_;                             // the original content of tokenizer_config.json
  std::shared_ptr<const MarianFiles> files_;       // null in other families
  std::shared_ptr<const FamilyTokenizer> family_;  // null for Marian
  std::string source_language_, target_language_;
  bool true_case_capitals_ = true;
};

}  // namespace heed
