#include "models/llama_like_config.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "models/known_keys.h"
#include "models/model_settings.h"

namespace heed::models {

KnownKeys llama_like_keys(KnownKeys more) {
  for (const char* key :
       {"attention_dropout", "bos_token_id", "eos_token_id", "head_dim", "hidden_size", "initializer_range",
        "intermediate_size", "max_position_embeddings", "num_attention_heads", "num_hidden_layers",
        "num_key_value_heads", "original_max_position_embeddings", "pad_token_id", "rms_norm_eps",
        "rope_parameters", "rope_scaling", "rope_theta", "tie_word_embeddings", "vocab_size"}) {
    more.read.emplace_back(key);
  }
  more.neutral.push_back({"is_decoder", {false, true}});
  more.neutral.push_back({"partial_rotary_factor", {1.0}});
  more.neutral.push_back({"rope_interleaved", {false}});
  return with_common_keys(std::move(more));
}

DecoderOnlyConfig read_llama_like(const JsonObject& json, const DecoderOnlyFamily& family,
                                  const LlamaLikeDefaults& defaults) {
  DecoderOnlyConfig c;
  c.family = &family;
  c.vocabulary = json.integer("vocab_size", {1, 1 << 26});
  c.width = json.integer("hidden_size", {1, 1 << 16});
  c.layers = static_cast<int>(json.integer("num_hidden_layers", {1, 256}));
  c.heads = static_cast<int>(json.integer("num_attention_heads", {1, 1024}));
  const int key_value_heads = defaults.key_value_heads > 0 ? defaults.key_value_heads : c.heads;
  c.key_value_heads = static_cast<int>(json.integer("num_key_value_heads", {1, 1024}, key_value_heads));
  c.inner_width = json.integer("intermediate_size", {1, 1 << 20});
  c.activation = json.word(defaults.activation_key, activation_names(), std::optional(defaults.activation));
  c.max_length = json.integer("max_position_embeddings", {1, 1 << 24}, defaults.max_length);
  c.norm_epsilon = json.number("rms_norm_eps", {0, 1}, 1e-6);
  c.attention_dropout = json.number("attention_dropout", {0, 0.999}, 0);
  c.deviation = json.number("initializer_range", {0, 100}, 0.02);
  c.tied_output = json.boolean("tie_word_embeddings", defaults.tied_output);
  c.start_id = read_special_id(json, "bos_token_id", c.vocabulary);
  read_end_ids(json, c);
  c.padding_id = read_special_id(json, "pad_token_id", c.vocabulary);
  const bool divided = !json.has("head_dim") && defaults.head_width == 0;
  if (divided && c.width % c.heads != 0) {
    json.reject("num_attention_heads", fmt::format("a number that divides hidden_size ({})", c.width));
  }
  const int64_t head_width = defaults.head_width > 0 ? defaults.head_width : c.width / c.heads;
  c.head_width = json.integer("head_dim", {2, 1 << 12}, head_width);
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

RotaryDefaults rotary_defaults(const DecoderOnlyConfig& config) {
  return {.max_length = static_cast<double>(config.max_length)};
}

nlohmann::ordered_json llama_like_json(const DecoderOnlyConfig& c, const char* model_class) {
  nlohmann::ordered_json json;
  json["model_type"] = c.family->model_type;
  json["architectures"] = {model_class};
  json["vocab_size"] = c.vocabulary;
  json["hidden_size"] = c.width;
  json["num_hidden_layers"] = c.layers;
  json["num_attention_heads"] = c.heads;
  json["num_key_value_heads"] = c.actual_key_value_heads();
  json["head_dim"] = c.actual_head_width();
  json["intermediate_size"] = c.inner_width;
  json["max_position_embeddings"] = c.max_length;
  json["rms_norm_eps"] = c.norm_epsilon;
  json["attention_dropout"] = c.attention_dropout;
  json["initializer_range"] = c.deviation;
  json["tie_word_embeddings"] = c.tied_output;
  write_special_ids(c, json);
  return json;
}

DecoderOnlyFamily llama_like_family(const std::string& model_type,
                                    nlohmann::ordered_json (*config_json)(const DecoderOnlyConfig& config)) {
  return {.model_type = model_type,
          .embedding = "model.embed_tokens",
          .positions = "",
          .layer = "model.layers.",
          .layer_names = {.self_attention = {.query = "self_attn.q_proj",
                                             .key = "self_attn.k_proj",
                                             .value = "self_attn.v_proj",
                                             .output = "self_attn.o_proj"},
                          .self_attention_norm = {"input_layernorm"},
                          .gate = "mlp.gate_proj",
                          .first = "mlp.up_proj",
                          .second = "mlp.down_proj",
                          .feed_forward_norm = {"post_attention_layernorm"}},
          .final_norm = "model.norm",
          .output = "lm_head",
          .norm = nn::NormKind::kRms,
          .optional_prefix = "",
          .transposed_layers = false,
          .mask = "",
          .frequencies = "self_attn.rotary_emb.inv_freq",
          .left_out = {},
          .config_json = config_json};
}

void add_query_key_norms(DecoderOnlyFamily& family) {
  family.layer_names.self_attention.query_norm = "self_attn.q_norm";
  family.layer_names.self_attention.key_norm = "self_attn.k_norm";
}

DecoderOnlyConfig llama_like_config(const ModelSettings& settings, const DecoderOnlyFamily& family) {
  DecoderOnlyConfig c = decoder_only_config(settings, family);
  c.key_value_heads = settings.key_value_heads;
  c.norm_epsilon = 1e-6;
  c.attention_bias = c.feed_forward_bias = false;
  return c;
}

namespace {

/// A gated feed-forward network has three matrices instead of two: two thirds of the width give the same
/// number of parameters.
ModelPreset llama_like_preset(PresetSize size) {
  ModelPreset preset = decoder_only_preset(size);
  preset.settings.activation = Activation::kSwish;
  preset.settings.inner_width = (preset.settings.inner_width * 2 / 3 + 31) / 32 * 32;
  return preset;
}

}  // namespace

Architecture llama_like_architecture(const std::string& name, const std::string& description,
                                     const std::string& model_type) {
  return {.name = name,
          .description = description,
          .task = Task::kLanguageModel,
          .model_types = {model_type},
          .settings = {"width", "layers", "heads", "key_value_heads", "feed_forward_width", "activation",
                       "max_length", "dropout", "attention_dropout"},
          .dropouts = {{"attention_dropout", &ModelSettings::attention_dropout, {"attention_dropout"}}},
          .preset = llama_like_preset};
}

int64_t read_window(const JsonObject& json) {
  if (json.json().contains("sliding_window") && !json.has("sliding_window")) return 0;
  return json.integer("sliding_window", {1, 1 << 30}, 4096);
}

nlohmann::ordered_json layer_types_json(const DecoderOnlyConfig& config) {
  return layer_types_json(config.layers, [&](int layer) { return config.slides(layer); });
}

}  // namespace heed::models
