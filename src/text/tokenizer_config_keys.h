// Which keys of tokenizer_config.json are read, which change no id of a text, and which must have the value
// at which they change none. Any other key is refused by name: a text must not become other ids than it does
// elsewhere.
#pragma once

#include <string>
#include <vector>

#include "base/known_keys.h"

namespace heed {

/// Of a translation model (MarianTokenizer).
const KnownKeys& marian_tokenizer_keys();
/// Of BERT (BertTokenizer).
const KnownKeys& wordpiece_keys();
/// Of a language model.
const KnownKeys& text_tokenizer_keys();

/// The contents of added_tokens_decoder: {"0": {"content": "<unk>", ...}, ...}.
std::vector<std::string> added_tokens(const JsonObject& config);

/// Throws kFormat for a token in added_tokens_decoder, additional_special_tokens or extra_special_tokens that
/// is not among `allowed`: wherever a text holds it, it would be one id.
void require_no_other_tokens(const JsonObject& config, const std::vector<std::string>& allowed);

}  // namespace heed
