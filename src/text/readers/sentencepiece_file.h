// Reads SentencePiece models: protocol buffers, sentencepiece_model.proto. The file is untrusted: every
// length is checked before it is used, and a damaged file is an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/segmentation/sentencepiece_vocabulary.h"
#include "text/pipeline/sentencepiece_normalizer.h"

namespace heed {

/// Numbers as in sentencepiece_model.proto.
enum class SentencePieceModelType { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };

struct SentencePieceFile {
  SentencePieceModelType type = SentencePieceModelType::kUnigram;
  std::vector<SentencePieceEntry> pieces;
  SentencePieceNormalizerOptions normalizer, denormalizer;
  bool byte_fallback = false;
  std::string unknown_surface = " \u2047 ";  ///< what <unk> decodes to
  /// The texts of special pieces.
  std::string unknown = "<unk>", start = "<s>", end = "</s>";

  /// Whether encoding is lossless: no normalization table, a space prepended and none removed, spaces
  /// escaped, byte fallback, and only ordinary pieces, bytes, <unk> and control tokens.
  bool keeps_text() const;
};

/// Throws kFormat with `name` (the file) and the fault.
SentencePieceFile read_sentencepiece_file(std::string_view bytes, std::string_view name);

}  // namespace heed
