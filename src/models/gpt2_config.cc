// GPT-2 (Radford et al., 2019) in Hugging Face's layout: model_type gpt2.
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/decoder_only_config.h"
#include "models/known_keys.h"
#include "models/model_settings.h"

namespace heed::models {
namespace {

nlohmann::ordered_json gpt2_config_json(const DecoderOnlyConfig& c) {
  nlohmann::ordered_json json;
  json["model_type"] = "gpt2";
  json["architectures"] = {"GPT2LMHeadModel"};
  json["vocab_size"] = c.vocabulary;
  json["n_embd"] = c.width;
  json["n_layer"] = c.layers;
  json["n_head"] = c.heads;
  json["n_inner"] = c.inner_width;
  json["n_positions"] = json["n_ctx"] = c.max_length;
  json["activation_function"] = name_in(activation_names(), c.activation);
  json["layer_norm_epsilon"] = c.norm_epsilon;
  json["embd_pdrop"] = c.embedding_dropout;
  json["resid_pdrop"] = c.dropout;
  json["attn_pdrop"] = c.attention_dropout;
  json["initializer_range"] = c.deviation;
  json["scale_attn_weights"] = c.scaled_scores;
  json["scale_attn_by_inverse_layer_idx"] = c.scaled_by_layer;
  json["tie_word_embeddings"] = c.tied_output;
  write_special_ids(c, json);
  return json;
}

const KnownKeys& gpt2_keys() {
  static const KnownKeys keys = with_common_keys(
      {.read = {"activation_function", "attn_pdrop", "bos_token_id", "embd_pdrop", "eos_token_id",
                "initializer_range", "layer_norm_epsilon", "n_embd", "n_head", "n_inner", "n_layer",
                "n_positions", "pad_token_id", "resid_pdrop", "scale_attn_by_inverse_layer_idx",
                "scale_attn_weights", "tie_word_embeddings", "vocab_size"},
       // Alias of n_positions; a second head; float16 details.
       .ignored = {"n_ctx", "n_special", "predict_special_tokens", "reorder_and_upcast_attn",
                   "summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type",
                   "summary_use_proj"},
       .neutral = {{"is_decoder", {false, true}}}});
  return keys;
}

DecoderOnlyConfig read_gpt2_config(const JsonObject& json) {
  require_known_keys(json, gpt2_keys());
  DecoderOnlyConfig c;
  c.family = &gpt2_family();
  c.vocabulary = json.integer("vocab_size", {1, 1 << 26});
  c.width = json.integer("n_embd", {1, 1 << 16});
  c.layers = static_cast<int>(json.integer("n_layer", {1, 256}));
  c.heads = static_cast<int>(json.integer("n_head", {1, 1024}));
  c.inner_width = json.integer("n_inner", {1, 1 << 20}, 4 * c.width);
  c.max_length = json.integer("n_positions", {1, 1 << 20}, 1024);
  c.activation = json.word("activation_function", activation_names(), std::optional(Activation::kGeluTanh));
  c.norm_epsilon = json.number("layer_norm_epsilon", {0, 1}, 1e-5);
  const NumberRange probability{0, 0.999};
  c.embedding_dropout = json.number("embd_pdrop", probability, 0.1);
  c.dropout = json.number("resid_pdrop", probability, 0.1);
  c.attention_dropout = json.number("attn_pdrop", probability, 0.1);
  c.deviation = json.number("initializer_range", {0, 100}, 0.02);
  c.scaled_scores = json.boolean("scale_attn_weights", true);
  c.scaled_by_layer = json.boolean("scale_attn_by_inverse_layer_idx", false);
  c.tied_output = json.boolean("tie_word_embeddings", true);
  c.start_id = read_special_id(json, "bos_token_id", c.vocabulary);
  read_end_ids(json, c);
  c.padding_id = read_special_id(json, "pad_token_id", c.vocabulary);
  if (c.width % c.heads != 0) {
    json.reject("n_head", fmt::format("a number that divides n_embd ({})", c.width));
  }
  return c;
}

}  // namespace

const DecoderOnlyFamily& gpt2_family() {
  static const DecoderOnlyFamily family{
      .model_type = "gpt2",
      .embedding = "transformer.wte",
      .positions = "transformer.wpe",
      .layer = "transformer.h.",
      .layer_names = {.self_attention = {.output = "attn.c_proj", .joined = "attn.c_attn"},
                      .self_attention_norm = {"ln_1"},
                      .first = "mlp.c_fc",
                      .second = "mlp.c_proj",
                      .feed_forward_norm = {"ln_2"}},
      .final_norm = "transformer.ln_f",
      .output = "lm_head",
      .optional_prefix = "transformer.",
      .transposed_layers = true,
      .mask = "attn.bias",
      .frequencies = "",
      .left_out = {"attn.masked_bias"},  // the score of masked keys
      .config_json = gpt2_config_json};
  return family;
}

Architecture gpt2_architecture() {
  return {.name = "gpt2",
          .description = "decoder-only language model (Radford et al., 2019)",
          .task = Task::kLanguageModel,
          .model_types = {"gpt2"},
          .settings = {"width", "layers", "heads", "feed_forward_width", "activation", "max_length",
                       "dropout", "attention_dropout"},
          .dropouts = {{"dropout", &ModelSettings::dropout, {"resid_pdrop", "embd_pdrop"}},
                       {"attention_dropout", &ModelSettings::attention_dropout, {"attn_pdrop"}}},
          .preset = decoder_only_preset,
          .make = [](const ModelSettings& settings) -> std::unique_ptr<Model> {
            return std::make_unique<DecoderOnly>(decoder_only_config(settings, gpt2_family()));
          },
          .read = [](const JsonObject& config) -> std::unique_ptr<Model> {
            return std::make_unique<DecoderOnly>(read_gpt2_config(config));
          }};
}

}  // namespace heed::models
