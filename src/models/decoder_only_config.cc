#include "models/decoder_only_config.h"

#include <nlohmann/json.hpp>

namespace heed::models {

int32_t read_special_id(const JsonObject& json, const std::string& key, int64_t vocabulary) {
  if (!json.has(key)) return -1;
  const std::vector<int64_t> ids = json.integers(key, {-1, vocabulary - 1});
  return ids.empty() ? -1 : static_cast<int32_t>(ids[0]);
}

void read_end_ids(const JsonObject& json, DecoderOnlyConfig& config) {
  if (!json.has("eos_token_id")) return;
  for (const int64_t id : json.integers("eos_token_id", {-1, config.vocabulary - 1})) {
    if (id < 0) continue;
    if (config.end_id < 0) {
      config.end_id = static_cast<int32_t>(id);
    } else {
      config.other_end_ids.push_back(static_cast<int32_t>(id));
    }
  }
}

void write_special_ids(const DecoderOnlyConfig& config, nlohmann::ordered_json& json) {
  const auto write = [&](const char* key, int32_t id) {
    json[key] = id < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(id);
  };
  write("bos_token_id", config.start_id);
  write("eos_token_id", config.end_id);
  if (!config.other_end_ids.empty()) {
    json["eos_token_id"] = {config.end_id};
    for (const int32_t id : config.other_end_ids) json["eos_token_id"].push_back(id);
  }
  write("pad_token_id", config.padding_id);
}

DecoderOnlyConfig decoder_only_config(const ModelSettings& s, const DecoderOnlyFamily& family) {
  DecoderOnlyConfig c;
  c.family = &family;
  c.vocabulary = s.vocabulary;
  c.width = s.width;
  c.layers = s.layers;
  c.heads = s.heads;
  c.inner_width = s.inner_width;
  c.activation = s.activation;
  c.max_length = s.max_length;
  c.embedding_dropout = c.dropout = s.dropout;
  c.attention_dropout = s.attention_dropout;
  c.start_id = s.start_id;
  c.end_id = s.end_id;
  c.padding_id = s.padding_id;
  return c;
}

ModelPreset decoder_only_preset(PresetSize size) {
  ModelPreset preset;
  ModelSettings& s = preset.settings;
  s.activation = Activation::kGeluTanh;
  s.dropout = 0;
  preset.learning_rate = 3e-3;
  switch (size) {
    case PresetSize::kTiny:
      s.width = 64, s.layers = 2, s.heads = 4, s.inner_width = 256, s.max_length = 64;
      preset.warmup_steps = 100;
      break;
    case PresetSize::kSmall:  // nanoGPT's for a processor
      s.width = 128, s.layers = 4, s.heads = 4, s.inner_width = 512, s.max_length = 64;
      preset.warmup_steps = 300;
      break;
    case PresetSize::kBase:
      s.width = 384, s.layers = 6, s.heads = 6, s.inner_width = 1536, s.max_length = 256;
      s.dropout = 0.2;
      s.attention_dropout = 0.2;
      preset.learning_rate = 1e-3;
      preset.warmup_steps = 1000;
      break;
  }
  preset.clip_norm = 1;
  return preset;
}

nlohmann::ordered_json DecoderOnly::config_json() const {
  return config_.family->config_json(config_);
}

}  // namespace heed::models
