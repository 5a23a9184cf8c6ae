// Llama (Touvron et al., 2023) in Hugging Face's layout: model_type llama. Also TinyLlama, SmolLM2 and others
// that have no type of their own.
#include <nlohmann/json.hpp>

#include "models/llama_like_config.h"
#include "models/model_settings.h"

namespace heed::models {
namespace {

nlohmann::ordered_json llama_config_json(const DecoderOnlyConfig& c) {
  nlohmann::ordered_json json = llama_like_json(c, "LlamaForCausalLM");
  json["hidden_act"] =
      c.activation == Activation::kSwish ? "silu" : name_in(activation_names(), c.activation);
  json["attention_bias"] = c.attention_bias;
  json["mlp_bias"] = c.feed_forward_bias;
  write_rotary_positions(c.rotary, json);
  return json;
}

const KnownKeys& llama_keys() {
  static const KnownKeys keys =
      llama_like_keys({.read = {"attention_bias", "hidden_act", "mlp_bias"},
                       // pretraining_tp only slices matrices, without changing products.
                       .ignored = {"is_llama_config", "pretraining_tp"},
                       .neutral = {{"sliding_window", {}}}});
  return keys;
}

DecoderOnlyConfig read_llama_config(const JsonObject& json) {
  require_known_keys(json, llama_keys());
  DecoderOnlyConfig c = read_llama_like(json, llama_family(), {});
  c.attention_bias = json.boolean("attention_bias", false);
  c.feed_forward_bias = json.boolean("mlp_bias", false);
  c.rotary = read_rotary_positions(json, rotary_defaults(c));
  return c;
}

}  // namespace

const DecoderOnlyFamily& llama_family() {
  static const DecoderOnlyFamily family = llama_like_family("llama", llama_config_json);
  return family;
}

Architecture llama_architecture() {
  Architecture row = llama_like_architecture(
      "llama", "decoder-only with rotary positions, RMS norm and gates (Touvron et al., 2023)", "llama");
  row.make = [](const ModelSettings& settings) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(llama_like_config(settings, llama_family()));
  };
  row.read = [](const JsonObject& config) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(read_llama_config(config));
  };
  return row;
}

}  // namespace heed::models
