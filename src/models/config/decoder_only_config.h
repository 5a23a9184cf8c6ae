// config.json of decoder-only language models, and their rows in the table of architectures.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "models/architecture.h"
#include "models/config/config_fields.h"
#include "models/stacks/decoder_only.h"

namespace heed::models {

Architecture gpt2_architecture();
Architecture llama_architecture();
Architecture mistral_architecture();
Architecture qwen2_architecture();
Architecture qwen3_architecture();
Architecture gemma2_architecture();
Architecture gemma3_architecture();

const DecoderOnlyFamily& gpt2_family();
const DecoderOnlyFamily& llama_family();

/// The factor of Gemma's embeddings: sqrt(D), rounded to the type of the weights.
double gemma_embedding_scale(int64_t width, DType weights_type);

/// The special tokens of configs that lack the keys, as in transformers; -1: none.
struct UsualIds {
  int32_t start = -1, end = -1, padding = -1;
};
/// Start, end and padding.
void describe_special_ids(ConfigFields& fields, DecoderOnlyConfig& config, const UsualIds& usual);
/// The keys of a config.json.
KnownKeys decoder_only_keys(const DecoderOnlyFamily& family);
/// Reads a config.json. Throws kFormat for missing, invalid or unsupported values.
DecoderOnlyConfig read_decoder_only(const JsonObject& json, const DecoderOnlyFamily& family);
/// The config.json.
nlohmann::ordered_json decoder_only_json(const DecoderOnlyConfig& config);

/// The config for the settings of a recipe.
DecoderOnlyConfig decoder_only_config(const ModelSettings& settings, const DecoderOnlyFamily& family);
ModelPreset decoder_only_preset(PresetSize size);

/// A family's row: kFamily() is the family, kMake(settings) the config for the settings of a recipe.
template <auto kFamily, auto kMake>
Architecture with_decoder_only(Architecture row) {
  row.make = [](const ModelSettings& settings) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(kMake(settings));
  };
  row.keys = [](const std::string&) { return decoder_only_keys(kFamily()); };
  row.read = [](const JsonObject& json) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(read_decoder_only(json, kFamily()));
  };
  return row;
}

}  // namespace heed::models
