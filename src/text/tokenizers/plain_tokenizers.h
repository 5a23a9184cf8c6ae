// The tokenizers of language models with files of their own besides byte-level BPE.
#pragma once

#include <string>

#include "text/tokenizers/config/language_tokenizer_config.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed {

/// Reads vocab.json, {"a": 0, ...}; characters of the training text have ids in code point order.
ModelTokenizer load_character_tokenizer(const std::string& directory);
ModelTokenizer train_character_tokenizer(const NextText& text);

/// Reads tokenizer.model.
ModelTokenizer load_sentencepiece_tokenizer(const std::string& directory, const TextTokenizerConfig& config);
ModelTokenizer train_sentencepiece_tokenizer(const TextTokenizerOptions& options, const NextText& text);

}  // namespace heed
