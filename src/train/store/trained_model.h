// The model of a training: a new one, or the one to fine-tune.
#pragma once

#include "models/directory/fine_tuning.h"
#include "train/recipe/recipe.h"
#include "train/store/output_directory.h"
#include "train/tasks/task.h"

namespace heed::train {

/// Creates the model of a recipe, with vocabulary size, special tokens and labels from `settings`. A resumed
/// fine-tuning reads the model from the output directory. Throws for invalid settings.
models::FineTunedModel make_model(const Recipe& recipe, const OutputDirectory& directory,
                                  const models::ModelSettings& settings);

/// Throws for invalid sizes and for a model that does not fit the text, before anything is written.
void require_valid_model(const Recipe& recipe, const OutputDirectory& directory, const CheckedText& text);

}  // namespace heed::train
