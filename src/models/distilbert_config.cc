// DistilBERT (Sanh et al., "DistilBERT, a distilled version of BERT", 2019) in Hugging Face's layout:
// model_type distilbert. BERT without token types and pooler, with other names and other dropouts.
#include <nlohmann/json.hpp>

#include "models/encoder_only_config.h"
#include "models/model_settings.h"

namespace heed::models {
namespace {

const BertLikeKeys& distilbert_names() {
  static const BertLikeKeys names{.width = "dim",
                                  .layers = "n_layers",
                                  .heads = "n_heads",
                                  .inner_width = "hidden_dim",
                                  .activation = "activation",
                                  .dropout = "dropout",
                                  .attention_dropout = "attention_dropout",
                                  .classifier_dropout = "seq_classif_dropout",
                                  .norm_epsilon = ""};
  return names;
}

nlohmann::ordered_json distilbert_config_json(const EncoderOnlyConfig& c) {
  return bert_like_json(c, distilbert_names());
}

const EncoderOnlyFamily& distilbert_family() {
  static const EncoderOnlyFamily family{.model_type = "distilbert",
                                        .class_prefix = "DistilBert",
                                        .prefix = "distilbert.",
                                        .words = "embeddings.word_embeddings",
                                        .positions = "embeddings.position_embeddings",
                                        .types = "",
                                        .embedding_norm = "embeddings.LayerNorm",
                                        .layer = "transformer.layer.",
                                        .layer_names = {.self_attention = {.query = "attention.q_lin",
                                                                           .key = "attention.k_lin",
                                                                           .value = "attention.v_lin",
                                                                           .output = "attention.out_lin"},
                                                        .self_attention_norm = {"sa_layer_norm"},
                                                        .first = "ffn.lin1",
                                                        .second = "ffn.lin2",
                                                        .feed_forward_norm = {"output_layer_norm"}},
                                        .first_attention_norm = "sa_layer_norm",
                                        .classifier = {.dense = "pre_classifier", .output = "classifier"},
                                        .vocabulary = {.dense = "vocab_transform",
                                                       .norm = "vocab_layer_norm",
                                                       .weight = "vocab_projector.weight",
                                                       .bias = "vocab_projector.bias"},
                                        .config_json = distilbert_config_json};
  return family;
}

/// What config.json does not say.
void complete(EncoderOnlyConfig& c) {
  c.attention_output_dropout = 0;
  c.classifier_activation = Activation::kRelu;
}

EncoderOnlyConfig read_distilbert_config(const JsonObject& json, EncoderHead head) {
  // sinusoidal_pos_embds is about the initial positions: they are in the weights like any others.
  static const KnownKeys keys = encoder_keys(
      distilbert_names(),
      {.read = {}, .ignored = {"qa_dropout", "sinusoidal_pos_embds"}, .neutral = {{"tie_weights_", {true}}}});
  require_known_keys(json, keys);
  EncoderOnlyConfig c = read_bert_like(json, distilbert_family(), head, distilbert_names());
  c.classifier_dropout = json.number("seq_classif_dropout", {0, 0.999}, 0.2);
  c.vocabulary_activation = c.activation;
  complete(c);
  return c;
}

EncoderOnlyConfig make_distilbert_config(const ModelSettings& settings) {
  EncoderOnlyConfig c = encoder_config(settings, distilbert_family());
  complete(c);
  return c;
}

}  // namespace

Architecture distilbert_architecture() {
  return encoder_architecture_of<distilbert_family, read_distilbert_config, make_distilbert_config>(
      {.name = "distilbert",
       .description = "BERT without token types (Sanh et al., 2019)",
       .model_type = "distilbert",
       .dropout_keys = {"dropout", "seq_classif_dropout"},
       .attention_dropout_keys = {"attention_dropout"}});
}

}  // namespace heed::models
