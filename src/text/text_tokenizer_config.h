// tokenizer_config.json of a language model's directory: what Heed needs of it, and what Hugging Face needs
// to open the directory.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "text/text_tokenizer.h"

namespace heed {

/// The classes of tokenizer_config.json that are Heed's own; the others are those of transformers.
inline constexpr const char* kByteTokenizerClass = "HeedByteTokenizer";
inline constexpr const char* kCharacterTokenizerClass = "HeedCharacterTokenizer";

struct TextTokenizerConfig {
  std::string tokenizer_class = {};
  /// bos_token, eos_token, unk_token; empty where there is none.
  std::string start = {}, end = {}, unknown = {};
  std::optional<bool> adds_start = {};          ///< add_bos_token
  bool adds_space = false;                      ///< add_prefix_space
  std::map<int32_t, std::string> special = {};  ///< of added_tokens_decoder, those that are special
};

/// Reads `directory`/tokenizer_config.json, where there is one. Throws kFormat for what is not JSON of the
/// right types.
TextTokenizerConfig read_text_tokenizer_config(const std::string& directory);
void write_text_tokenizer_config(const std::string& directory, const TextTokenizerConfig& config);

/// The kind of tokenizer whose files a directory holds; none where there are none.
std::optional<TextTokenizerKind> find_text_tokenizer(const std::string& directory);

}  // namespace heed
