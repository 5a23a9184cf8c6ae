#include "models/directory/fine_tuning.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/autoregressive_model.h"
#include "models/directory/model_weights.h"
#include "models/encoder.h"

namespace heed::models {
namespace {

/// The config with the dropouts that `settings` override.
JsonObject with_dropouts(const JsonObject& config, const Architecture& architecture,
                         const ModelSettings& settings) {
  nlohmann::json json = config.json();
  for (const Dropout& dropout : architecture.dropouts) {
    const double value = settings.*dropout.field;
    if (value == kKeepModelValue) continue;
    for (const std::string& key : dropout.config_keys) json[key] = value;
  }
  return JsonObject::parse(json.dump(), config.origin());
}

}  // namespace

FineTunedModel read_for_fine_tuning(const ModelDirectory& directory, const Architecture& architecture,
                                    const ModelSettings& settings) {
  const JsonObject config = with_dropouts(directory.config(), architecture, settings);
  if (const std::string& name = architecture_of(config).name; name != architecture.name) {
    fail(ErrorKind::kUsage, "'{}' is a model of the architecture {}, not {}", directory.path(), name,
         architecture.name);
  }
  if (quantized_bits(config) != 0) {
    fail(ErrorKind::kUsage,
         "'{}' is quantized and cannot be trained: train the original float model, and quantize the result",
         directory.path());
  }
  const int64_t vocabulary =
      config.integer("decoder_vocab_size", {1, 1 << 26}, config.integer("vocab_size", {1, 1 << 26}));
  if (settings.vocabulary > vocabulary) {
    fail(ErrorKind::kUsage, "'{}': the tokenizer has {} tokens, but vocab_size in config.json is {}",
         directory.path(), settings.vocabulary, vocabulary);
  }
  if (architecture.read_for_fine_tuning != nullptr)
    return architecture.read_for_fine_tuning(config, settings);
  return {architecture.read(config), {}};
}

int64_t max_length_of(const ModelDirectory& directory) {
  const std::unique_ptr<Model> model = directory.create_model();
  if (const auto* encoder = dynamic_cast<const Encoder*>(model.get())) return encoder->max_length();
  const auto* writer = dynamic_cast<const AutoregressiveModel*>(model.get());
  return writer == nullptr ? 0 : writer->max_length();
}

}  // namespace heed::models
