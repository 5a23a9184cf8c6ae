// config.json of decoder-only language models, and their rows in the table of architectures.
#pragma once

#include "models/architecture.h"
#include "models/decoder_only.h"

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

/// A token id such as bos_token_id; -1 if missing.
int32_t read_special_id(const JsonObject& json, const std::string& key, int64_t vocabulary);
/// eos_token_id, which may be a list.
void read_end_ids(const JsonObject& json, DecoderOnlyConfig& config);
/// Writes the special token ids, null for -1.
void write_special_ids(const DecoderOnlyConfig& config, nlohmann::ordered_json& json);
/// The config for the settings of a recipe.
DecoderOnlyConfig decoder_only_config(const ModelSettings& settings, const DecoderOnlyFamily& family);
ModelPreset decoder_only_preset(PresetSize size);

}  // namespace heed::models
