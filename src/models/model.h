// The base class of all models: a table of parameters.
#pragma once

#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "heed/trace.h"
#include "nn/storage/parameters.h"

namespace heed::models {

/// The task of a model.
enum class Task { kTranslation, kLanguageModel, kClassification, kMaskedLanguageModel, kEmbedding };

/// The attention heads of a stack; all its layers have the same number.
struct HeadCount {
  int layers = 0, heads = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  virtual Task task() const = 0;
  /// The config.json from which the table of architectures can recreate this model.
  virtual nlohmann::ordered_json config_json() const = 0;
  /// Zeros for a stack that the model does not have, and for the attention of recurrent networks, which has
  /// no heads.
  virtual HeadCount attention_heads(Stack /*stack*/) const { return {}; }
  /// The layers of a stack; 0 for one that the model does not have.
  virtual int layers(Stack stack) const { return attention_heads(stack).layers; }
  /// Features that Hugging Face's library does not support, for messages; empty if the model loads there.
  virtual std::vector<std::string> beyond_hugging_face() const { return {}; }
  const nn::ParameterTable& table() const { return table_; }

 protected:
  nn::ParameterTable table_;
};

}  // namespace heed::models
