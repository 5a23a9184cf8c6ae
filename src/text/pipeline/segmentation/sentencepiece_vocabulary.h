// The pieces of a SentencePiece model, and the models that segment text into them. Ids are the indices of the
// pieces; tokens are those of the library (https://github.com/google/sentencepiece).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/segmentation/string_table.h"
#include "text/pipeline/segmentation/token_model.h"
#include "text/pipeline/segmentation/unigram_lattice.h"

namespace heed {

/// Numbers as in sentencepiece_model.proto.
enum class SentencePieceType : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,  ///< <s>, </s>
  kSymbol = 4,   ///< user-defined: always one piece
  kUnused = 5,
  kByte = 6,  ///< "<0x0A>"
};

struct SentencePieceEntry {
  std::string text;
  float score = 0;
  SentencePieceType type = SentencePieceType::kNormal;
};

/// Immutable and thread-safe.
class SentencePieceVocabulary {
 public:
  /// Byte pieces are used for unknown characters. Throws kFormat, with `name`, unless exactly one piece is
  /// <unk>, all texts are distinct, at least one piece is for text, and there is either no byte piece or one
  /// for each byte, as `byte_fallback` says.
  SentencePieceVocabulary(const std::string& name, std::vector<SentencePieceEntry> pieces,
                          bool byte_fallback);
  SentencePieceVocabulary(const SentencePieceVocabulary&) = delete;
  SentencePieceVocabulary& operator=(const SentencePieceVocabulary&) = delete;

  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }
  const SentencePieceEntry& operator[](int32_t id) const { return pieces_[static_cast<size_t>(id)]; }
  /// For error messages.
  const std::string& name() const { return name_; }

  /// The id of a text: of <unk>, a control or a byte piece first, or else of another; that of <unk> if there
  /// is none.
  int32_t id(std::string_view text) const {
    int32_t found = reserved_.find(text);
    if (found < 0) found = in_text_.find(text);
    return found < 0 ? unknown_ : found;
  }
  /// The id of a normal, user-defined or unused piece, or -1.
  int32_t id_in_text(std::string_view text) const { return in_text_.find(text); }
  int32_t unknown() const { return unknown_; }
  /// The byte of a byte piece; -1 for others.
  int byte_of(int32_t id) const;
  std::vector<std::string> symbols() const;

  /// Makes of the unknown tokens behind the first `first`, one for each character, what SentencePiece makes
  /// of them: byte pieces, of which the last one has the character, or one token for adjacent ones.
  void resolve_unknown(std::string_view text, size_t first, std::vector<ModelToken>& tokens) const;

 private:
  [[noreturn]] void broken(const std::string& what) const;

  std::string name_;
  std::vector<SentencePieceEntry> pieces_;
  bool byte_fallback_;
  StringTable reserved_, in_text_;
  std::array<int32_t, 256> id_of_byte_{};
  int32_t unknown_ = -1;
};

/// The most probable segmentation. Samples segmentations by n-best lists, or of all by forward filtering and
/// backward sampling (Kudo, "Subword regularization", 2018, section 3.3), in which byte pieces, unknown
/// pieces and user-defined symbols stay as they are, and a piece has the place of the pieces of the best
/// segmentation that it overlaps.
class SentencePieceUnigram : public TokenModel {
 public:
  /// The n best segmentations of a text, which is not empty, the best one first.
  virtual std::vector<ScoredSegments> best(std::string_view text, size_t n) const = 0;
  /// Draws a segmentation into normal pieces with probability proportional to the product of p(piece)^alpha;
  /// empty if there is none.
  virtual std::vector<ModelToken> draw(std::string_view text, double alpha, Random& random) const = 0;
};
std::unique_ptr<SentencePieceUnigram> sentencepiece_unigram_model(
    std::shared_ptr<const SentencePieceVocabulary> vocabulary);

/// Merges in order of the score of the merged pieces; unused pieces are split again. `merges` false: each
/// character is a piece.
std::unique_ptr<TokenModel> sentencepiece_bpe_model(std::shared_ptr<const SentencePieceVocabulary> vocabulary,
                                                    bool merges);
/// Each word with the mark of a space before it is a piece.
std::unique_ptr<TokenModel> sentencepiece_word_model(
    std::shared_ptr<const SentencePieceVocabulary> vocabulary);

}  // namespace heed
