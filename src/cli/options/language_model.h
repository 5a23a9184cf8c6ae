// Shared by the subcommands for language models: a model with its tokenizer.
#pragma once

#include "cli/files/model_lookup.h"
#include "tasks/model_files.h"

namespace heed::cli {

using tasks::LanguageModelFiles;
using tasks::with_tokenizer;

/// Loads the chosen model. Throws kUsage if none is chosen or its task is another, and the errors of loading.
LanguageModelFiles load_language_model(const ModelChoice& choice);

}  // namespace heed::cli
