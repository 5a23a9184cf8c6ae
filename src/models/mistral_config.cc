// Mistral (Jiang et al., "Mistral 7B", 2023) in Hugging Face's layout, model_type mistral: Llama with a
// sliding window in all layers.
#include <nlohmann/json.hpp>

#include "models/llama_like_config.h"
#include "models/model_settings.h"

namespace heed::models {
namespace {

nlohmann::ordered_json mistral_config_json(const DecoderOnlyConfig& c) {
  nlohmann::ordered_json json = llama_like_json(c, "MistralForCausalLM");
  json["hidden_act"] =
      c.activation == Activation::kSwish ? "silu" : name_in(activation_names(), c.activation);
  json["sliding_window"] = nullptr;
  if (!c.sliding.empty()) json["sliding_window"] = c.window;
  write_rotary_positions(c.rotary, json);
  return json;
}

const DecoderOnlyFamily& mistral_family() {
  static const DecoderOnlyFamily family = llama_like_family("mistral", mistral_config_json);
  return family;
}

void let_all_slide(DecoderOnlyConfig& c, int64_t window) {
  c.sliding.assign(static_cast<size_t>(c.layers), true);
  c.window = window;
}

DecoderOnlyConfig read_mistral_config(const JsonObject& json) {
  static const KnownKeys keys =
      llama_like_keys({.read = {"hidden_act", "sliding_window"},
                       .ignored = {},
                       .neutral = {{"attention_bias", {false}}, {"mlp_bias", {false}}}});
  require_known_keys(json, keys);
  DecoderOnlyConfig c =
      read_llama_like(json, mistral_family(), {.max_length = 4096 * 32, .key_value_heads = 8});
  c.attention_bias = c.feed_forward_bias = false;
  c.rotary = c.sliding_rotary = read_rotary_positions(json, rotary_defaults(c));
  if (const int64_t window = read_window(json); window > 0) let_all_slide(c, window);
  return c;
}

}  // namespace

Architecture mistral_architecture() {
  Architecture row = llama_like_architecture(
      "mistral", "Llama with a sliding window of half the maximum length (Jiang et al., 2023)", "mistral");
  row.make = [](const ModelSettings& settings) -> std::unique_ptr<Model> {
    DecoderOnlyConfig c = llama_like_config(settings, mistral_family());
    c.tied_output = false;
    let_all_slide(c, (settings.max_length + 1) / 2);
    return std::make_unique<DecoderOnly>(c);
  };
  row.read = [](const JsonObject& config) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(read_mistral_config(config));
  };
  return row;
}

}  // namespace heed::models
