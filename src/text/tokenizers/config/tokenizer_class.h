// The class of transformers that tokenizes for a model directory, without "Fast" at the end of its name: both
// kinds have the same rules.
#pragma once

#include <string>

#include "base/files/model_inventory.h"

namespace heed {

/// The generic class of transformers, which follows tokenizer.json.
inline constexpr const char* kPlainTokenizerClass = "PreTrainedTokenizerFast";

/// The class that a directory names, as AutoTokenizer looks for it: `own`, which is "tokenizer_class" of
/// tokenizer_config.json, or else that of config.json; empty: none. Throws kFile or kFormat.
std::string named_tokenizer_class(const ModelInventory& files, const std::string& own);
/// The same, or else the class of the model_type in config.json; empty: none, or an unknown type.
std::string tokenizer_class_of(const ModelInventory& files, const std::string& own);

/// "NAME" of "NAMEFast"; other names as they are.
std::string without_fast(std::string name);

}  // namespace heed
