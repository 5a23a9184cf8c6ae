// Tokenizers of encoders. BERT's: [CLS] text [SEP], or [CLS] first [SEP] second [SEP] (Devlin et al., 2019).
// WordPiece (Schuster and Nakajima, 2012; Wu et al., 2016) splits words greedily into the longest matching
// pieces; pieces after the first are written "##ing". A word without a segmentation becomes [UNK]. With a
// tokenizer.json any other, such as RoBERTa's and XLM-R's (text/pipeline/text_pipeline.h).
//
// Ids equal those of Hugging Face's tokenizers, with one difference for untrusted input: special tokens in
// the text are ordinary text, except "[MASK]" on request.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/model_inventory.h"
#include "text/pipeline/text_pipeline.h"
#include "text/subwords/bert_words.h"
#include "text/subwords/sentencepiece.h"
#include "text/tokenizers/tokenizer.h"
#include "text/tokenizers/vocabulary.h"

namespace heed {

struct TokenizerJson;

/// Settings of tokenizer_config.json.
struct WordPieceSettings {
  BertWordOptions words;
  size_t max_length = 512;  ///< the model's maximum number of tokens; 0: unknown
  bool token_types = true;  ///< whether the model reads them: other libraries then pass them on
  bool clean_up = false;    ///< decode() removes spaces before punctuation and in contractions ("do n't")
  std::string start = "[CLS]", end = "[SEP]", unknown = "[UNK]", pad = "[PAD]", mask = "[MASK]";
};

/// One text or a text pair. Spans refer to the text that the token comes from; empty for special tokens.
struct WordPieceEncoding : Encoding {
  std::vector<int32_t> types;  ///< token types: 0 up to the first [SEP], 1 after it
  bool truncated = false;      ///< whether tokens were removed to fit WordPieceOptions::max_length
};

/// Random tokenization for training, against overfitting. Depends only on `random` and the text.
struct WordPieceDropout {
  /// The probability of skipping a matching piece in favour of a shorter one (MaxMatch-Dropout: Hiraoka,
  /// 2022). Single characters are never skipped.
  double pieces = 0;
  /// The probability that a word becomes [UNK] (word dropout: Iyyer et al., 2015).
  double words = 0;
  Random* random = nullptr;  ///< must be set
};

struct WordPieceOptions {
  /// Truncate to this many tokens, including special ones; 0: no limit. Of a pair, tokens are removed from
  /// the end of the longer text, then alternately from both.
  size_t max_length = 0;
  /// Whether "[MASK]" in a text is the mask token, for masked language models.
  bool read_mask = false;
  std::optional<WordPieceDropout> dropout = {};
};

struct WordPieceTrainOptions {
  size_t vocabulary_size = 8000;  ///< maximum, including the five special pieces
  size_t alphabet =
      1000;  ///< maximum number of characters; words with rarer ones are skipped and become [UNK]
  int64_t minimum_count = 2;     ///< minimum count of a pair of pieces to be merged
  WordPieceSettings settings{};  ///< stored in tokenizer_config.json
};

/// Whether `rows` embeddings fit a vocabulary of `pieces`: embeddings may be padded to a multiple of 8, 16,
/// 32, 64 or 128 for faster products. Otherwise the vocabulary is incomplete.
bool is_padded_vocabulary(int64_t pieces, int64_t rows);

/// Immutable and thread-safe; cheap to copy.
class WordPieceTokenizer {
 public:
  static constexpr size_t kMaxWordLength = 100;  ///< in characters; longer words are [UNK]

  /// Loads `tokenizer.json`, which must put tokens before and after a text, else `vocab.txt` (one piece per
  /// line), and `tokenizer_config.json` if present. Throws kNotFound, kFile, or kFormat with the file name,
  /// also if tokenizer_config.json contradicts tokenizer.json.
  static WordPieceTokenizer load(const ModelInventory& files);
  static WordPieceTokenizer load(const std::string& directory) { return load(ModelInventory(directory)); }
  /// Writes `tokenizer.json` if it was loaded, else `vocab.txt`, and `tokenizer_config.json`; the directory
  /// must exist. Throws kFile.
  void save(const std::string& directory) const;

  /// Trains on lines: starts from characters and repeatedly merges the most frequent pair of adjacent pieces
  /// (Sennrich et al., 2016). WordPiece's original likelihood criterion, count(ab) / (count(a) count(b)),
  /// favours rare spellings; counts favour frequent words, and Hugging Face's trainer uses them, too.
  /// Deterministic on any machine. Throws kText if there is no text, kUsage for a vocabulary too small for
  /// the characters.
  static WordPieceTokenizer train(const WordPieceTrainOptions& options, const NextLine& lines);

  WordPieceTokenizer(std::vector<std::string> pieces, const WordPieceSettings& settings);

  WordPieceEncoding encode(std::string_view text, const WordPieceOptions& options = {}) const;
  WordPieceEncoding encode(std::string_view first, std::string_view second,
                           const WordPieceOptions& options = {}) const;
  /// Readable text without special tokens; BERT's words are joined by spaces, and cleaned up if the settings
  /// say so. Not the exact inverse of encode(). Throws kUsage for invalid ids.
  std::string decode(std::span<const int32_t> ids) const;

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const WordPieceSettings& settings() const { return settings_; }
  size_t size() const { return vocabulary_->size(); }
  int32_t start_id() const { return start_id_; }
  int32_t end_id() const { return vocabulary_->end_id(); }
  int32_t unknown_id() const { return vocabulary_->unknown_id(); }
  int32_t pad_id() const { return vocabulary_->pad_id(); }
  /// Empty if the vocabulary has none.
  std::optional<int32_t> mask_id() const { return mask_id_; }
  bool is_special(int32_t id) const;
  /// Whether pieces that continue a word begin with "##".
  bool is_word_piece() const { return spelling_ == Spelling::kWordPiece; }
  /// The display form of a piece: as the vocabulary spells it, or, where it spells bytes, their text with "▁"
  /// for a space.
  std::string shown_piece(int32_t id) const;

 private:
  /// How the vocabulary spells its pieces: "##ing", "Ġthe" for the bytes of " the", or any other way.
  enum class Spelling { kWordPiece, kBytes, kOther };
  static Spelling spelling_of(const TokenizerJson& json);
  WordPieceTokenizer(TextPipeline pipeline, const WordPieceSettings& settings, std::string json_path,
                     Spelling spelling);
  WordPieceEncoding encode_texts(std::string_view first, std::optional<std::string_view> second,
                                 const WordPieceOptions& options) const;
  PipelineEncoding tokenize(std::string_view text, const WordPieceOptions& options) const;
  /// Tokenizes a word at random.
  void drop_out(std::string_view word, const WordPieceDropout& dropout,
                std::vector<ModelToken>& tokens) const;

  TextPipeline pipeline_;
  std::string json_path_;  // of the tokenizer.json; empty without one
  Spelling spelling_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  WordPieceSettings settings_;
  size_t max_piece_bytes_ = 0;
  int32_t start_id_ = 0;
  std::optional<int32_t> mask_id_;
};

}  // namespace heed
