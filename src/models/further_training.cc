#include "models/further_training.h"

#include <type_traits>

#include "base/check.h"
#include "models/model_weights.h"

namespace heed::models {
namespace {

/// The config with what `settings` change of it.
JsonObject changed(const JsonObject& config, const Architecture& architecture, ModelSettings settings) {
  nlohmann::json json = config.json();
  visit_model_settings(settings, [&](const char* name, const auto& value, const auto&...) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, double>) {
      for (const auto& [setting, keys] : architecture.changeable) {
        if (setting != name || value == kAsTheModelSays) continue;
        for (const std::string& key : keys) json[key] = value;
      }
    }
  });
  return JsonObject::parse(json.dump(), config.origin());
}

}  // namespace

FurtherModel read_for_training(const std::string& directory, const Architecture& architecture,
                               const ModelSettings& settings) {
  const JsonObject config = changed(JsonObject::read(directory + "/config.json"), architecture, settings);
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
