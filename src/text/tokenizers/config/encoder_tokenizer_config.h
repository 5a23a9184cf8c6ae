// tokenizer_config.json of a BERT directory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/tokenizers/config/tokenizer_flags.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed {

/// The settings, and those of how text becomes words again where the file has them: empty where it leaves
/// them to a default.
struct WordPieceConfig {
  WordPieceSettings settings;
  TokenizerFlags flags;
  std::optional<bool> truncates_left;
};

/// Throws kFormat, with `name`, for what is not JSON of the right types, and for settings that Heed does not
/// have.
WordPieceConfig read_wordpiece_config(std::string_view json, const std::string& name);

/// For BertTokenizer of transformers; with a `tokenizer.json`, which has everything but the names of the
/// special tokens, for its generic class. Empty names are left out.
std::string write_wordpiece_config(const WordPieceSettings& settings, bool with_json);

}  // namespace heed
