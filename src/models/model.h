// What all models have in common: parameters, in one table.
#pragma once

#include <string>
#include <vector>

#include "base/json_file.h"
#include "nn/parameters.h"

namespace heed::models {

/// What a model is for.
enum class Task { kTranslation, kLanguageModel, kClassification, kMaskedLanguageModel };

class Model {
 public:
  virtual ~Model() = default;
  virtual Task task() const = 0;
  /// The config.json from which the table of architectures makes this model again.
  virtual nlohmann::ordered_json config_json() const = 0;
  /// What keeps it out of Hugging Face's library, in words for a person; nothing where it opens there.
  virtual std::vector<std::string> beyond_hugging_face() const { return {}; }
  const nn::ParameterTable& table() const { return table_; }

 protected:
  nn::ParameterTable table_;
};

}  // namespace heed::models
