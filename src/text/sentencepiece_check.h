// Whether the bytes of a SentencePiece model are safe to hand to the library.
//
// SentencePiece 0.1.97 trusts its models: it walks the normalisation trie without bounds, and has fixed-size
// tables for prefixes. This check reads the file as hostile, so that a broken model is an error and never a
// crash. What the library checks itself (doubled pieces, a missing <unk>, missing byte pieces) is left to it.
// Formats: protocol buffers' encoding, sentencepiece_model.proto, and the double array of Darts-clone 0.32.
#pragma once

#include <string_view>
#include <vector>

namespace heed {

/// The library's own numbers.
enum class SentencePieceModelType { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };

struct SentencePieceModelFacts {
  SentencePieceModelType type = SentencePieceModelType::kUnigram;
  /// Whether there is no normalisation table, a space is put in front and none is removed, spaces are marked,
  /// unknown characters are spelt in bytes, and all pieces are ordinary ones, bytes, <unk> or control tokens.
  bool keeps_text = false;
  /// For each piece whether it is an ordinary one: no byte, no control token, <unk> or user-defined symbol,
  /// and in use.
  std::vector<bool> ordinary;
};

/// Throws kFormat, naming `name` (the file) and what is wrong.
SentencePieceModelFacts check_sentencepiece_model(std::string_view bytes, std::string_view name);

}  // namespace heed
