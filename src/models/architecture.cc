#include "models/architecture.h"

#include <algorithm>

#include "base/check.h"
#include "base/text/nearest_word.h"
#include "models/config/decoder_only_config.h"
#include "models/config/encoder_only_config.h"
#include "models/config/transformer_config.h"
#include "models/families/rnn_config.h"

namespace heed::models {

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> table{
      transformer_architecture(), rnn_architecture(),   gpt2_architecture(),       llama_architecture(),
      mistral_architecture(),     qwen2_architecture(), qwen3_architecture(),      gemma2_architecture(),
      gemma3_architecture(),      bert_architecture(),  roberta_architecture(),    xlm_roberta_architecture(),
      distilbert_architecture(),  mpnet_architecture(), modernbert_architecture(),
  };
  return table;
}

const Architecture& architecture_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Architecture& architecture : architectures()) {
    if (architecture.name == name) return architecture;
    names.push_back(architecture.name);
  }
  fail(ErrorKind::kUsage, "unknown architecture '{}'; choose {}{}", name, fmt::join(names, ", "),
       did_you_mean(name, names));
}

const Architecture* architecture_of_type(const std::string& model_type) {
  for (const Architecture& architecture : architectures()) {
    if (std::ranges::count(architecture.model_types, model_type) > 0) return &architecture;
  }
  return nullptr;
}

const Architecture& architecture_of(const JsonObject& config) {
  const Architecture* architecture = architecture_of_type(config.string("model_type"));
  if (architecture == nullptr) {
    config.reject("model_type", fmt::format("a supported type ({})", fmt::join(known_model_types(), ", ")));
  }
  return *architecture;
}

std::vector<std::string> known_model_types(std::optional<Task> task) {
  std::vector<std::string> known;
  for (const Architecture& architecture : architectures()) {
    if (task && architecture.task != *task) continue;
    known.insert(known.end(), architecture.model_types.begin(), architecture.model_types.end());
  }
  return known;
}

}  // namespace heed::models
