// Writes tokenizer.json for tokenizers that Heed reads from other files, so that Hugging Face's library,
// which has no class for them, produces the same ids. The only difference: there, special tokens in a text
// are matched; in Heed they are ordinary text.
#pragma once

#include <string>

#include "text/readers/sentencepiece_file.h"

namespace heed {

/// For the byte tokenizer.
std::string byte_tokenizer_json();

/// For the character tokenizer, where id n is the n-th character. Unknown characters are dropped by Hugging
/// Face's library; in Heed they are an error.
std::string character_tokenizer_json(const std::u32string& characters);

/// For a lossless SentencePiece model (SentencePieceFile::keeps_text()) with an <unk>. Adds the start token
/// to every text if `starts_every_text`.
std::string sentencepiece_tokenizer_json(const SentencePieceFile& model, bool starts_every_text);

}  // namespace heed
