// Writing a SentencePiece model of given pieces: for tokenizers that come in another format.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct ScoredPiece {
  std::string text;  ///< "▁the"; of bytes "<0x0A>"
  float score = 0;   ///< merges with higher ones go first
};

/// The content of a model file that cuts by merges (BPE) as Llama's does: pieces 0, 1 and 2 are <unk>, <s>
/// and
/// </s>, the 256 bytes stand for characters that are no pieces, a space is put before a text, and white space
/// stays. The numbers are those of the list.
std::string write_bpe_model(const std::vector<ScoredPiece>& pieces);

}  // namespace heed
