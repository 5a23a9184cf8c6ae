// tokenizer.json for tokenizers that Heed reads from other files: so that Hugging Face's library, which has
// no class for them, gives the same ids. It differs where a text spells a special token: that is one to it,
// and text to Heed.
#pragma once

#include <string>

#include "text/sentencepiece.h"

namespace heed {

/// Of the tokenizer whose ids are bytes.
std::string byte_tokenizer_json();

/// Of the tokenizer whose id n is the n-th character. A character that is none of them vanishes there, and is
/// an error here.
std::string character_tokenizer_json(const std::u32string& characters);

/// Of a SentencePiece model that keeps texts as they are (SentencePieceModel::keeps_text()) and has an <unk>.
/// The start token is put before a text if `starts_every_text`.
std::string sentencepiece_tokenizer_json(const SentencePieceModel& model, bool starts_every_text);

}  // namespace heed
