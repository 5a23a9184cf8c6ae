// Writes tokenizer.json for tokenizers that Heed reads from other files, so that Hugging Face's library,
// which has no class for them, produces the same ids. The only difference: there, special tokens in a text
// are matched; in Heed they are ordinary text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/pipeline/added_vocabulary.h"
#include "text/readers/sentencepiece_file.h"

namespace heed {

/// For the byte tokenizer.
std::string byte_tokenizer_json();

/// For the character tokenizer, where id n is the n-th character. Unknown characters are dropped by Hugging
/// Face's library; in Heed they are an error.
std::string character_tokenizer_json(const std::u32string& characters);

/// For a lossless SentencePiece model (SentencePieceFile::keeps_text()) with an <unk>. `added`: its special
/// pieces and the tokens beyond it. `start`: one of them that begins every text.
std::string sentencepiece_tokenizer_json(const SentencePieceFile& model, const std::vector<AddedToken>& added,
                                         std::optional<int32_t> start);

}  // namespace heed
