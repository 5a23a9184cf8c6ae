// Validates a SentencePiece model before the library reads it.
//
// SentencePiece 0.1.97 trusts its models: it walks the normalization trie without bounds checks and has
// fixed-size prefix tables. This check treats the file as untrusted, so that a broken model is an error and
// never a crash. The library itself checks for duplicate pieces, a missing <unk> and missing byte pieces.
// Formats: protocol buffers, sentencepiece_model.proto, and the double array of Darts-clone 0.32.
#pragma once

#include <string_view>
#include <vector>

namespace heed {

/// Numbers as in sentencepiece_model.proto.
enum class SentencePieceModelType { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };

struct SentencePieceModelFacts {
  SentencePieceModelType type = SentencePieceModelType::kUnigram;
  /// Whether encoding is lossless: no normalization table, a space prepended and none removed, spaces
  /// escaped, byte fallback, and only ordinary pieces, bytes, <unk> and control tokens.
  bool keeps_text = false;
  /// For each piece, whether it is ordinary: not a byte, control token, <unk>, user-defined or unused.
  std::vector<bool> ordinary;
};

/// Throws kFormat with `name` (the file) and the fault.
SentencePieceModelFacts check_sentencepiece_model(std::string_view bytes, std::string_view name);

}  // namespace heed
