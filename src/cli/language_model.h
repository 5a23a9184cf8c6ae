// What the subcommands for language models share: a model ready to be used.
#pragma once

#include <memory>

#include "cli/model_lookup.h"
#include "models/model_directory.h"
#include "text/text_tokenizer.h"

namespace heed::cli {

struct LanguageModelFiles {
  models::LoadedModel loaded;
  std::unique_ptr<TextTokenizer> tokenizer;
};

/// The tokenizer of a language model that was read; where its directory holds none, one of ids, with a word
/// in the log. Throws kFormat where it has more tokens than the model.
LanguageModelFiles with_tokenizer(models::LoadedModel loaded);

/// The model that was chosen. Throws kUsage where none was, or one for another task, and what reading it
/// throws.
LanguageModelFiles load_language_model(const ModelChoice& choice);

}  // namespace heed::cli
