// Gemma 2 (Gemma team, 2024) and the text models of Gemma 3 (2025) in Hugging Face's layout: model_types
// gemma2 and gemma3_text.
//
//   both      RMS norms with 1 + weight, before and after each sub-layer; a GELU gate; embeddings times
//             sqrt(D); scores times query_pre_attn_scalar^-1/2; some layers with a sliding window
//   Gemma 2   soft caps of scores and logits; every other layer slides, the first one does
//   Gemma 3   norms of queries and keys; another rotary base in sliding layers; five of six layers slide
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/directory/model_settings.h"
#include "models/families/llama_like_config.h"

namespace heed::models {
namespace {

const Words<DType>& weights_types() {
  static const Words<DType> types{
      {"float32", DType::kFloat32}, {"float16", DType::kFloat16}, {"bfloat16", DType::kBFloat16}};
  return types;
}

/// The type of the weights, to which the scale of embeddings is rounded.
void describe_weights_type(ConfigFields& fields, DecoderOnlyConfig& c) {
  const auto read = [&](const JsonObject& json) {
    c.weights_type = json.word(json.has("dtype") ? "dtype" : "torch_dtype", weights_types(),
                               std::optional(DType::kFloat32));
    c.embedding_scale = gemma_embedding_scale(c.width, c.weights_type);
  };
  fields.custom({"dtype", "torch_dtype"}, read, [&](nlohmann::ordered_json& json) {
    if (c.weights_type != DType::kFloat32) json["dtype"] = name_of(c.weights_type);
  });
}

/// A soft cap, or 0 for null, which is not the same as a missing key.
void describe_cap(ConfigFields& fields, const std::string& key, double& cap, double fallback) {
  const auto read = [&, fallback](const JsonObject& json) {
    cap = is_null(json, key) ? 0 : fallback;
    if (json.has(key)) cap = json.number(key, {1e-3, 1e6});
  };
  fields.custom({key}, read, [&](nlohmann::ordered_json& json) {
    json[key] = cap > 0 ? nlohmann::ordered_json(cap) : nlohmann::ordered_json();
  });
}

/// Windows; by default, every n-th layer sees everything, with n = pattern.
void describe_sliding(ConfigFields& fields, DecoderOnlyConfig& c, int64_t pattern) {
  const auto read = [&, pattern](const JsonObject& json) {
    c.sliding = read_sliding_layers(json, c.layers, [&](int layer) { return (layer + 1) % pattern != 0; });
    if (c.sliding.empty()) return;
    c.window = read_window(json);
    if (c.window == 0) json.reject("sliding_window", "the number of positions that sliding layers see");
  };
  fields.custom({"layer_types", "sliding_window"}, read, [&](nlohmann::ordered_json& json) {
    write_window(c, json);
    json["layer_types"] = layer_types_json(c);
  });
}

/// Common to both, without windows and positions.
void describe_gemma(ConfigFields& fields, DecoderOnlyConfig& c, int64_t max_length) {
  describe_llama_like(fields, c,
                      {.max_length = max_length,
                       .ids = {.start = 2, .end = 1, .padding = 0},
                       .key_value_heads = 4,
                       .head_width = 256,
                       .tied_output = true,
                       .activation = Activation::kGeluTanh,
                       .activation_key = "hidden_activation",
                       .activation_name = "gelu_pytorch_tanh"});
  fields.boolean("attention_bias", c.attention_bias, false);
  describe_weights_type(fields, c);
  const char* key = "query_pre_attn_scalar";
  fields.custom(
      {key},
      [&](const JsonObject& json) {
        c.score_scale = 1 / std::sqrt(json.number(key, {1, 1 << 20}, 256));
      },
      [&](nlohmann::ordered_json& json) { json[key] = std::lround(1 / (c.score_scale * c.score_scale)); });
  fields.ignore({"hidden_act"});  // an older name of hidden_activation
  fields.neutral("use_bidirectional_attention", {false});
}

void describe_gemma2(ConfigFields& fields, DecoderOnlyConfig& c) {
  describe_gemma(fields, c, 8192);
  describe_sliding(fields, c, 2);
  describe_cap(fields, "attn_logit_softcapping", c.score_cap, 50);
  describe_cap(fields, "final_logit_softcapping", c.logit_cap, 30);
  describe_rotary(fields, c);
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
  if (!agrees_with_older_keys(json, full, "rope_theta", c.rotary) ||
      (json.has("rope_local_base_freq") && sliding.base != local.base)) {
    json.reject("rope_parameters", "the same values as in rope_theta, rope_scaling and rope_local_base_freq");
  }
  c.rotary = full;
  c.sliding_rotary = sliding;
}

void write_gemma3_positions(const DecoderOnlyConfig& c, nlohmann::ordered_json& json) {
  write_rotary_positions(c.rotary, json);  // rope_theta and rope_scaling for versions before 5
  json["rope_local_base_freq"] = c.sliding_rotary.base;
  json["rope_parameters"] = {{"full_attention", rotary_json(c.rotary)},
                             {"sliding_attention", rotary_json(c.sliding_rotary)}};
}

void describe_gemma3(ConfigFields& fields, DecoderOnlyConfig& c) {
  describe_gemma(fields, c, 131072);
  int64_t pattern = 6;
  fields.custom(
      {"sliding_window_pattern"},
      [&](const JsonObject& json) {
        pattern = json.integer("sliding_window_pattern", {1, 1 << 20}, pattern);
      },
      [&](nlohmann::ordered_json& json) {
        if (const int written = sliding_pattern(c); written > 0) json["sliding_window_pattern"] = written;
      });
  describe_sliding(fields, c, pattern);
  describe_cap(fields, "final_logit_softcapping", c.logit_cap, 0);
  std::vector<std::string> keys = rotary_keys();
  keys.emplace_back("rope_local_base_freq");
  fields.custom(
      keys, [&](const JsonObject& json) { read_gemma3_positions(json, c); },
      [&](nlohmann::ordered_json& json) { write_gemma3_positions(c, json); });
  // transformers reads attn_logit_softcapping and does not use it.
  fields.neutral("attn_logit_softcapping", {});
}

DecoderOnlyFamily gemma_family(const std::string& model_type, const std::string& model_class,
                               void (*describe)(ConfigFields& fields, DecoderOnlyConfig& config)) {
  DecoderOnlyFamily gemma = llama_like_family(model_type, model_class, describe);
  gemma.norm_weight_offset = 1;
  gemma.layer_names.self_attention_norm = {"input_layernorm", "post_attention_layernorm"};
  gemma.layer_names.feed_forward_norm = {"pre_feedforward_layernorm", "post_feedforward_layernorm"};
  return gemma;
}

const DecoderOnlyFamily& gemma2_family() {
  static const DecoderOnlyFamily family = gemma_family("gemma2", "Gemma2ForCausalLM", describe_gemma2);
  return family;
}

const DecoderOnlyFamily& gemma3_family() {
  static const DecoderOnlyFamily family = [] {
    DecoderOnlyFamily gemma = gemma_family("gemma3_text", "Gemma3ForCausalLM", describe_gemma3);
    add_query_key_norms(gemma);
    return gemma;
  }();
  return family;
}

DecoderOnlyConfig gemma_config(const ModelSettings& settings, const DecoderOnlyFamily& family, int pattern) {
  DecoderOnlyConfig c = llama_like_config(settings, family);
  c.embedding_scale = gemma_embedding_scale(c.width, DType::kFloat32);
  c.score_scale = 1 / std::sqrt(static_cast<double>(c.width / c.heads));
  for (int n = 0; n < c.layers; ++n) c.sliding.push_back((n + 1) % pattern != 0);
  c.window = (settings.max_length + 1) / 2;
  return c;
}

DecoderOnlyConfig make_gemma2_config(const ModelSettings& settings) {
  DecoderOnlyConfig c = gemma_config(settings, gemma2_family(), 2);
  c.score_cap = 50;
  c.logit_cap = 30;
  return c;
}

DecoderOnlyConfig make_gemma3_config(const ModelSettings& settings) {
  DecoderOnlyConfig c = gemma_config(settings, gemma3_family(), 6);
  c.rotary.base = 1e6;
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
  return with_decoder_only<gemma2_family, make_gemma2_config>(std::move(row));
}

Architecture gemma3_architecture() {
  Architecture row = llama_like_architecture(
      "gemma3", "with norms of queries and keys, and a window in five of six layers (Gemma team, 2025)",
      "gemma3_text");
  row.preset = gemma_preset;
  return with_decoder_only<gemma3_family, make_gemma3_config>(std::move(row));
}

}  // namespace heed::models
