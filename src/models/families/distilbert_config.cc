// DistilBERT (Sanh et al., "DistilBERT, a distilled version of BERT", 2019) in Hugging Face's layout:
// model_type distilbert. BERT without token types and pooler, with other names and other dropouts.
#include <nlohmann/json.hpp>

#include "models/config/encoder_only_config.h"
#include "models/directory/model_settings.h"

namespace heed::models {
namespace {

const BertLikeKeys& distilbert_names() {
  static const BertLikeKeys names{.sizes = {.width = "dim", .layers = "n_layers", .heads = "n_heads"},
                                  .inner_width = "hidden_dim",
                                  .activation = "activation",
                                  .dropout = "dropout",
                                  .attention_dropout = "attention_dropout",
                                  .classifier_dropout = "seq_classif_dropout",
                                  .norm_epsilon = ""};
  return names;
}

/// What config.json does not say.
void complete(EncoderOnlyConfig& c) {
  c.attention_output_dropout = 0;
  c.classifier_activation = Activation::kRelu;
}

void describe_distilbert(ConfigFields& fields, EncoderOnlyConfig& c) {
  describe_bert_like(fields, c, distilbert_names(), {.classifier_dropout = 0.2});
  describe_max_length(fields, c, -1);
  fields.derive([&](const JsonObject&) {
    c.vocabulary_activation = c.activation;
    complete(c);
  });
  // sinusoidal_pos_embds is about the initial positions: they are in the weights like any others.
  fields.ignore({"qa_dropout", "sinusoidal_pos_embds"});
  fields.neutral("tie_weights_", {true});
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
                                        .describe = describe_distilbert};
  return family;
}

EncoderOnlyConfig make_distilbert_config(const ModelSettings& settings) {
  EncoderOnlyConfig c = encoder_config(settings, distilbert_family());
  complete(c);
  return c;
}

}  // namespace

Architecture distilbert_architecture() {
  return encoder_architecture_of<distilbert_family, make_distilbert_config>(
      {.name = "distilbert",
       .description = "BERT without token types (Sanh et al., 2019)",
       .model_type = "distilbert",
       .dropout_keys = {"dropout", "seq_classif_dropout"},
       .attention_dropout_keys = {"attention_dropout"}});
}

}  // namespace heed::models
