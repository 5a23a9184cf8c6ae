// T5 (Raffel et al., 2020) in Hugging Face's layout: model_type t5. Also T5 1.1, Flan-T5 and MADLAD-400.
//
//   all         RMS norm before each sub-layer, no biases, scores not scaled by 1 / sqrt(d_k), a width of
//               heads of its own; self-attention adds a bias by buckets of distances, which the layers of a
//               stack share
//   T5 1.0      ReLU; the output matrix is the embedding, its input times D^-1/2
//   T5 1.1 on   a GELU gate; an output matrix of its own, its input not scaled
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/weight_files.h"
#include "models/directory/model_settings.h"
#include "models/families/transformer_families.h"

namespace heed::models {
namespace {

nn::NormNames norm_of(const std::string& sub_layer) {
  return {.norm = sub_layer + "layer_norm"};
}

nn::MultiHeadAttention::Names attention_names(const std::string& prefix) {
  return {.query = prefix + "q", .key = prefix + "k", .value = prefix + "v", .output = prefix + "o"};
}

StackNames t5_stack(const std::string& stack, bool decoder, bool gated) {
  const std::string last = decoder ? "layer.2." : "layer.1.", dense = last + "DenseReluDense.";
  nn::LayerNames layer{.self_attention = attention_names("layer.0.SelfAttention."),
                       .self_attention_norm = norm_of("layer.0."),
                       .cross_attention = attention_names("layer.1.EncDecAttention."),
                       .cross_attention_norm = norm_of("layer.1."),
                       .gate = gated ? dense + "wi_0" : "",
                       .first = dense + (gated ? "wi_1" : "wi"),
                       .second = dense + "wo",
                       .feed_forward_norm = norm_of(last)};
  return {.embedding = stack + "embed_tokens.weight",
          .positions = stack + "block.0.layer.0.SelfAttention.",
          .layer = stack + "block.",
          .layer_names = layer,
          .final_norm = stack + "final_layer_norm"};
}

const TransformerFamily& t5_family(bool gated) {
  static const auto make = [](bool with_gate) {
    return TransformerFamily{
        .model_type = "t5",
        .encoder = t5_stack("encoder.", false, with_gate),
        .decoder = t5_stack("decoder.", true, with_gate),
        .shared_embedding = "shared.weight",
        // Of old files, not used by transformers either.
        .left_out = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"}};
  };
  static const TransformerFamily plain = make(false), with_gate = make(true);
  return gated ? with_gate : plain;
}

/// feed_forward_proj: "relu", "gated-gelu" and so on. "gated-gelu" is the approximation with tanh.
struct Projection {
  bool gated = false;
  Activation activation = Activation::kRelu;
};

/// Reads it into family and activation.
void read_projection(const JsonObject& json, TransformerConfig& c) {
  Words<Projection> words;
  for (const auto& [name, activation] : activation_names()) {
    words.push_back({name, {false, activation}});
    const bool is_gelu = activation == Activation::kGelu;
    words.push_back({"gated-" + name, {true, is_gelu ? Activation::kGeluTanh : activation}});
  }
  const Projection projection = json.word("feed_forward_proj", words, std::optional(Projection()));
  if (json.boolean("is_gated_act", projection.gated) != projection.gated) {
    json.reject("is_gated_act", "the same as feed_forward_proj");
  }
  if (json.word("dense_act_fn", activation_names(), std::optional(projection.activation)) !=
      projection.activation) {
    json.reject("dense_act_fn", "the same as feed_forward_proj");
  }
  c.family = &t5_family(projection.gated);
  c.activation = projection.activation;
}

void write_projection(const TransformerConfig& c, nlohmann::ordered_json& json) {
  const bool gated = c.family == &t5_family(true), gelu = gated && c.activation == Activation::kGeluTanh;
  const std::string activation = gelu ? "gelu" : name_in(activation_names(), c.activation);
  json["feed_forward_proj"] = (gated ? "gated-" : "") + activation;
}

/// Files that transformers 5 saved say that the output matrix is tied, whether it is or not: the weights
/// tell.
JsonObject untie_stored_output(const JsonObject& config, const WeightsOf& weights) {
  const bool tied = config.boolean("tie_word_embeddings", true);
  if (!tied || config.boolean("scale_decoder_outputs", tied) || !weights().has("lm_head.weight"))
    return config;
  nlohmann::json json = config.json();
  json["tie_word_embeddings"] = false;
  return JsonObject::parse(json.dump(), config.origin());
}

/// tie_word_embeddings false: an output of its own, whose input is not scaled. scale_decoder_outputs, of
/// transformers 5, takes precedence for the scale.
void read_output(const JsonObject& json, TransformerConfig& c) {
  c.tied_output = json.boolean("tie_word_embeddings", true);
  const bool scaled = json.boolean("scale_decoder_outputs", c.tied_output);
  if (scaled) c.output_scale = std::pow(static_cast<double>(c.width), -0.5);
}

void write_output(const TransformerConfig& c, nlohmann::ordered_json& json) {
  const bool scaled = c.output_scale != 1;
  json["tie_word_embeddings"] = c.tied_output;
  if (c.tied_output != scaled) json["scale_decoder_outputs"] = scaled;
}

/// dropout_rate, in place of which fine-tuning may have set others.
void read_dropouts(const JsonObject& json, TransformerConfig& c) {
  const double rate = json.number("dropout_rate", kProbabilities, 0.1);
  c.dropout = json.number("dropout", kProbabilities, rate);
  c.attention_dropout = json.number("attention_dropout", kProbabilities, rate);
  c.activation_dropout = json.number("activation_dropout", kProbabilities, rate);
}

void write_dropouts(const TransformerConfig& c, nlohmann::ordered_json& json) {
  json["dropout_rate"] = c.dropout;
  if (c.attention_dropout != c.dropout) json["attention_dropout"] = c.attention_dropout;
  if (c.activation_dropout != c.dropout) json["activation_dropout"] = c.activation_dropout;
}

/// What all T5 models have in common.
void complete(TransformerConfig& c) {
  c.source_vocabulary = c.vocabulary;
  c.decoder_inner_width = c.encoder_inner_width;
  c.decoder_heads = c.encoder_heads;
  c.norm_first = true;
  c.norm = nn::NormKind::kRms;
  c.positions.kind = nn::PositionKind::kBuckets;
  c.limited_length = c.scale_embedding = false;
  c.score_scale = 1;
  c.attention_bias = c.feed_forward_bias = c.output_bias = false;
  c.final_dropout = c.trains_padding = true;
  c.forbids_padding = c.translates_sentences = false;
}

void describe_t5(ConfigFields& fields, TransformerConfig& c) {
  fields.integer("vocab_size", c.vocabulary, kVocabularySizes);
  fields.integer("d_model", c.width, {1, 1 << 16});
  fields.integer("d_kv", c.head_width, {1, 1 << 12});
  fields.integer("d_ff", c.encoder_inner_width, kInnerWidths);
  fields.integer("num_layers", c.encoder_layers, kLayerCounts);
  fields.integer("num_decoder_layers", c.decoder_layers, kLayerCounts, c.encoder_layers);
  fields.integer("num_heads", c.encoder_heads, kHeadCounts);
  fields.integer("relative_attention_num_buckets", c.positions.buckets, {4, 1 << 16}, 32);
  fields.integer("relative_attention_max_distance", c.positions.bucket_max_distance, {2, 1 << 20}, 128);
  fields.custom(
      {"activation_dropout", "attention_dropout", "dropout", "dropout_rate"},
      [&](const JsonObject& json) { read_dropouts(json, c); },
      [&](nlohmann::ordered_json& json) { write_dropouts(c, json); });
  fields.number("layer_norm_epsilon", c.norm_epsilon, {0, 1}, 1e-6);
  fields.custom(
      {"dense_act_fn", "feed_forward_proj", "is_gated_act"},
      [&](const JsonObject& json) { read_projection(json, c); },
      [&](nlohmann::ordered_json& json) { write_projection(c, json); });
  fields.custom(
      {"scale_decoder_outputs", "tie_word_embeddings"}, [&](const JsonObject& json) { read_output(json, c); },
      [&](nlohmann::ordered_json& json) { write_output(c, json); });
  fields.constant("is_encoder_decoder", true);
  const IntegerRange ids{0, c.vocabulary - 1};
  fields.integer("pad_token_id", c.padding_id, ids, 0);
  describe_end_id(fields, c, 1);
  fields.integer("decoder_start_token_id", c.start_id, ids, c.padding_id);
  fields.derive([&](const JsonObject&) { complete(c); });
  fields.ignore({"bos_token_id", "classifier_dropout", "initializer_factor", "n_positions",
                 "num_hidden_layers", "prefix"});
}

}  // namespace

TransformerType t5_type() {
  return {"t5", "T5ForConditionalGeneration", describe_t5, untie_stored_output};
}

}  // namespace heed::models
