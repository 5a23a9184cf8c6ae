// Reads and writes tokenizer_config.json of language models.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/pipeline/added_vocabulary.h"
#include "text/tokenizers/config/tokenizer_class.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed {

struct TextTokenizerConfig {
  std::string tokenizer_class = {};
  /// bos_token, eos_token, unk_token; empty if missing.
  std::string start = {}, end = {}, unknown = {};
  /// add_bos_token, add_eos_token, add_prefix_space; empty if missing.
  std::optional<bool> adds_start = {}, adds_end = {}, adds_space = {};
  /// Of SentencePiece: false for prepend_scheme "first", without a space behind an added token.
  bool legacy = true;
  /// added_tokens_decoder; or, without it and without a tokenizer.json, added_tokens.json.
  std::vector<AddedToken> added = {};
  /// heed_tokenizer: the kind, if Heed wrote tokenizer.json only for other libraries.
  std::optional<TextTokenizerKind> own = {};
};

/// Reads tokenizer_config.json if it exists. Throws kFormat for malformed content.
TextTokenizerConfig read_text_tokenizer_config(const ModelInventory& files);
void write_text_tokenizer_config(const std::string& directory, const TextTokenizerConfig& config);

/// The kind of tokenizer files in a directory.
struct TextTokenizerFiles {
  bool json = false;                                     ///< tokenizer.json takes precedence
  TextTokenizerKind kind = TextTokenizerKind::kByteBpe;  ///< if not defined by tokenizer.json
};

/// Detects the tokenizer files of a directory; empty if there are none.
std::optional<TextTokenizerFiles> find_text_tokenizer(const ModelInventory& files,
                                                      const TextTokenizerConfig& config);

}  // namespace heed
