#include "models/config/decoder_only_config.h"

#include <nlohmann/json.hpp>

namespace heed::models {

namespace {

/// eos_token_id, which may be a list.
void read_end_ids(const JsonObject& json, DecoderOnlyConfig& config, int32_t usual) {
  for (const int64_t id : read_token_ids(json, "eos_token_id", config.vocabulary, usual)) {
    if (id < 0) continue;
    if (config.end_id < 0) {
      config.end_id = static_cast<int32_t>(id);
    } else {
      config.other_end_ids.push_back(static_cast<int32_t>(id));
    }
  }
}

void write_end_ids(const DecoderOnlyConfig& config, nlohmann::ordered_json& json) {
  nlohmann::ordered_json& ids = json["eos_token_id"];
  if (config.end_id >= 0) ids = config.end_id;
  if (config.other_end_ids.empty()) return;
  ids = {config.end_id};
  for (const int32_t id : config.other_end_ids) ids.push_back(id);
}

}  // namespace

void describe_special_ids(ConfigFields& fields, DecoderOnlyConfig& c, const UsualIds& usual) {
  fields.token_id("bos_token_id", c.start_id, c.vocabulary, usual.start);
  fields.custom(
      {"eos_token_id"}, [&](const JsonObject& json) { read_end_ids(json, c, usual.end); },
      [&](nlohmann::ordered_json& json) { write_end_ids(c, json); });
  fields.token_id("pad_token_id", c.padding_id, c.vocabulary, usual.padding);
}

namespace {

DecoderOnlyConfig config_of(const DecoderOnlyFamily& family) {
  DecoderOnlyConfig config;
  config.family = &family;
  return config;
}

}  // namespace

KnownKeys decoder_only_keys(const DecoderOnlyFamily& family) {
  return keys_of(family.describe, config_of(family));
}

DecoderOnlyConfig read_decoder_only(const JsonObject& json, const DecoderOnlyFamily& family) {
  return read_config(json, family.describe, config_of(family));
}

nlohmann::ordered_json decoder_only_json(const DecoderOnlyConfig& config) {
  DecoderOnlyConfig complete = config;
  complete.key_value_heads = config.actual_key_value_heads();
  complete.head_width = config.actual_head_width();
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["model_type"] = config.family->model_type;
  json["architectures"] = {config.family->model_class};
  write_config(complete, config.family->describe, json);
  return json;
}

DecoderOnlyConfig decoder_only_config(const ModelSettings& s, const DecoderOnlyFamily& family) {
  DecoderOnlyConfig c = config_of(family);
  apply_settings(s, c);
  c.start_id = s.start_id;
  c.end_id = s.end_id;
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
  return decoder_only_json(config_);
}

}  // namespace heed::models
