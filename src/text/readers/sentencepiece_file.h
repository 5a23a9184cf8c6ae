// Reads SentencePiece models: protocol buffers, sentencepiece_model.proto. The file is untrusted: every
// length is checked before it is used, and a damaged file is an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/normalization/sentencepiece_normalizer.h"
#include "text/pipeline/segmentation/sentencepiece_vocabulary.h"

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

  int32_t size() const { return static_cast<int32_t>(pieces.size()); }
  const SentencePieceEntry& operator[](int32_t id) const { return pieces[static_cast<size_t>(id)]; }
  /// Whether it is <unk>, <s>, </s> or another control piece.
  bool is_special(int32_t id) const {
    return (*this)[id].type == SentencePieceType::kControl || (*this)[id].type == SentencePieceType::kUnknown;
  }
  /// The byte of a byte piece ("<0x0A>"); -1 for others.
  int byte_of(int32_t id) const;
  /// The ids of the special pieces; -1 if missing.
  int32_t unknown_id() const { return find(unknown, SentencePieceType::kUnknown); }
  int32_t start_id() const { return find(start, SentencePieceType::kControl); }
  int32_t end_id() const { return find(end, SentencePieceType::kControl); }

  /// Whether encoding is lossless: no normalization table, a space prepended and none removed, spaces
  /// escaped, byte fallback, and only ordinary pieces, bytes, <unk> and control tokens.
  bool keeps_text() const;

 private:
  int32_t find(const std::string& text, SentencePieceType wanted) const;
};

/// Throws kFormat with `name` (the file) and the fault.
SentencePieceFile read_sentencepiece_file(std::string_view bytes, std::string_view name);
/// Reads it from a file. Throws kNotFound and kFile, too.
SentencePieceFile read_sentencepiece_file(const std::string& path);

}  // namespace heed
