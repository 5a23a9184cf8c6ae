#include "models/further_training.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/model_weights.h"

namespace heed::models {
namespace {

/// The config with those dropouts that `settings` do not leave to it.
JsonObject with_dropouts(const JsonObject& config, const Architecture& architecture,
                         const ModelSettings& settings) {
  nlohmann::json json = config.json();
  for (const Dropout& dropout : architecture.dropouts) {
    const double value = settings.*dropout.field;
    if (value == kAsTheModelSays) continue;
    for (const std::string& key : dropout.config_keys) json[key] = value;
  }
  return JsonObject::parse(json.dump(), config.origin());
}

}  // namespace

FurtherModel read_for_training(const std::string& directory, const Architecture& architecture,
                               const ModelSettings& settings) {
  const JsonObject config =
      with_dropouts(JsonObject::read(directory + "/config.json"), architecture, settings);
  if (const std::string& name = architecture_of(config).name; name != architecture.name) {
    fail(ErrorKind::kUsage, "'{}' holds a model of the architecture {}, not {}", directory, name,
         architecture.name);
  }
  if (is_quantized(config)) {
    fail(ErrorKind::kUsage,
         "'{}' is quantised, and steps of training are smaller than what was rounded away: train the float "
         "model "
         "that it was made from, and quantise the result",
         directory);
  }
  const int64_t vocabulary = config.integer("vocab_size", {1, 1 << 26});
  if (settings.vocabulary > vocabulary) {
    fail(ErrorKind::kUsage, "'{}': the tokenizer has {} tokens, and config.json gives the model {}",
         directory, settings.vocabulary, vocabulary);
  }
  if (architecture.read_further != nullptr) return architecture.read_further(config, settings);
  return {architecture.read(config), {}};
}

std::string architecture_name_in(const std::string& directory) {
  return architecture_of(JsonObject::read(directory + "/config.json")).name;
}

}  // namespace heed::models
