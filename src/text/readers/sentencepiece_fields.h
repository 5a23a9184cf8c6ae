// Field numbers of SentencePiece's sentencepiece_model.proto, as far as Heed reads or writes
// them.
#pragma once

#include <cstdint>

namespace heed::sentencepiece_proto {

struct ModelField {
  enum : uint32_t { kPieces = 1, kTrainerSpec = 2, kNormalizerSpec = 3, kDenormalizerSpec = 5 };
};
struct PieceField {
  enum : uint32_t { kText = 1, kScore = 2, kType = 3 };
};
struct TrainerField {
  enum : uint32_t {
    kModelType = 3,
    kVocabularySize = 4,
    kSuffixMarks = 24,
    kByteFallback = 35,
    kUnknownSurface = 44,
    kUnknown = 45,
    kStart = 46,
    kEnd = 47
  };
};
struct NormalizerField {
  enum : uint32_t { kName = 1, kCharsmap = 2, kAddsSpace = 3, kRemovesSpaces = 4, kMarksSpaces = 5 };
};

}  // namespace heed::sentencepiece_proto
