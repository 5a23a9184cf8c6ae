// tokenizer_config.json of a model directory: what Heed needs of it, and what Hugging Face needs to open the
// directory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_file.h"
#include "text/vocabulary.h"

namespace heed {

struct TokenizerConfig {
  SpecialPieces special;                         ///< eos_token, unk_token, pad_token
  std::string source_language, target_language;  ///< source_lang, target_lang; may be empty
  /// true_case_capitals: whether text in capitals is to be given its usual form first. A model that has
  /// learnt capitals says false.
  bool true_case_capitals = true;
};

/// Throws kFormat, with `name`, for what is not JSON of the right types, and for settings that Heed does not
/// have.
TokenizerConfig read_tokenizer_config(std::string_view json, const std::string& name);

/// The text under `key`, or `fallback` for null or nothing. Tokens may be objects with the text as "content".
std::string read_token(const JsonObject& config, const std::string& key, const std::string& fallback);
/// true or false; nothing for null or nothing.
std::optional<bool> read_flag(const JsonObject& config, const std::string& key);

/// For MarianTokenizer of transformers.
std::string write_tokenizer_config(const TokenizerConfig& config, const Vocabulary& vocabulary,
                                   int max_length);

}  // namespace heed
