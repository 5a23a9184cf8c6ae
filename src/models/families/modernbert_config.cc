// ModernBERT (Warner et al., "Smarter, better, faster, longer: a modern bidirectional encoder", 2024) in
// Hugging Face's layout: model_type modernbert.
//
//   pre-norm without biases, and without a norm before the first layer's attention; a final norm
//   rotary positions; attention to `local_attention` positions in two of three layers, with another base
//   queries, keys and values in one matrix; a GELU gate in one matrix with the first layer
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/config/encoder_only_config.h"
#include "models/config/sliding_layers.h"
#include "models/directory/model_settings.h"

namespace heed::models {
namespace {

constexpr int kUsualPattern = 3;  // every third layer sees everything

const BertLikeKeys& modernbert_names() {
  static const BertLikeKeys names{.activation = "hidden_activation",
                                  .dropout = "embedding_dropout",
                                  .attention_dropout = "attention_dropout",
                                  .classifier_dropout = "classifier_dropout",
                                  .norm_epsilon = "norm_eps"};
  return names;
}

/// The n for which every n-th layer sees everything, beginning with the first, for versions of transformers
/// that do not read layer_types; 0: none.
int sliding_pattern(const EncoderOnlyConfig& c) {
  for (int pattern = 1; pattern <= c.layers; ++pattern) {
    int layer = 0;
    while (layer < c.layers && c.slides(layer) == (layer % pattern != 0)) ++layer;
    if (layer == c.layers) return pattern;
  }
  return 0;
}

/// transformers 5 has rope_parameters by kind of layer, versions before it global_rope_theta,
/// local_rope_theta, where null means the same base, and rope_scaling for both.
void read_positions(const JsonObject& json, EncoderOnlyConfig& c) {
  RotaryDefaults full{.max_length = static_cast<double>(c.max_length)}, sliding = full;
  full.base = json.number("global_rope_theta", {1, 1e12}, 160000);
  sliding.base =
      json.number("local_rope_theta", {1, 1e12}, is_null(json, "local_rope_theta") ? full.base : 10000);
  c.rotary = read_rotary(json, "rope_scaling", full);
  c.sliding_rotary = read_rotary(json, "rope_scaling", sliding);
  if (!json.has("rope_parameters")) return;
  const JsonObject parameters = json.object("rope_parameters");
  static const KnownKeys kinds{.read = {"full_attention", "sliding_attention"}, .ignored = {}, .neutral = {}};
  require_known_keys(parameters, kinds);
  const Rotary all = read_rotary(parameters, "full_attention", full),
               some = read_rotary(parameters, "sliding_attention", sliding);
  if (!agrees_with_older_keys(json, all, "global_rope_theta", c.rotary) ||
      !agrees_with_older_keys(json, some, "local_rope_theta", c.sliding_rotary)) {
    json.reject("rope_parameters",
                "the same values as in global_rope_theta, local_rope_theta and rope_scaling");
  }
  c.rotary = all;
  c.sliding_rotary = some;
}

void write_positions(const EncoderOnlyConfig& c, nlohmann::ordered_json& json) {
  json["global_rope_theta"] = c.rotary.base;
  json["local_rope_theta"] = c.sliding_rotary.base;
  json["rope_parameters"] = {{"full_attention", rotary_json(c.rotary)},
                             {"sliding_attention", rotary_json(c.sliding_rotary)}};
}

void read_sliding(const JsonObject& json, EncoderOnlyConfig& c) {
  const int64_t pattern = json.integer("global_attn_every_n_layers", {1, 1 << 20}, kUsualPattern);
  c.sliding = read_sliding_layers(json, c.layers, [&](int layer) { return layer % pattern != 0; });
  c.window = json.integer("local_attention", {1, 1 << 24}, 128) / 2;
}

void write_sliding(const EncoderOnlyConfig& c, nlohmann::ordered_json& json) {
  json["local_attention"] = 2 * c.window;
  if (const int pattern = sliding_pattern(c); pattern > 0) json["global_attn_every_n_layers"] = pattern;
  json["layer_types"] = layer_types_json(c.layers, [&](int layer) { return c.slides(layer); });
}

/// Dropouts are in other places than BERT's: of attention also on its output, of the feed-forward network
/// inside of it alone.
void place_dropouts(EncoderOnlyConfig& c) {
  c.attention_output_dropout = c.attention_dropout;
  c.feed_forward_output_dropout = 0;
}

void describe_modernbert(ConfigFields& fields, EncoderOnlyConfig& c) {
  describe_bert_like(fields, c, modernbert_names(),
                     {.norm_epsilon = 1e-5, .dropout = 0, .classifier_dropout = 0});
  describe_max_length(fields, c, -1, 8192);
  fields.number("mlp_dropout", c.activation_dropout, kProbabilities, 0);
  fields.boolean("attention_bias", c.attention_bias, false);
  fields.boolean("mlp_bias", c.feed_forward_bias, false);
  fields.boolean("norm_bias", c.norm_bias, false);
  fields.boolean("classifier_bias", c.head_bias, false);
  fields.boolean("decoder_bias", c.vocabulary_bias, true);
  fields.word("classifier_activation", c.classifier_activation, activation_names(), Activation::kGelu);
  fields.word("classifier_pooling", c.pooling,
              {{"cls", EncoderPooling::kFirst}, {"mean", EncoderPooling::kMean}}, EncoderPooling::kFirst);
  fields.derive([&](const JsonObject& json) {
    if ((c.width / c.heads) % 2 != 0) {
      json.reject("num_attention_heads",
                  fmt::format("an even width of heads for rotary positions, not {}", c.width / c.heads));
    }
    c.norm_first = true;
    c.vocabulary_activation = c.classifier_activation;
    place_dropouts(c);
  });
  fields.custom(
      {"global_attn_every_n_layers", "layer_types", "local_attention"},
      [&](const JsonObject& json) { read_sliding(json, c); },
      [&](nlohmann::ordered_json& json) { write_sliding(c, json); });
  fields.custom(
      {"global_rope_theta", "local_rope_theta", "rope_parameters", "rope_scaling"},
      [&](const JsonObject& json) { read_positions(json, c); },
      [&](nlohmann::ordered_json& json) { write_positions(c, json); });
  // layer_norm_eps and position_embedding_type were never used: norm_eps and rotary positions are. The others
  // are about training and about another implementation.
  fields.ignore({"deterministic_flash_attn", "initializer_cutoff_factor", "layer_norm_eps",
                 "position_embedding_type", "reference_compile", "repad_logits_with_grad",
                 "sparse_pred_ignore_index", "sparse_prediction"});
}

const EncoderOnlyFamily& modernbert_family() {
  static const EncoderOnlyFamily family{
      .model_type = "modernbert",
      .class_prefix = "ModernBert",
      .prefix = "model.",
      .words = "embeddings.tok_embeddings",
      .positions = "",
      .types = "",
      .embedding_norm = "embeddings.norm",
      .layer = "layers.",
      .layer_names = {.self_attention = {.output = "attn.Wo", .joined = "attn.Wqkv"},
                      .self_attention_norm = {"attn_norm"},
                      .first = "mlp.Wi",
                      .second = "mlp.Wo",
                      .gate_in_first = true,
                      .feed_forward_norm = {"mlp_norm"}},
      .first_attention_norm = "",
      .final_norm = "final_norm",
      .classifier = {.dense = "head.dense", .norm = "head.norm", .output = "classifier"},
      .vocabulary = {.dense = "head.dense",
                     .norm = "head.norm",
                     .weight = "decoder.weight",
                     .bias = "decoder.bias"},
      .describe = describe_modernbert};
  return family;
}

EncoderOnlyConfig make_modernbert_config(const ModelSettings& settings) {
  EncoderOnlyConfig c = encoder_config(settings, modernbert_family());
  c.norm_first = true;
  c.norm_epsilon = 1e-5;
  c.norm_bias = c.attention_bias = c.feed_forward_bias = c.head_bias = false;
  c.activation_dropout = settings.dropout;
  place_dropouts(c);
  c.classifier_activation = c.vocabulary_activation = settings.activation;
  c.pooling = EncoderPooling::kMean;
  for (int n = 0; n < c.layers; ++n) c.sliding.push_back(n % kUsualPattern != 0);
  c.window = (settings.max_length + 3) / 4;
  c.rotary.base = 160000;
  return c;
}

}  // namespace

Architecture modernbert_architecture() {
  return encoder_architecture_of<modernbert_family, make_modernbert_config>(
      {.name = "modernbert",
       .description =
           "pre-norm, rotary positions, gates, windows in two of three layers (Warner et al., 2024)",
       .model_type = "modernbert",
       .dropout_keys = {"embedding_dropout", "mlp_dropout", "classifier_dropout"},
       .attention_dropout_keys = {"attention_dropout"}});
}

}  // namespace heed::models
