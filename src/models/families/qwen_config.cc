// Qwen 2, 2.5 and 3 (Yang et al., 2024 and 2025) in Hugging Face's layout: model_types qwen2 and qwen3. Both
// are Llama; Qwen 2 with biases of queries, keys and values, Qwen 3 with a norm of each head's queries and
// keys.
#include <nlohmann/json.hpp>

#include "models/directory/model_settings.h"
#include "models/families/llama_like_config.h"

namespace heed::models {
namespace {

void read_sliding(const JsonObject& json, DecoderOnlyConfig& c) {
  const int64_t window = read_window(json);
  const bool slides = json.boolean("use_sliding_window", false) && window > 0;
  const int64_t first = json.integer("max_window_layers", {0, 1 << 20}, 28);
  c.sliding = read_sliding_layers(json, c.layers, [&](int layer) { return slides && layer >= first; });
  if (c.sliding.empty()) return;
  if (!slides) json.reject("layer_types", "only \"full_attention\" where use_sliding_window is false");
  c.window = window;
}

void write_sliding(const DecoderOnlyConfig& c, nlohmann::ordered_json& json) {
  json["use_sliding_window"] = !c.sliding.empty();
  write_window(c, json);
  // For versions of transformers before 5: layers from this number on slide.
  int first = c.layers;
  while (first > 0 && c.slides(first - 1)) --first;
  json["max_window_layers"] = first;
  json["layer_types"] = layer_types_json(c);
}

/// Common to both. `head_width` 0: D / H.
void describe_qwen(ConfigFields& fields, DecoderOnlyConfig& c, int64_t head_width) {
  describe_llama_like(fields, c,
                      {.max_length = 32768, .ids = {}, .key_value_heads = 32, .head_width = head_width});
  fields.custom(
      {"layer_types", "max_window_layers", "sliding_window", "use_sliding_window"},
      [&](const JsonObject& json) { read_sliding(json, c); },
      [&](nlohmann::ordered_json& json) { write_sliding(c, json); });
  describe_rotary(fields, c);
  fields.neutral("mlp_bias", {false});
}

/// Biases of queries, keys and values alone.
void add_biases(DecoderOnlyConfig& c) {
  c.attention_bias = true;
  c.attention_output_bias = false;
}

void describe_qwen2(ConfigFields& fields, DecoderOnlyConfig& c) {
  describe_qwen(fields, c, 0);
  fields.neutral("attention_bias", {true});
  fields.derive([&](const JsonObject&) { add_biases(c); });
}

void describe_qwen3(ConfigFields& fields, DecoderOnlyConfig& c) {
  describe_qwen(fields, c, 128);
  fields.boolean("attention_bias", c.attention_bias, false);
}

const DecoderOnlyFamily& qwen2_family() {
  static const DecoderOnlyFamily family = llama_like_family("qwen2", "Qwen2ForCausalLM", describe_qwen2);
  return family;
}

const DecoderOnlyFamily& qwen3_family() {
  static const DecoderOnlyFamily family = [] {
    DecoderOnlyFamily qwen = llama_like_family("qwen3", "Qwen3ForCausalLM", describe_qwen3);
    add_query_key_norms(qwen);
    return qwen;
  }();
  return family;
}

DecoderOnlyConfig make_qwen2_config(const ModelSettings& settings) {
  DecoderOnlyConfig c = llama_like_config(settings, qwen2_family());
  add_biases(c);
  return c;
}

DecoderOnlyConfig make_qwen3_config(const ModelSettings& settings) {
  return llama_like_config(settings, qwen3_family());
}

}  // namespace

Architecture qwen2_architecture() {
  return with_decoder_only<qwen2_family, make_qwen2_config>(llama_like_architecture(
      "qwen2", "Llama with biases of queries, keys and values (Yang et al., 2024)", "qwen2"));
}

Architecture qwen3_architecture() {
  return with_decoder_only<qwen3_family, make_qwen3_config>(llama_like_architecture(
      "qwen3", "Llama with norms of each head's queries and keys (Yang et al., 2025)", "qwen3"));
}

}  // namespace heed::models
