#include "models/families/llama_like_config.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/directory/model_settings.h"

namespace heed::models {

void describe_llama_like(ConfigFields& fields, DecoderOnlyConfig& c, const LlamaLikeDefaults& defaults) {
  describe_sizes(fields, c, {});
  int key_value_heads = defaults.key_value_heads > 0 ? defaults.key_value_heads : c.heads;
  fields.derive([&](const JsonObject& json) {
    if (is_null(json, "num_key_value_heads")) key_value_heads = c.heads;
  });
  fields.integer("num_key_value_heads", c.key_value_heads, kHeadCounts, key_value_heads);
  const bool divided = defaults.head_width == 0;
  fields.integer("head_dim", c.head_width, {2, 1 << 12}, divided ? c.width / c.heads : defaults.head_width);
  fields.integer("intermediate_size", c.inner_width, kInnerWidths);
  fields.word(defaults.activation_key, c.activation, activation_names(), defaults.activation,
              defaults.activation_name);
  fields.integer("max_position_embeddings", c.max_length, {1, 1 << 24}, defaults.max_length);
  fields.number("rms_norm_eps", c.norm_epsilon, {0, 1}, 1e-6);
  fields.number("attention_dropout", c.attention_dropout, kProbabilities, 0);
  fields.number("initializer_range", c.deviation, {0, 100}, 0.02);
  fields.boolean("tie_word_embeddings", c.tied_output, defaults.tied_output);
  describe_special_ids(fields, c, defaults.ids);
  fields.neutral("is_decoder", {false, true});
  fields.neutral("partial_rotary_factor", {1.0});
  fields.neutral("rope_interleaved", {false});
  fields.derive([&](const JsonObject& json) {
    const bool given = json.has("head_dim");
    if (divided && !given && c.width % c.heads != 0) {
      json.reject("num_attention_heads", fmt::format("a number that divides hidden_size ({})", c.width));
    }
    if (c.head_width % 2 != 0) {
      json.reject(given ? "head_dim" : "num_attention_heads",
                  fmt::format("an even width of heads for rotary positions, not {}", c.head_width));
    }
    if (c.heads % c.key_value_heads != 0) {
      json.reject("num_key_value_heads",
                  fmt::format("a number that divides num_attention_heads ({})", c.heads));
    }
    c.attention_bias = c.feed_forward_bias = false;
  });
}

void describe_rotary(ConfigFields& fields, DecoderOnlyConfig& c) {
  const auto read = [&](const JsonObject& json) {
    c.rotary = c.sliding_rotary = read_rotary_positions(json, rotary_defaults(c));
  };
  fields.custom(rotary_keys(), read,
                [&](nlohmann::ordered_json& json) { write_rotary_positions(c.rotary, json); });
}

RotaryDefaults rotary_defaults(const DecoderOnlyConfig& config) {
  return {.max_length = static_cast<double>(config.max_length)};
}

DecoderOnlyFamily llama_like_family(const std::string& model_type, const std::string& model_class,
                                    void (*describe)(ConfigFields& fields, DecoderOnlyConfig& config)) {
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
          .model_class = model_class,
          .describe = describe};
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
  if (is_null(json, "sliding_window")) return 0;
  return json.integer("sliding_window", {1, 1 << 30}, 4096);
}

void write_window(const DecoderOnlyConfig& config, nlohmann::ordered_json& json) {
  json["sliding_window"] = nullptr;
  if (!config.sliding.empty()) json["sliding_window"] = config.window;
}

nlohmann::ordered_json layer_types_json(const DecoderOnlyConfig& config) {
  return layer_types_json(config.layers, [&](int layer) { return config.slides(layer); });
}

}  // namespace heed::models
