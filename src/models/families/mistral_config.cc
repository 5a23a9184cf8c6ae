// Mistral (Jiang et al., "Mistral 7B", 2023) in Hugging Face's layout, model_type mistral: Llama with a
// sliding window in all layers.
#include <nlohmann/json.hpp>

#include "models/directory/model_settings.h"
#include "models/families/llama_like_config.h"

namespace heed::models {
namespace {

void let_all_slide(DecoderOnlyConfig& c, int64_t window) {
  c.sliding.assign(static_cast<size_t>(c.layers), true);
  c.window = window;
}

void describe_mistral(ConfigFields& fields, DecoderOnlyConfig& c) {
  describe_llama_like(fields, c, {.max_length = 4096 * 32, .key_value_heads = 8});
  const auto read = [&](const JsonObject& json) {
    if (const int64_t window = read_window(json); window > 0) let_all_slide(c, window);
  };
  fields.custom({"sliding_window"}, read, [&](nlohmann::ordered_json& json) { write_window(c, json); });
  describe_rotary(fields, c);
  fields.neutral("attention_bias", {false});
  fields.neutral("mlp_bias", {false});
}

const DecoderOnlyFamily& mistral_family() {
  static const DecoderOnlyFamily family =
      llama_like_family("mistral", "MistralForCausalLM", describe_mistral);
  return family;
}

DecoderOnlyConfig make_mistral_config(const ModelSettings& settings) {
  DecoderOnlyConfig c = llama_like_config(settings, mistral_family());
  c.tied_output = false;
  let_all_slide(c, (settings.max_length + 1) / 2);
  return c;
}

}  // namespace

Architecture mistral_architecture() {
  return with_decoder_only<mistral_family, make_mistral_config>(llama_like_architecture(
      "mistral", "Llama with a sliding window of half the maximum length (Jiang et al., 2023)", "mistral"));
}

}  // namespace heed::models
