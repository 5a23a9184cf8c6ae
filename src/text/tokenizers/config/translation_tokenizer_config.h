// Reads and writes tokenizer_config.json of translation models.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/text/json_file.h"
#include "text/tokenizers/vocabulary.h"

namespace heed {

struct TokenizerConfig {
  SpecialPieces special;                         ///< eos_token, unk_token, pad_token
  std::string source_language, target_language;  ///< source_lang, target_lang; may be empty
  /// Whether to true-case text in capitals before translation; false for models trained on capitals.
  bool true_case_capitals = true;
  bool separate_vocabularies = false;  ///< separate_vocabs: the target has its own vocabulary
};

/// Throws kFormat, with `name`, for malformed content and unsupported settings.
TokenizerConfig read_tokenizer_config(std::string_view json, const std::string& name);

/// The same file with "separate_vocabs": true.
std::string with_separate_vocabularies(std::string_view json, const std::string& name);

/// The token under `key`, a string or an object with "content"; `fallback` if null or missing.
std::string read_token(const JsonObject& config, const std::string& key, const std::string& fallback);
/// The boolean under `key`; empty if null or missing.
std::optional<bool> read_flag(const JsonObject& config, const std::string& key);

/// tokenizer_config.json for Hugging Face's MarianTokenizer.
std::string write_tokenizer_config(const TokenizerConfig& config, const Vocabulary& vocabulary,
                                   int max_length);

}  // namespace heed
