// Subword models of SentencePiece (Kudo and Richardson, "SentencePiece: a simple and language independent
// subword tokenizer and detokenizer for neural text processing", 2018): text to pieces, pieces to text, and
// training. Encoding and decoding are lossy: the model normalizes text, and even "identity" strips white
// space and collapses runs of spaces; U+2581, the space marker, decodes to a space; invalid bytes become
// U+FFFD.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "text/pipeline/segmentation/space_mark.h"

namespace heed {

/// A subword piece and its bytes of the original text. A piece that begins a word begins with U+2581, and its
/// bytes include the space. Of the byte pieces of one character, only the last has a nonempty span.
struct Piece {
  std::string text;
  size_t begin = 0, end = 0;
  int number = 0;  ///< index in the SentencePiece model; may differ from the id in a vocabulary
};

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

/// Options of subword regularization.
struct SubwordSampling {
  double alpha = 0.1;  ///< sample with probability proportional to P(segmentation)^alpha
  int nbest = 64;      ///< sample from the n best, 1 to 1024; 0: from all, which is faster
  int draws = 1;       ///< number of independent samples
};

/// A loaded model. Copies share it; thread-safe.
class SentencePieceModel {
 public:
  /// Throws kNotFound, kFile, or kFormat for an invalid or damaged model.
  static SentencePieceModel load(const std::string& path);
  /// Loads the content of a file; `name` is used in errors.
  static SentencePieceModel from_bytes(std::string bytes, const std::string& name);
  /// Trains on lines and returns the content of a model file. Deterministic on any machine. If the vocabulary
  /// size is larger than the text allows, it is reduced with a warning in the log; lines of more than 4192
  /// bytes are skipped with a warning. Throws kText if there is no text, kUsage for invalid options, such as
  /// a vocabulary too small for the characters.
  static std::string train(const SentencePieceTrainOptions& options, const NextLine& next_line);

  /// The best segmentation. Spans are in order and inside the text.
  std::vector<Piece> encode(std::string_view text) const;

  /// Samples segmentations of a text: subword regularization (Kudo, "Subword regularization", 2018). Depends
  /// only on the text and `random`. With nbest = 0, a piece has the span of the pieces of the best
  /// segmentation that it overlaps. Throws kUsage unless it is a unigram model.
  std::vector<std::vector<Piece>> sample(std::string_view text, const SubwordSampling& sampling,
                                         Random& random) const;

  /// Decodes pieces; byte pieces are combined into characters, invalid ones become U+FFFD.
  std::string decode(const std::vector<std::string>& pieces) const;

  /// The number of pieces, and the piece with this index in the model.
  int size() const;
  const std::string& piece(int number) const;
  /// Whether it is <unk>, <s>, </s> or another control piece.
  bool is_special(int number) const;
  /// The byte of a byte piece ("<0x0A>"); -1 for others.
  int byte_of(int number) const;
  /// Log-probability (unigram) or merge priority (BPE) of the piece.
  float score(int number) const;
  /// The algorithm; kBpe for all models except unigram.
  SubwordType type() const;
  /// Whether encoding is lossless except for a prepended space marker: no normalization, white space kept,
  /// and byte fallback. Models trained by TextTokenizer are lossless.
  bool keeps_text() const;
  /// The indices of <s>, </s> and <unk>; -1 if missing.
  int start() const;
  int end() const;
  int unknown() const;

  /// The content of the model file.
  const std::string& bytes() const;

 private:
  struct Implementation;
  explicit SentencePieceModel(std::shared_ptr<const Implementation> implementation)
      : implementation_(std::move(implementation)) {}
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace heed
