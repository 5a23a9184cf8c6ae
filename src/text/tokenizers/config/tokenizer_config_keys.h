// The known keys of tokenizer_config.json (base/text/known_keys.h). Other keys are refused by name, since
// they might change token ids.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/text/known_keys.h"

namespace heed {

/// Translation models (MarianTokenizer).
const KnownKeys& marian_tokenizer_keys();
/// Translation models of other families (text/tokenizers/family_tokenizers.h).
const KnownKeys& family_tokenizer_keys();
/// BERT (BertTokenizer).
const KnownKeys& wordpiece_keys();
/// Language models.
const KnownKeys& text_tokenizer_keys();

/// The tokens that the config names as special: "bos_token", "additional_special_tokens", ...
std::vector<std::string> named_special_tokens(const JsonObject& config);
/// The tokens in additional_special_tokens and extra_special_tokens, with the key. One that is no text is as
/// it is written in the file.
std::vector<std::pair<const char*, std::string>> further_special_tokens(const JsonObject& config);
/// The contents of added_tokens_decoder: {"0": {"content": "<unk>", ...}, ...}.
std::vector<std::string> added_tokens(const JsonObject& config);

/// Throws kFormat for a token in added_tokens_decoder, additional_special_tokens or extra_special_tokens that
/// is not in `allowed`, since it would change the ids of texts that contain it.
void require_no_other_tokens(const JsonObject& config, const std::vector<std::string>& allowed);

}  // namespace heed
