// Shared by the subcommands for language models: a model with its tokenizer.
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

/// Adds the tokenizer to a loaded language model. Without one in the directory, logs a warning, and texts are
/// token ids. Throws kFormat if the tokenizer has more tokens than the model's vocabulary.
LanguageModelFiles with_tokenizer(models::LoadedModel loaded);

/// Loads the chosen model. Throws kUsage if none is chosen or its task is another, and the errors of loading.
LanguageModelFiles load_language_model(const ModelChoice& choice);

}  // namespace heed::cli
