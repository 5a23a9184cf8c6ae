// BERT (Devlin et al., 2019) in Hugging Face's layout: model_type bert.
#include <nlohmann/json.hpp>

#include "models/config/encoder_only_config.h"
#include "models/directory/model_settings.h"

namespace heed::models {
namespace {

void describe_bert(ConfigFields& fields, EncoderOnlyConfig& c) {
  describe_bert_like(fields, c, {}, {});
  describe_max_length(fields, c, -1);
  describe_absolute_positions(fields);
  fields.integer("type_vocab_size", c.types, {1, 1024}, 2);
  fields.derive([&](const JsonObject&) {
    c.reads_types = true;
    c.vocabulary_activation = c.activation;
  });
  // Of the first release, which another toolkit read: its pooler is that of all others.
  fields.ignore({"directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
                 "pooler_size_per_head", "pooler_type"});
}

EncoderOnlyConfig make_bert_config(const ModelSettings& settings) {
  EncoderOnlyConfig c = encoder_config(settings, bert_family());
  c.types = 2;
  c.reads_types = true;
  return c;
}

}  // namespace

const EncoderOnlyFamily& bert_family() {
  static const EncoderOnlyFamily family{
      .model_type = "bert",
      .class_prefix = "Bert",
      .pretraining_class = "BertForPreTraining",
      .prefix = "bert.",
      .words = "embeddings.word_embeddings",
      .positions = "embeddings.position_embeddings",
      .types = "embeddings.token_type_embeddings",
      .embedding_norm = "embeddings.LayerNorm",
      .layer = "encoder.layer.",
      .layer_names = {.self_attention = {.query = "attention.self.query",
                                         .key = "attention.self.key",
                                         .value = "attention.self.value",
                                         .output = "attention.output.dense"},
                      .self_attention_norm = {"attention.output.LayerNorm"},
                      .first = "intermediate.dense",
                      .second = "output.dense",
                      .feed_forward_norm = {"output.LayerNorm"}},
      .first_attention_norm = "attention.output.LayerNorm",
      .left_out = {"pooler."},
      .classifier = {.dense = "bert.pooler.dense", .output = "classifier"},
      .vocabulary = {.dense = "cls.predictions.transform.dense",
                     .norm = "cls.predictions.transform.LayerNorm",
                     .weight = "cls.predictions.decoder.weight",
                     .bias = "cls.predictions.bias",
                     .other_bias = "cls.predictions.decoder.bias",
                     .left_out = {"cls.seq_relationship."}},
      .describe = describe_bert};
  return family;
}

EncoderOnlyConfig bert_config(EncoderHead head) {
  EncoderOnlyConfig c;
  c.family = &bert_family();
  c.head = head;
  c.types = 2;
  c.reads_types = true;
  return c;
}

Architecture bert_architecture() {
  return encoder_architecture_of<bert_family, make_bert_config>(
      {.name = "bert",
       .description = "encoder-only classifier (Devlin et al., 2019)",
       .model_type = "bert",
       .dropout_keys = {"hidden_dropout_prob", "classifier_dropout"},
       .attention_dropout_keys = {"attention_probs_dropout_prob"},
       .token_types = true});
}

}  // namespace heed::models
