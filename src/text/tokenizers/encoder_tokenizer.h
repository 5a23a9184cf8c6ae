// Tokenizers of encoders. BERT's: [CLS] text [SEP], or [CLS] first [SEP] second [SEP] (Devlin et al., 2019).
// WordPiece (Schuster and Nakajima, 2012; Wu et al., 2016) splits words greedily into the longest matching
// pieces; pieces after the first are written "##ing". A word without a segmentation becomes [UNK]. With a
// tokenizer.json any other, such as RoBERTa's and XLM-R's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/model_inventory.h"
#include "text/tokenizers/tokenizer.h"
#include "text/training/bert_words.h"
#include "text/training/sentencepiece_trainer.h"

namespace heed {

/// Settings of tokenizer_config.json.
struct WordPieceSettings {
  BertWordOptions words;
  size_t max_length = 512;      ///< the model's maximum number of tokens; 0: unknown
  bool token_types = true;      ///< whether the model reads them: other libraries then pass them on
  bool truncates_left = false;  ///< the end of a text that is too long is kept ("truncation_side")
  bool clean_up = false;        ///< decode() removes spaces before punctuation and in contractions ("do n't")
  std::string start = "[CLS]", end = "[SEP]", unknown = "[UNK]", pad = "[PAD]", mask = "[MASK]";
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

/// Loads `tokenizer.json`, which must put tokens before and after a text, else `vocab.txt` (one piece per
/// line), and `tokenizer_config.json` if present. Throws kNotFound, kFile, or kFormat with the file name,
/// also if tokenizer_config.json contradicts tokenizer.json. save() writes `tokenizer.json` if it was loaded,
/// else `vocab.txt`, and `tokenizer_config.json`.
ModelTokenizer load_encoder_tokenizer(const ModelInventory& files);
inline ModelTokenizer load_encoder_tokenizer(const std::string& directory) {
  return load_encoder_tokenizer(ModelInventory(directory));
}

/// Throws kFormat for a duplicate piece or a missing special piece.
ModelTokenizer wordpiece_tokenizer(std::vector<std::string> pieces, const WordPieceSettings& settings);

/// Trains on lines: starts from characters and repeatedly merges the most frequent pair of adjacent pieces
/// (Sennrich et al., 2016). WordPiece's original likelihood criterion, count(ab) / (count(a) count(b)),
/// favours rare spellings; counts favour frequent words, and Hugging Face's trainer uses them, too.
/// Deterministic on any machine. Throws kText if there is no text, kUsage for a vocabulary too small for the
/// characters.
ModelTokenizer train_wordpiece(const WordPieceTrainOptions& options, const NextLine& lines);

}  // namespace heed
