// GPT-2 (Radford et al., 2019) in Hugging Face's layout: model_type gpt2.
#include <nlohmann/json.hpp>

#include "models/config/decoder_only_config.h"
#include "models/directory/model_settings.h"

namespace heed::models {
namespace {

void describe_gpt2(ConfigFields& fields, DecoderOnlyConfig& c) {
  describe_sizes(fields, c, {.width = "n_embd", .layers = "n_layer", .heads = "n_head"});
  fields.integer("n_inner", c.inner_width, kInnerWidths, 4 * c.width);
  fields.integer("n_positions", c.max_length, {1, 1 << 20}, 1024);
  fields.word("activation_function", c.activation, activation_names(), Activation::kGeluTanh);
  fields.number("layer_norm_epsilon", c.norm_epsilon, {0, 1}, 1e-5);
  fields.number("embd_pdrop", c.embedding_dropout, kProbabilities, 0.1);
  fields.number("resid_pdrop", c.dropout, kProbabilities, 0.1);
  fields.number("attn_pdrop", c.attention_dropout, kProbabilities, 0.1);
  fields.number("initializer_range", c.deviation, {0, 100}, 0.02);
  fields.boolean("scale_attn_weights", c.scaled_scores, true);
  fields.boolean("scale_attn_by_inverse_layer_idx", c.scaled_by_layer, false);
  fields.boolean("tie_word_embeddings", c.tied_output, true);
  describe_special_ids(fields, c, {.start = 50256, .end = 50256});
  require_whole_heads(fields, c, "n_embd", {"n_head"});
  // An alias of n_positions for old versions of transformers.
  fields.custom(
      {"n_ctx"}, [](const JsonObject&) {},
      [&](nlohmann::ordered_json& json) { json["n_ctx"] = c.max_length; });
  // A second head; float16 details.
  fields.ignore({"n_special", "predict_special_tokens", "reorder_and_upcast_attn", "summary_activation",
                 "summary_first_dropout", "summary_proj_to_labels", "summary_type", "summary_use_proj"});
  fields.neutral("is_decoder", {false, true});
}

DecoderOnlyConfig make_gpt2_config(const ModelSettings& settings) {
  return decoder_only_config(settings, gpt2_family());
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
      .model_class = "GPT2LMHeadModel",
      .describe = describe_gpt2};
  return family;
}

Architecture gpt2_architecture() {
  return with_decoder_only<gpt2_family, make_gpt2_config>(
      {.name = "gpt2",
       .description = "decoder-only language model (Radford et al., 2019)",
       .task = Task::kLanguageModel,
       .model_types = {"gpt2"},
       .settings = {"width", "layers", "heads", "feed_forward_width", "activation", "max_length", "dropout",
                    "attention_dropout"},
       .dropouts = {{"dropout", &ModelSettings::dropout, {"resid_pdrop", "embd_pdrop"}},
                    {"attention_dropout", &ModelSettings::attention_dropout, {"attn_pdrop"}}},
       .preset = decoder_only_preset});
}

}  // namespace heed::models
