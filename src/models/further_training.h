// A model that was trained before, to be trained further: on other text, or for other classes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/architecture.h"

namespace heed::models {

struct FurtherModel {
  std::unique_ptr<Model> model;
  /// Prefixes of the parameters that begin anew where the weights do not hold them: the last layer of a
  /// classifier whose classes are others now. Without any, weights and model must match.
  std::vector<std::string> anew;
};

/// The model of a directory's config.json, for the vocabulary and the labels of `settings` and with those of
/// its dropouts that are not kAsTheModelSays. Throws kUsage for a model of another architecture and for one
/// that its own tokenizer does not fit, and what reading throws.
FurtherModel read_for_training(const std::string& directory, const Architecture& architecture,
                               const ModelSettings& settings);

/// The name of the architecture of a directory's config.json. Throws kNotFound, kFile or kFormat.
std::string architecture_name_in(const std::string& directory);

}  // namespace heed::models
