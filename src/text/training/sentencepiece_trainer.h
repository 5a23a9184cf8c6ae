// Trains subword models of SentencePiece (Kudo and Richardson, "SentencePiece: a simple and language
// independent subword tokenizer and detokenizer for neural text processing", 2018) by the library.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heed {

/// The subword algorithm.
enum class SubwordType {
  kUnigram,  ///< the most probable segmentation under a unigram model (Kudo 2018); supports sampling
  kBpe,      ///< byte-pair merges in order of frequency (Sennrich et al. 2016)
};

/// Text normalization of a model.
enum class TextNormalization {
  kNmtNfkc,    ///< NFKC plus rules for spaces and control characters
  kNfkc,       ///< Unicode's NFKC
  kNmtNfkcCf,  ///< kNmtNfkc, then case folding: lower case, and "ss" for "ß"
  kNfkcCf,     ///< NFKC, then case folding
  kIdentity,   ///< only strips and collapses white space
};

struct SentencePieceTrainOptions {
  SubwordType type = SubwordType::kUnigram;  ///< algorithm
  int vocabulary_size = 8000;                ///< including <unk>, <s> and </s>
  double character_coverage = 0.9995;        ///< share of character occurrences covered by pieces; 0.98 to 1
  bool split_digits = false;                 ///< each digit is a separate piece
  bool byte_fallback = true;                 ///< encode other characters with 256 byte pieces
  TextNormalization normalization = TextNormalization::kNmtNfkc;  ///< stored in the model

  /// User-defined symbols: always a single piece in text. They count towards the vocabulary size, must not
  /// contain commas, and none may be a prefix of another.
  std::vector<std::string> symbols = {};
  bool ascii_characters = false;     ///< all printable ASCII characters are pieces
  bool keep_spaces = false;          ///< keep leading, trailing and repeated white space
  size_t max_sentences = 1'000'000;  ///< train on a random sample of this many lines; 0: all
  uint64_t seed = 1;                 ///< of the sample
};

/// Reads the next line; returns false at the end.
using NextLine = std::function<bool(std::string&)>;

/// Trains on lines and returns the content of a model file. Deterministic on any machine. If the vocabulary
/// size is larger than the text allows, it is reduced with a warning in the log; lines of more than 4192
/// bytes are skipped with a warning. Throws kText if there is no text, kUsage for invalid options, such as a
/// vocabulary too small for the characters.
std::string train_sentencepiece(const SentencePieceTrainOptions& options, const NextLine& next_line);

}  // namespace heed
