// Gemma 2 (Gemma team, 2024) and the text models of Gemma 3 (2025) in Hugging Face's layout: model_types
// gemma2 and gemma3_text.
//
//   both      RMS norms with 1 + weight, before and after each sub-layer; a GELU gate; embeddings times
//             sqrt(D); scores times query_pre_attn_scalar^-1/2; some layers with a sliding window
//   Gemma 2   soft caps of scores and logits; every other layer slides, the first one does
//   Gemma 3   norms of queries and keys; another rotary base in sliding layers; five of six layers slide
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/llama_like_config.h"
#include "models/model_settings.h"

namespace heed::models {
namespace {

nlohmann::ordered_json gemma_config_json(const DecoderOnlyConfig& c, const char* model_class) {
  nlohmann::ordered_json json = llama_like_json(c, model_class);
  json["hidden_activation"] =
      c.activation == Activation::kGeluTanh ? "gelu_pytorch_tanh" : name_in(activation_names(), c.activation);
  json["attention_bias"] = c.attention_bias;
  const double scalar = 1 / (c.score_scale * c.score_scale);
  json["query_pre_attn_scalar"] = static_cast<int64_t>(std::lround(scalar));
  json["sliding_window"] = nullptr;
  if (!c.sliding.empty()) json["sliding_window"] = c.window;
  json["layer_types"] = layer_types_json(c);
  const auto cap = [](double value) {
    return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  json["attn_logit_softcapping"] = cap(c.score_cap);
  json["final_logit_softcapping"] = cap(c.logit_cap);
  if (c.weights_type != DType::kFloat32) json["dtype"] = name_of(c.weights_type);
  return json;
}

nlohmann::ordered_json gemma2_config_json(const DecoderOnlyConfig& c) {
  nlohmann::ordered_json json = gemma_config_json(c, "Gemma2ForCausalLM");
  write_rotary_positions(c.rotary, json);
  return json;
}

/// The n for which every n-th layer sees everything, for versions of transformers that do not read
/// layer_types; 0: none.
int sliding_pattern(const DecoderOnlyConfig& c) {
  for (int pattern = 1; pattern <= c.layers + 1; ++pattern) {
    int layer = 0;
    while (layer < c.layers && c.slides(layer) == ((layer + 1) % pattern != 0)) ++layer;
    if (layer == c.layers) return pattern;
  }
  return 0;
}

nlohmann::ordered_json gemma3_config_json(const DecoderOnlyConfig& c) {
  nlohmann::ordered_json json = gemma_config_json(c, "Gemma3ForCausalLM");
  if (const int pattern = sliding_pattern(c); pattern > 0) json["sliding_window_pattern"] = pattern;
  write_rotary_positions(c.rotary, json);  // rope_theta and rope_scaling for versions before 5
  json["rope_local_base_freq"] = c.sliding_rotary.base;
  json["rope_parameters"] = {{"full_attention", rotary_json(c.rotary)},
                             {"sliding_attention", rotary_json(c.sliding_rotary)}};
  return json;
}

DecoderOnlyFamily gemma_family(const std::string& model_type,
                               nlohmann::ordered_json (*config_json)(const DecoderOnlyConfig& config)) {
  DecoderOnlyFamily gemma = llama_like_family(model_type, config_json);
  gemma.norm_weight_offset = 1;
  gemma.layer_names.self_attention_norm = {"input_layernorm", "post_attention_layernorm"};
  gemma.layer_names.feed_forward_norm = {"pre_feedforward_layernorm", "post_feedforward_layernorm"};
  return gemma;
}

const DecoderOnlyFamily& gemma2_family() {
  static const DecoderOnlyFamily family = gemma_family("gemma2", gemma2_config_json);
  return family;
}

const DecoderOnlyFamily& gemma3_family() {
  static const DecoderOnlyFamily family = [] {
    DecoderOnlyFamily gemma = gemma_family("gemma3_text", gemma3_config_json);
    add_query_key_norms(gemma);
    return gemma;
  }();
  return family;
}

DType read_weights_type(const JsonObject& json) {
  static const std::vector<std::pair<std::string, DType>> types{
      {"float32", DType::kFloat32}, {"float16", DType::kFloat16}, {"bfloat16", DType::kBFloat16}};
  return json.word(json.has("dtype") ? "dtype" : "torch_dtype", types, std::optional(DType::kFloat32));
}

/// A cap, or 0 for null, which is not the same as a missing key.
double read_cap(const JsonObject& json, const char* key, double fallback) {
  if (!json.json().contains(key)) return fallback;
  return json.has(key) ? json.number(key, {1e-3, 1e6}) : 0;
}

KnownKeys gemma_keys(std::vector<std::string> read, std::vector<NeutralKey> neutral) {
  for (const char* key : {"attention_bias", "dtype", "final_logit_softcapping", "hidden_activation",
                          "layer_types", "query_pre_attn_scalar", "sliding_window", "torch_dtype"}) {
    read.emplace_back(key);
  }
  neutral.push_back({"use_bidirectional_attention", {false}});
  // hidden_act is an older name, which hidden_activation has replaced.
  return llama_like_keys({.read = std::move(read), .ignored = {"hidden_act"}, .neutral = std::move(neutral)});
}

/// Common to both; every n-th layer has full attention.
DecoderOnlyConfig read_gemma_config(const JsonObject& json, const DecoderOnlyFamily& family,
                                    int64_t max_length, int64_t pattern) {
  DecoderOnlyConfig c = read_llama_like(json, family,
                                        {.max_length = max_length,
                                         .key_value_heads = 4,
                                         .head_width = 256,
                                         .tied_output = true,
                                         .activation = Activation::kGeluTanh,
                                         .activation_key = "hidden_activation"});
  c.attention_bias = json.boolean("attention_bias", false);
  c.feed_forward_bias = false;
  c.weights_type = read_weights_type(json);
  c.embedding_scale = gemma_embedding_scale(c.width, c.weights_type);
  c.score_scale = 1 / std::sqrt(json.number("query_pre_attn_scalar", {1, 1 << 20}, 256));
  c.sliding = read_sliding_layers(json, c.layers, [&](int layer) { return (layer + 1) % pattern != 0; });
  if (c.sliding.empty()) return c;
  c.window = read_window(json);
  if (c.window == 0) json.reject("sliding_window", "the number of positions that sliding layers see");
  return c;
}

DecoderOnlyConfig read_gemma2_config(const JsonObject& json) {
  static const KnownKeys keys = gemma_keys({"attn_logit_softcapping"}, {});
  require_known_keys(json, keys);
  DecoderOnlyConfig c = read_gemma_config(json, gemma2_family(), 8192, 2);
  c.rotary = c.sliding_rotary = read_rotary_positions(json, rotary_defaults(c));
  c.score_cap = read_cap(json, "attn_logit_softcapping", 50);
  c.logit_cap = read_cap(json, "final_logit_softcapping", 30);
  return c;
}

/// Versions of transformers before 5 have rope_theta and rope_scaling for layers that see everything, and
/// rope_local_base_freq for sliding ones.
void read_gemma3_positions(const JsonObject& json, DecoderOnlyConfig& c) {
  RotaryDefaults defaults = rotary_defaults(c), local = defaults;
  defaults.base = json.number("rope_theta", {1, 1e12}, 1e6);
  local.base = json.number("rope_local_base_freq", {1, 1e12}, 10000);
  c.rotary = read_rotary(json, "rope_scaling", defaults);
  c.sliding_rotary = {local.base};
  if (!json.has("rope_parameters")) return;
  const JsonObject parameters = json.object("rope_parameters");
  static const KnownKeys kinds{.read = {"full_attention", "sliding_attention"}, .ignored = {}, .neutral = {}};
  require_known_keys(parameters, kinds);
  const Rotary full = read_rotary(parameters, "full_attention", defaults),
               sliding = read_rotary(parameters, "sliding_attention", local);
  const bool older = json.has("rope_theta") || json.has("rope_scaling");
  if ((older && !(full == c.rotary)) ||
      (json.has("rope_local_base_freq") && !(sliding == c.sliding_rotary))) {
    json.reject("rope_parameters", "the same values as in rope_theta, rope_scaling and rope_local_base_freq");
  }
  c.rotary = full;
  c.sliding_rotary = sliding;
}

DecoderOnlyConfig read_gemma3_config(const JsonObject& json) {
  // transformers reads attn_logit_softcapping and does not use it.
  static const KnownKeys keys =
      gemma_keys({"rope_local_base_freq", "sliding_window_pattern"}, {{"attn_logit_softcapping", {}}});
  require_known_keys(json, keys);
  const int64_t pattern = json.integer("sliding_window_pattern", {1, 1 << 20}, 6);
  DecoderOnlyConfig c = read_gemma_config(json, gemma3_family(), 131072, pattern);
  read_gemma3_positions(json, c);
  c.logit_cap = read_cap(json, "final_logit_softcapping", 0);
  return c;
}

DecoderOnlyConfig gemma_config(const ModelSettings& settings, const DecoderOnlyFamily& family, int pattern) {
  DecoderOnlyConfig c = llama_like_config(settings, family);
  c.embedding_scale = gemma_embedding_scale(c.width, DType::kFloat32);
  c.score_scale = 1 / std::sqrt(static_cast<double>(c.width / c.heads));
  for (int n = 0; n < c.layers; ++n) c.sliding.push_back((n + 1) % pattern != 0);
  c.window = (settings.max_length + 1) / 2;
  return c;
}

ModelPreset gemma_preset(PresetSize size) {
  ModelPreset preset = llama_like_architecture("", "", "").preset(size);
  preset.settings.activation = Activation::kGeluTanh;
  return preset;
}

}  // namespace

double gemma_embedding_scale(int64_t width, DType weights_type) {
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(width)));
  return Tensor::from(std::vector<float>{scale}, {1}).to(weights_type).to_vector<double>()[0];
}

Architecture gemma2_architecture() {
  Architecture row = llama_like_architecture(
      "gemma2", "with soft caps, and a window in every other layer (Gemma team, 2024)", "gemma2");
  row.preset = gemma_preset;
  row.make = [](const ModelSettings& settings) -> std::unique_ptr<Model> {
    DecoderOnlyConfig c = gemma_config(settings, gemma2_family(), 2);
    c.score_cap = 50;
    c.logit_cap = 30;
    return std::make_unique<DecoderOnly>(c);
  };
  row.read = [](const JsonObject& config) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(read_gemma2_config(config));
  };
  return row;
}

Architecture gemma3_architecture() {
  Architecture row = llama_like_architecture(
      "gemma3", "with norms of queries and keys, and a window in five of six layers (Gemma team, 2025)",
      "gemma3_text");
  row.preset = gemma_preset;
  row.make = [](const ModelSettings& settings) -> std::unique_ptr<Model> {
    DecoderOnlyConfig c = gemma_config(settings, gemma3_family(), 6);
    c.rotary.base = 1e6;
    return std::make_unique<DecoderOnly>(c);
  };
  row.read = [](const JsonObject& config) -> std::unique_ptr<Model> {
    return std::make_unique<DecoderOnly>(read_gemma3_config(config));
  };
  return row;
}

}  // namespace heed::models
