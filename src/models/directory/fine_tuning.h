// Loads a model for fine-tuning, on other text or for other classes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/architecture.h"
#include "models/directory/model_directory.h"

namespace heed::models {

struct FineTunedModel {
  std::unique_ptr<Model> model;
  /// Prefixes of parameters that are initialized if the weights lack them: the output layer of a classifier
  /// with other classes. If empty, weights and model must match.
  std::vector<std::string> new_prefixes;
};

/// Creates the model of a directory's config.json with the vocabulary and labels of `settings` and its
/// dropouts, except those that are kKeepModelValue. Throws kUsage for another architecture or a tokenizer
/// that does not match, and the errors of reading.
FineTunedModel read_for_fine_tuning(const ModelDirectory& directory, const Architecture& architecture,
                                    const ModelSettings& settings);

/// The maximum length of a text of a directory's model in tokens; 0: none. Throws kFormat.
int64_t max_length_of(const ModelDirectory& directory);

}  // namespace heed::models
