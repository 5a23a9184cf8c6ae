// Writes a SentencePiece model from given pieces, for tokenizers in other formats.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct ScoredPiece {
  std::string text;  ///< "▁the"; byte pieces "<0x0A>"
  float score = 0;   ///< merge priority, highest first
};

/// The content of a BPE model file like Llama's: pieces 0, 1 and 2 are <unk>, <s> and </s>, with byte
/// fallback, a prepended space, and white space kept. Piece indices are those of the list.
std::string write_bpe_model(const std::vector<ScoredPiece>& pieces);

}  // namespace heed
