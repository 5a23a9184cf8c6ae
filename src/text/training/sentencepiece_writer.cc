#include "text/training/sentencepiece_writer.h"

#include <bit>
#include <cstdint>
#include <string_view>

#include "text/pipeline/segmentation/byte_piece.h"
#include "text/readers/sentencepiece_fields.h"
#include "text/readers/sentencepiece_file.h"
#include "text/readers/wire_format.h"

namespace heed {
namespace {

using sentencepiece_proto::ModelField;
using sentencepiece_proto::NormalizerField;
using sentencepiece_proto::PieceField;
using sentencepiece_proto::TrainerField;

/// The required subset of the protocol buffers encoding.
class WireWriter {
 public:
  void varint(uint32_t field, uint64_t value) {
    key(field, WireField::kVarint);
    number(value);
  }
  void fixed32(uint32_t field, float value) {
    key(field, WireField::kFixed32);
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<char>(bits >> shift & 0xFF));
  }
  void text(uint32_t field, std::string_view value) {
    key(field, WireField::kBytes);
    number(value.size());
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(uint32_t field, WireField::Type type) { number(static_cast<uint64_t>(field) << 3 | type); }
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

SentencePieceType type_of(size_t number, const std::string& text) {
  if (number == 0) return SentencePieceType::kUnknown;
  if (number <= 2) return SentencePieceType::kControl;
  return byte_of_piece(text) >= 0 ? SentencePieceType::kByte : SentencePieceType::kNormal;
}

}  // namespace

std::string write_bpe_model(const std::vector<ScoredPiece>& pieces) {
  constexpr const char* kSpecial[] = {"<unk>", "<s>", "</s>"};
  WireWriter model;
  for (size_t number = 0; number < pieces.size(); ++number) {
    const SentencePieceType type = type_of(number, pieces[number].text);
    WireWriter piece;
    piece.text(PieceField::kText, number < 3 ? kSpecial[number] : pieces[number].text);
    piece.fixed32(PieceField::kScore, pieces[number].score);
    piece.varint(PieceField::kType, static_cast<uint64_t>(type));
    model.text(ModelField::kPieces, piece.bytes());
  }
  WireWriter trainer;
  trainer.varint(TrainerField::kModelType, static_cast<uint64_t>(SentencePieceModelType::kBpe));
  trainer.varint(TrainerField::kVocabularySize, pieces.size());
  trainer.varint(TrainerField::kByteFallback, 1);
  model.text(ModelField::kTrainerSpec, trainer.bytes());
  WireWriter normalizer;
  normalizer.text(NormalizerField::kName, "identity");
  normalizer.varint(NormalizerField::kAddsSpace, 1);
  normalizer.varint(NormalizerField::kRemovesSpaces, 0);
  normalizer.varint(NormalizerField::kMarksSpaces, 1);
  model.text(ModelField::kNormalizerSpec, normalizer.bytes());
  return model.bytes();
}

}  // namespace heed
