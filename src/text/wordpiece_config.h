// tokenizer_config.json of a BERT directory.
#pragma once

#include <string>
#include <string_view>

#include "text/wordpiece.h"

namespace heed {

/// Throws kFormat, with `name`, for what is not JSON of the right types, and for settings that Heed does not
/// have.
WordPieceSettings read_wordpiece_config(std::string_view json, const std::string& name);

/// For BertTokenizer of transformers.
std::string write_wordpiece_config(const WordPieceSettings& settings);

}  // namespace heed
