// Subword models of SentencePiece (Kudo and Richardson, "SentencePiece: a simple and language independent
// subword tokenizer and detokenizer for neural text processing", 2018): text to pieces, pieces to text, and
// training.
//
// What encode and decode do not keep: normalisation is part of a model, and even "identity" trims white space
// at both ends and makes one space of several. U+2581, the mark of a space, comes back as a space. Each byte
// that is not part of valid UTF-8 becomes U+FFFD.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace heed {

/// The mark of a space.
inline constexpr std::string_view kSpaceMark = "\u2581";
std::string marks_to_spaces(std::string_view text);

/// A subword and the bytes of the original text that it stands for. A piece begins with U+2581 where a word
/// begins, and then its bytes begin with the space. All but the last of the byte pieces of a character stand
/// for no bytes.
struct Piece {
  std::string text;
  size_t begin = 0, end = 0;
  int number = 0;  ///< the model's own, which no vocabulary needs to follow
};

/// How a model is trained to cut words.
enum class SubwordType {
  kUnigram,  ///< the likeliest cut under a unigram model (Kudo 2018); allows subword sampling
  kBpe,      ///< byte-pair merges in order of frequency (Sennrich et al. 2016)
};

/// What a model does to text first.
enum class TextNormalization {
  kNmtNfkc,   ///< compatibility forms and odd spaces unified, control characters dropped
  kNfkc,      ///< Unicode's NFKC
  kIdentity,  ///< nothing but the white space trimmed
};

struct SentencePieceTrainOptions {
  SubwordType type = SubwordType::kUnigram;  ///< how to cut
  int vocabulary_size = 8000;                ///< pieces, <unk>, <s> and </s> included
  double character_coverage = 0.9995;        ///< share of characters that are pieces; 0.98 to 1
  bool split_digits = false;                 ///< each digit is a piece of its own
  bool byte_fallback = true;                 ///< spell other characters as 256 byte pieces
  TextNormalization normalization = TextNormalization::kNmtNfkc;  ///< kept in the model
  /// Pieces besides those that are learnt: text that spells one is always that piece alone. They count as
  /// part of the vocabulary, must hold no comma, and none may begin another.
  std::vector<std::string> symbols = {};
  bool ascii_characters = false;  ///< every character of ASCII that can be seen is a piece, met with or not
  bool keep_spaces = false;       ///< white space at the ends, and several in a row, are kept as they are
  size_t max_sentences = 1'000'000;  ///< a random sample of as many is used; 0: all
  uint64_t seed = 1;                 ///< of that sample
};

/// Returns whether there was another line, and the line.
using NextLine = std::function<bool(std::string&)>;

/// How cuts are drawn, for training.
struct SubwordSampling {
  double alpha = 0.1;  ///< with probability proportional to P(cut)^alpha
  int nbest = 64;      ///< from so many of the best, 1 to 1024; or 0: from all, which is faster
  int draws = 1;       ///< so many, independently
};

/// A loaded model. Copies share it; all functions may be called from several threads at once.
class SentencePieceModel {
 public:
  /// Throws kNotFound or kFile, and kFormat for a file that is no model or a damaged one.
  static SentencePieceModel load(const std::string& path);
  /// From the content of a file; `name` stands in errors.
  static SentencePieceModel from_bytes(std::string bytes, const std::string& name);
  /// Trains on lines and returns the content of a model file. The same lines and options give the same bytes
  /// on any machine. A vocabulary larger than the text allows is lowered, with a warning in the log. Lines of
  /// more than 4192 bytes are left out, with a warning. Throws kText if there is no text, kUsage for
  /// impossible options, such as a vocabulary too small for the characters.
  static std::string train(const SentencePieceTrainOptions& options, const NextLine& next_line);

  /// The best cut. Spans never fall and stay inside the text.
  std::vector<Piece> encode(std::string_view text) const;

  /// Draws from the cuts of a text: subword regularization (Kudo, "Subword regularization", 2018). A function
  /// of the text and `random` alone. With nbest = 0 a piece's span is that of the best cut's pieces which it
  /// overlaps. Throws kUsage for other than unigram models, which know no probabilities.
  std::vector<std::vector<Piece>> sample(std::string_view text, const SubwordSampling& sampling,
                                         Random& random) const;

  /// The text of pieces; byte pieces are joined into characters, broken ones become U+FFFD.
  std::string decode(const std::vector<std::string>& pieces) const;

  /// The number of pieces, and each by the model's own number, which no vocabulary needs to follow.
  int size() const;
  const std::string& piece(int number) const;
  /// Whether the piece stands for no text by itself: <unk>, <s>, </s> and other controls.
  bool is_special(int number) const;
  /// The byte that a byte piece ("<0x0A>") stands for; -1 for others.
  int byte_of(int number) const;
  /// How likely the piece is, or when it is merged: higher ones first.
  float score(int number) const;
  /// How the model cuts; kBpe for all but unigram models.
  SubwordType type() const;
  /// Whether it changes nothing in a text but for a mark that it puts in front: no normalisation, no white
  /// space lost, and characters that are no pieces spelt in bytes. What TextTokenizer trains is so.
  bool keeps_text() const;
  /// The numbers of <s>, </s> and <unk>; -1 where the model has none.
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
