// BERT's tokenizer: text to the ids of pieces of words, [CLS] in front and [SEP] behind, and pairs of texts
// as [CLS] first [SEP] second [SEP] (Devlin et al., 2019). Words are cut by WordPiece (Schuster and Nakajima,
// 2012; Wu et al., 2016): the longest piece that a word begins with, then the longest of what is left,
// written "##ing", and so on; a word that cannot be spelt so is [UNK].
//
// The ids are those of BertTokenizer of Hugging Face, with one difference, because the text may come from
// anybody: text that spells a special token is ordinary text here. Only "[MASK]" is read as the mask, and
// only where asked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/bert_words.h"
#include "text/sentencepiece.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

namespace heed {

/// What tokenizer_config.json says.
struct WordPieceSettings {
  BertWordOptions words;
  size_t longest = 512;  ///< tokens at most that the model is made for; 0: it does not say
  bool clean_up =
      false;  ///< whether decode() takes out the spaces before marks and within contractions ("do n't")
  std::string start = "[CLS]", end = "[SEP]", unknown = "[UNK]", pad = "[PAD]", mask = "[MASK]";
};

/// One text, or two, as a classifier reads them. Spans are bytes of the text that a token is of; those of
/// special tokens are empty.
struct WordPieceEncoding : Encoding {
  std::vector<int32_t> types;  ///< 0 up to the first [SEP], 1 behind it
  bool cut = false;            ///< whether WordPieceOptions::max_length left tokens out
};

/// Disturbs a text for training, so that a model does not learn the few it sees by heart. What is drawn
/// depends on `random` and the text alone.
struct WordPieceDropout {
  /// The probability that a piece is passed over, and a shorter one taken, so that words are cut in many ways
  /// (MaxMatch-Dropout: Hiraoka, 2022). Single characters always stay.
  double pieces = 0;
  /// The probability that a word becomes [UNK] (word dropout: Iyyer et al., 2015).
  double words = 0;
  Random* random = nullptr;  ///< must be set
};

struct WordPieceOptions {
  /// Tokens at most, special ones included; 0: no limit. Of two texts the longer loses tokens at its end,
  /// then both in turns.
  size_t max_length = 0;
  /// Whether "[MASK]" in a text is the mask, as a masked language model wants it.
  bool read_mask = false;
  std::optional<WordPieceDropout> dropout = {};
};

struct WordPieceTrainOptions {
  size_t vocabulary_size =
      8000;                      ///< pieces, the five special ones included; fewer where the text has no more
  size_t alphabet = 1000;        ///< characters at most; words with rarer ones are left out, and become [UNK]
  int64_t minimum_count = 2;     ///< how often two pieces must stand side by side to become one
  WordPieceSettings settings{};  ///< kept in tokenizer_config.json
};

/// Whether a model with embeddings for `rows` pieces may have so few: embeddings are padded to a multiple of
/// 8, 16, 32, 64 or 128, for the sake of fast products. Other numbers are those of a vocabulary that was cut
/// short.
bool is_padded_vocabulary(int64_t pieces, int64_t rows);

/// Immutable; copies share what is large, and all functions may be called from several threads at once.
class WordPieceTokenizer {
 public:
  /// Reads `tokenizer.json` (text/tokenizer_recipes.h), or where there is none `vocab.txt` (one piece a
  /// line), and `tokenizer_config.json`, if it is there. Throws kNotFound, kFile, or kFormat with the file
  /// that is wrong.
  static WordPieceTokenizer load(const std::string& directory);
  /// Writes both files; the directory must exist. Throws kFile.
  void save(const std::string& directory) const;

  /// Learns pieces from lines: the characters, then, as long as there is room, the two pieces that stand side
  /// by side most often become one (Sennrich et al., 2016). The likelihood that WordPiece was published with,
  /// count(ab) / (count(a) count(b)), begins with the rarest spellings and spends the vocabulary on them;
  /// plain counts make whole pieces of the frequent words, and are what Hugging Face's trainer does as well.
  /// The same lines and options give the same pieces on any machine. Throws kText if there is no text, kUsage
  /// for a vocabulary too small for the characters.
  static WordPieceTokenizer train(const WordPieceTrainOptions& options, const NextLine& lines);

  WordPieceTokenizer(std::vector<std::string> pieces, const WordPieceSettings& settings);

  WordPieceEncoding encode(std::string_view text, const WordPieceOptions& options = {}) const;
  WordPieceEncoding encode(std::string_view first, std::string_view second,
                           const WordPieceOptions& options = {}) const;
  /// Words with spaces between them, special tokens left out, cleaned up if the settings say so: to be read,
  /// not to be encoded again. Throws kUsage for ids that are not in the vocabulary.
  std::string decode(std::span<const int32_t> ids) const;

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const WordPieceSettings& settings() const { return settings_; }
  size_t size() const { return vocabulary_->size(); }
  int32_t start_id() const { return start_id_; }
  int32_t end_id() const { return vocabulary_->end_id(); }
  int32_t unknown_id() const { return vocabulary_->unknown_id(); }
  int32_t pad_id() const { return vocabulary_->pad_id(); }
  /// A classifier needs none.
  std::optional<int32_t> mask_id() const { return mask_id_; }
  bool is_special(int32_t id) const;

 private:
  /// Without special tokens but [UNK] and the mask.
  Encoding cut(std::string_view text, const WordPieceOptions& options) const;
  /// Appends the pieces of a word of `text` that begins at byte `base` of the original.
  void cut_word(const BertWord& word, size_t base, const WordPieceDropout* dropout, Encoding& encoding) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  WordPieceSettings settings_;
  size_t longest_piece_ = 0;  // bytes
  int32_t start_id_ = 0;
  std::optional<int32_t> mask_id_;
};

}  // namespace heed
