// The base class of all models: a table of parameters.
#pragma once

#include <string>
#include <vector>

#include "base/json_file.h"
#include "nn/parameters.h"

namespace heed::models {

/// The task of a model.
enum class Task { kTranslation, kLanguageModel, kClassification, kMaskedLanguageModel };

class Model {
 public:
  virtual ~Model() = default;
  virtual Task task() const = 0;
  /// The config.json from which the table of architectures can recreate this model.
  virtual nlohmann::ordered_json config_json() const = 0;
  /// Features that Hugging Face's library does not support, for messages; empty if the model loads there.
  virtual std::vector<std::string> beyond_hugging_face() const { return {}; }
  const nn::ParameterTable& table() const { return table_; }

 protected:
  nn::ParameterTable table_;
};

}  // namespace heed::models
