// Qwen 2, 2.5 and 3 (Yang et al., 2024 and 2025) in Hugging Face's layout: model_types qwen2 and qwen3. Both
// are Llama; Qwen 2 with biases of queries, keys and values, Qwen 3 with a norm of each head's queries and
// keys.
#include <nlohmann/json.hpp>
#include <utility>

#include "models/llama_like_config.h"
#include "models/model_settings.h"

namespace heed::models {
namespace {

nlohmann::ordered_json qwen_config_json(const DecoderOnlyConfig& c, const char* model_class) {
  nlohmann::ordered_json json = llama_like_json(c, model_class);
  json["hidden_act"] =
      c.activation == Activation::kSwish ? "silu" : name_in(activation_names(), c.activation);
  const bool slides = !c.sliding.empty();
  json["use_sliding_window"] = slides;
  json["sliding_window"] = nullptr;
  if (slides) json["sliding_window"] = c.window;
  // For versions of transformers before 5: layers from this number on slide.
  int first = c.layers;
  while (first > 0 && c.slides(first - 1)) --first;
  json["max_window_layers"] = first;
  json["layer_types"] = layer_types_json(c);
  write_rotary_positions(c.rotary, json);
  return json;
}

nlohmann::ordered_json qwen2_config_json(const DecoderOnlyConfig& c) {
  return qwen_config_json(c, "Qwen2ForCausalLM");
}

nlohmann::ordered_json qwen3_config_json(const DecoderOnlyConfig& c) {
  nlohmann::ordered_json json = qwen_config_json(c, "Qwen3ForCausalLM");
  json["attention_bias"] = c.attention_bias;
  return json;
}

const DecoderOnlyFamily& qwen2_family() {
  static const DecoderOnlyFamily family = llama_like_family("qwen2", qwen2_config_json);
  return family;
}

const DecoderOnlyFamily& qwen3_family() {
  static const DecoderOnlyFamily family = [] {
    DecoderOnlyFamily qwen = llama_like_family("qwen3", qwen3_config_json);
    add_query_key_norms(qwen);
    return qwen;
  }();
  return family;
}

/// Common to both.
DecoderOnlyConfig read_qwen_config(const JsonObject& json, const DecoderOnlyFamily& family,
                                   int64_t head_width) {
  DecoderOnlyConfig c =
      read_llama_like(json, family, {.max_length = 32768, .key_value_heads = 32, .head_width = head_width});
  c.feed_forward_bias = false;
  c.rotary = c.sliding_rotary = read_rotary_positions(json, rotary_defaults(c));
  const int64_t window = read_window(json);
  const bool slides = json.boolean("use_sliding_window", false) && window > 0;
  const int64_t first = json.integer("max_window_layers", {0, 1 << 20}, 28);
  c.sliding = read_sliding_layers(json, c.layers, [&](int layer) { return slides && layer >= first; });
  if (c.sliding.empty()) return c;
  if (!slides) json.reject("layer_types", "only \"full_attention\" where use_sliding_window is false");
  c.window = window;
  return c;
}

KnownKeys qwen_keys(std::vector<std::string> read, std::vector<NeutralKey> neutral) {
  for (const char* key :
       {"hidden_act", "layer_types", "max_window_layers", "sliding_window", "use_sliding_window"}) {
    read.emplace_back(key);
  }
  neutral.push_back({"mlp_bias", {false}});
  return llama_like_keys({.read = std::move(read), .ignored = {}, .neutral = std::move(neutral)});
}

DecoderOnlyConfig read_qwen2_config(const JsonObject& json) {
  static const KnownKeys keys = qwen_keys({}, {{"attention_bias", {true}}});
  require_known_keys(json, keys);
  DecoderOnlyConfig c = read_qwen_config(json, qwen2_family(), 0);
  c.attention_bias = true;
  c.attention_output_bias = false;
  return c;
}

DecoderOnlyConfig read_qwen3_config(const JsonObject& json) {
  static const KnownKeys keys = qwen_keys({"attention_bias"}, {});
  require_known_keys(json, keys);
  DecoderOnlyConfig c = read_qwen_config(json, qwen3_family(), 128);
  c.attention_bias = json.boolean("attention_bias", false);
  return c;
}

}  // namespace

Architecture qwen2_architecture() {
  Architecture row = llama_like_architecture(
      "qwen2", "Llama with biases of queries, keys and values (Yang et al., 2024)", "qwen2");
  row.make = [](const ModelSettings& settings) -> std::unique_ptr<Model> {
    DecoderOnlyConfig c = llama_like_config(settings, qwen2_family());
    c.attention_bias = true;
    c.attention_output_bias = false;
    return std::make_unique<DecoderOnly>(c);
  };
  row.read = [](const JsonObject& config) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(read_qwen2_config(config));
  };
  return row;
}

Architecture qwen3_architecture() {
  Architecture row = llama_like_architecture(
      "qwen3", "Llama with norms of each head's queries and keys (Yang et al., 2025)", "qwen3");
  row.make = [](const ModelSettings& settings) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(llama_like_config(settings, qwen3_family()));
  };
  row.read = [](const JsonObject& config) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(read_qwen3_config(config));
  };
  return row;
}

}  // namespace heed::models
