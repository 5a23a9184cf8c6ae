// What all models have in common: parameters, in one table.
#pragma once

#include "nn/parameters.h"

namespace heed::models {

/// What a model is for.
enum class Task { kTranslation, kLanguageModel, kClassification };

class Model {
 public:
  virtual ~Model() = default;
  virtual Task task() const = 0;
  const nn::ParameterTable& table() const { return table_; }

 protected:
  nn::ParameterTable table_;
};

}  // namespace heed::models
