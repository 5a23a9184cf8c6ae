// tokenizer_config.json of a language model's directory: what Heed needs of it, and what Hugging Face needs
// to open the directory.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "text/text_tokenizer.h"

namespace heed {

inline constexpr const char* kTokenizerJson = "/tokenizer.json";
/// The class of transformers that does as tokenizer.json says, for what no class of theirs is made for.
inline constexpr const char* kPlainTokenizerClass = "PreTrainedTokenizerFast";

struct TextTokenizerConfig {
  std::string tokenizer_class = {};
  /// bos_token, eos_token, unk_token; empty where there is none.
  std::string start = {}, end = {}, unknown = {};
  /// add_bos_token, add_eos_token, add_prefix_space; empty where the file does not say.
  std::optional<bool> adds_start = {}, adds_end = {}, adds_space = {};
  std::map<int32_t, std::string> special = {};  ///< of added_tokens_decoder, those that are special
  /// heed_tokenizer: the kind, where tokenizer.json was written by Heed for other libraries to read.
  std::optional<TextTokenizerKind> own = {};
};

/// Reads `directory`/tokenizer_config.json, where there is one. Throws kFormat for what is not JSON of the
/// right types.
TextTokenizerConfig read_text_tokenizer_config(const std::string& directory);
void write_text_tokenizer_config(const std::string& directory, const TextTokenizerConfig& config);

/// What the files of a directory are: a tokenizer.json that decides, or those of a kind.
struct TextTokenizerFiles {
  bool json = false;
  TextTokenizerKind kind = TextTokenizerKind::kIds;  ///< where it is not tokenizer.json
};

/// The tokenizer whose files a directory holds; none where there are none.
std::optional<TextTokenizerFiles> find_text_tokenizer(const std::string& directory,
                                                      const TextTokenizerConfig& config);

}  // namespace heed
