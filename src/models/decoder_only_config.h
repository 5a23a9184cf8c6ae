// config.json of decoder-only language models, and their rows in the table of architectures.
#pragma once

#include "models/architecture.h"
#include "models/decoder_only.h"

namespace heed::models {

/// GPT-2 (Hugging Face's GPT2LMHeadModel) and Llama (LlamaForCausalLM).
Architecture gpt2_architecture();
Architecture llama_architecture();

const DecoderOnlyFamily& gpt2_family();
const DecoderOnlyFamily& llama_family();

/// A token id such as bos_token_id, or the first of a list; -1 if missing.
int32_t read_special_id(const JsonObject& json, const std::string& key, int64_t vocabulary);
/// Writes the special token ids, null for -1.
void write_special_ids(const DecoderOnlyConfig& config, nlohmann::ordered_json& json);
/// The config for the settings of a recipe.
DecoderOnlyConfig decoder_only_config(const ModelSettings& settings, const DecoderOnlyFamily& family);
ModelPreset decoder_only_preset(PresetSize size);

}  // namespace heed::models
