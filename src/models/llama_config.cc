// Llama (Touvron et al., 2023) in Hugging Face's layout: model_type llama.
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/decoder_only_config.h"
#include "models/known_keys.h"
#include "models/model_settings.h"

namespace heed::models {
namespace {

nlohmann::ordered_json llama_config_json(const DecoderOnlyConfig& c) {
  nlohmann::ordered_json json;
  json["model_type"] = "llama";
  json["architectures"] = {"LlamaForCausalLM"};
  json["vocab_size"] = c.vocabulary;
  json["hidden_size"] = c.width;
  json["num_hidden_layers"] = c.layers;
  json["num_attention_heads"] = c.heads;
  json["num_key_value_heads"] = c.key_value_heads > 0 ? c.key_value_heads : c.heads;
  json["head_dim"] = c.head_width > 0 ? c.head_width : c.width / c.heads;
  json["intermediate_size"] = c.inner_width;
  json["hidden_act"] =
      c.activation == Activation::kSwish ? "silu" : name_in(activation_names(), c.activation);
  json["max_position_embeddings"] = c.max_length;
  json["rms_norm_eps"] = c.norm_epsilon;
  // For versions of transformers before 5.
  json["rope_theta"] = c.rotary_base;
  json["rope_scaling"] = nullptr;
  json["rope_parameters"] = {{"rope_theta", c.rotary_base}, {"rope_type", "default"}};
  if (c.rotary_stretch != 1) {
    json["rope_scaling"] = {{"rope_type", "linear"}, {"factor", c.rotary_stretch}};
    json["rope_parameters"]["rope_type"] = "linear";
    json["rope_parameters"]["factor"] = c.rotary_stretch;
  }
  json["attention_bias"] = c.attention_bias;
  json["mlp_bias"] = c.feed_forward_bias;
  json["attention_dropout"] = c.attention_dropout;
  json["initializer_range"] = c.deviation;
  json["tie_word_embeddings"] = c.tied_output;
  write_special_ids(c, json);
  return json;
}

const KnownKeys& llama_keys() {
  static const KnownKeys keys =
      with_common_keys({.read = {"attention_bias",    "attention_dropout",
                                 "bos_token_id",      "eos_token_id",
                                 "head_dim",          "hidden_act",
                                 "hidden_size",       "initializer_range",
                                 "intermediate_size", "max_position_embeddings",
                                 "mlp_bias",          "num_attention_heads",
                                 "num_hidden_layers", "num_key_value_heads",
                                 "pad_token_id",      "rms_norm_eps",
                                 "rope_parameters",   "rope_scaling",
                                 "rope_theta",        "tie_word_embeddings",
                                 "vocab_size"},
                        // pretraining_tp only slices matrices, without changing products.
                        .ignored = {"is_llama_config", "original_max_position_embeddings", "pretraining_tp"},
                        .neutral = {{"is_decoder", {false, true}},
                                    {"partial_rotary_factor", {1.0}},
                                    {"rope_interleaved", {false}},
                                    {"sliding_window", {}}}});
  return keys;
}

/// Rotary settings.
struct Rotary {
  double base = 10000, stretch = 1;
  bool operator==(const Rotary&) const = default;
};

/// Parses rope_parameters or rope_scaling; `base` is the default.
Rotary read_rotary(const JsonObject& json, const char* key, double base) {
  if (!json.has(key)) return {base};
  static const KnownKeys known{
      .read = {"factor", "rope_theta", "rope_type", "type"},
      .ignored = {"high_freq_factor", "low_freq_factor", "original_max_position_embeddings"},
      .neutral = {{"attention_factor", {1.0}}, {"partial_rotary_factor", {1.0}}}};
  const JsonObject rotary = json.object(key);
  Rotary result{rotary.number("rope_theta", {1, 1e12}, base)};
  const std::string type = rotary.string("rope_type", rotary.string("type", "default"));
  if (type == "linear") {
    result.stretch = rotary.number("factor", {1e-3, 1e6});
  } else if (type != "default") {
    rotary.reject(rotary.has("rope_type") ? "rope_type" : "type", "\"default\" or \"linear\"");
  }
  require_known_keys(rotary, known);
  return result;
}

/// rope_parameters of transformers 5, or rope_theta and rope_scaling. Files may contain both.
void read_positions(const JsonObject& json, DecoderOnlyConfig& c) {
  const double base = json.number("rope_theta", {1, 1e12}, 10000);
  const Rotary parameters = read_rotary(json, "rope_parameters", base),
               scaling = read_rotary(json, "rope_scaling", base);
  if (json.has("rope_parameters") && (json.has("rope_scaling") || json.has("rope_theta")) &&
      !(parameters == scaling)) {
    json.reject("rope_parameters", "the same values as in rope_theta and rope_scaling");
  }
  const Rotary& rotary = json.has("rope_parameters") ? parameters : scaling;
  c.rotary_base = rotary.base;
  c.rotary_stretch = rotary.stretch;
}

DecoderOnlyConfig read_llama_config(const JsonObject& json) {
  require_known_keys(json, llama_keys());
  DecoderOnlyConfig c;
  c.family = &llama_family();
  c.vocabulary = json.integer("vocab_size", {1, 1 << 26});
  c.width = json.integer("hidden_size", {1, 1 << 16});
  c.layers = static_cast<int>(json.integer("num_hidden_layers", {1, 256}));
  c.heads = static_cast<int>(json.integer("num_attention_heads", {1, 1024}));
  c.key_value_heads = static_cast<int>(json.integer("num_key_value_heads", {1, 1024}, c.heads));
  c.inner_width = json.integer("intermediate_size", {1, 1 << 20});
  c.activation = json.word("hidden_act", activation_names(), std::optional(Activation::kSwish));
  c.max_length = json.integer("max_position_embeddings", {1, 1 << 24}, 2048);
  c.norm_epsilon = json.number("rms_norm_eps", {0, 1}, 1e-6);
  c.attention_bias = json.boolean("attention_bias", false);
  c.feed_forward_bias = json.boolean("mlp_bias", false);
  c.attention_dropout = json.number("attention_dropout", {0, 0.999}, 0);
  c.deviation = json.number("initializer_range", {0, 100}, 0.02);
  c.tied_output = json.boolean("tie_word_embeddings", false);
  c.start_id = read_special_id(json, "bos_token_id", c.vocabulary);
  c.end_id = read_special_id(json, "eos_token_id", c.vocabulary);
  c.padding_id = read_special_id(json, "pad_token_id", c.vocabulary);
  read_positions(json, c);
  if (!json.has("head_dim") && c.width % c.heads != 0) {
    json.reject("num_attention_heads", fmt::format("a number that divides hidden_size ({})", c.width));
  }
  c.head_width = json.integer("head_dim", {2, 1 << 12}, c.width / c.heads);
  if (c.head_width % 2 != 0) {
    json.reject(json.has("head_dim") ? "head_dim" : "num_attention_heads",
                fmt::format("an even width of heads for rotary positions, not {}", c.head_width));
  }
  if (c.heads % c.key_value_heads != 0) {
    json.reject("num_key_value_heads",
                fmt::format("a number that divides num_attention_heads ({})", c.heads));
  }
  return c;
}

std::unique_ptr<Model> make_llama(const ModelSettings& settings) {
  DecoderOnlyConfig c = decoder_only_config(settings, llama_family());
  c.key_value_heads = settings.key_value_heads;
  c.norm_epsilon = 1e-6;
  c.attention_bias = c.feed_forward_bias = false;
  // Llama has no dropout except on attention weights.
  return std::make_unique<DecoderOnly>(c);
}

/// A gated feed-forward network has three matrices instead of two: two thirds of the width give the same
/// number of parameters.
ModelPreset llama_preset(PresetSize size) {
  ModelPreset preset = decoder_only_preset(size);
  preset.settings.activation = Activation::kSwish;
  preset.settings.inner_width = (preset.settings.inner_width * 2 / 3 + 31) / 32 * 32;
  return preset;
}

}  // namespace

const DecoderOnlyFamily& llama_family() {
  static const DecoderOnlyFamily family{.model_type = "llama",
                                        .embedding = "model.embed_tokens",
                                        .positions = "",
                                        .layer = "model.layers.",
                                        .layer_names = {.self_attention = {.query = "self_attn.q_proj",
                                                                           .key = "self_attn.k_proj",
                                                                           .value = "self_attn.v_proj",
                                                                           .output = "self_attn.o_proj"},
                                                        .self_attention_norm = "input_layernorm",
                                                        .gate = "mlp.gate_proj",
                                                        .first = "mlp.up_proj",
                                                        .second = "mlp.down_proj",
                                                        .feed_forward_norm = "post_attention_layernorm"},
                                        .final_norm = "model.norm",
                                        .output = "lm_head",
                                        .optional_prefix = "",
                                        .transposed_layers = false,
                                        .mask = "",
                                        .frequencies = "self_attn.rotary_emb.inv_freq",
                                        .left_out = {},
                                        .config_json = llama_config_json};
  return family;
}

Architecture llama_architecture() {
  return {.name = "llama",
          .description = "decoder-only with rotary positions, RMS norm and gates (Touvron et al., 2023)",
          .task = Task::kLanguageModel,
          .model_types = {"llama"},
          .settings = {"width", "layers", "heads", "key_value_heads", "feed_forward_width", "activation",
                       "max_length", "dropout", "attention_dropout"},
          .dropouts = {{"attention_dropout", &ModelSettings::attention_dropout, {"attention_dropout"}}},
          .preset = llama_preset,
          .make = make_llama,
          .read = [](const JsonObject& config) -> std::unique_ptr<Model> {
            return std::make_unique<DecoderOnly>(read_llama_config(config));
          }};
}

}  // namespace heed::models
