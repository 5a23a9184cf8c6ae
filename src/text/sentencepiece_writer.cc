#include "text/sentencepiece_writer.h"

#include <bit>
#include <cstdint>
#include <string_view>

#include "text/sentencepiece_check.h"
#include "text/wire_format.h"

namespace heed {
namespace {

// Field numbers of sentencepiece_model.proto.
enum ModelField { kPieces = 1, kTrainer = 2, kNormalizer = 3 };
enum PieceField { kText = 1, kScore = 2, kType = 3 };
enum PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kByte = 6 };
enum TrainerField { kModelType = 3, kVocabularySize = 4, kByteFallback = 35 };
enum NormalizerField { kName = 1, kAddDummyPrefix = 3, kRemoveExtraSpaces = 4, kEscapeSpaces = 5 };

/// The required subset of the protocol buffers encoding.
class WireWriter {
 public:
  void varint(int field, uint64_t value) {
    key(field, WireField::kVarint);
    number(value);
  }
  void fixed32(int field, float value) {
    key(field, WireField::kFixed32);
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift & 0xFF));
  }
  void text(int field, std::string_view value) {
    key(field, WireField::kBytes);
    number(value.size());
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, WireField::Type type) { number(static_cast<uint64_t>(field) << 3 | type); }
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

PieceType type_of(size_t number, const std::string& text) {
  if (number == 0) return kUnknown;
  if (number <= 2) return kControl;
  return text.size() == 6 && text.starts_with("<0x") && text.ends_with('>') ? kByte : kNormal;
}

}  // namespace

std::string write_bpe_model(const std::vector<ScoredPiece>& pieces) {
  constexpr const char* kSpecial[] = {"<unk>", "<s>", "</s>"};
  WireWriter model;
  for (size_t number = 0; number < pieces.size(); ++number) {
    const PieceType type = type_of(number, pieces[number].text);
    WireWriter piece;
    piece.text(kText, number < 3 ? kSpecial[number] : pieces[number].text);
    piece.fixed32(kScore, pieces[number].score);
    piece.varint(kType, type);
    model.text(kPieces, piece.bytes());
  }
  WireWriter trainer;
  trainer.varint(kModelType, static_cast<uint64_t>(SentencePieceModelType::kBpe));
  trainer.varint(kVocabularySize, pieces.size());
  trainer.varint(kByteFallback, 1);
  model.text(kTrainer, trainer.bytes());
  WireWriter normalizer;
  normalizer.text(kName, "identity");
  normalizer.varint(kAddDummyPrefix, 1);
  normalizer.varint(kRemoveExtraSpaces, 0);
  normalizer.varint(kEscapeSpaces, 1);
  model.text(kNormalizer, normalizer.bytes());
  return model.bytes();
}

}  // namespace heed
