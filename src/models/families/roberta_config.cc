// RoBERTa (Liu et al., "RoBERTa: a robustly optimized BERT pretraining approach", 2019) and XLM-R (Conneau et
// al., "Unsupervised cross-lingual representation learning at scale", 2020) in Hugging Face's layout:
// model_types roberta and xlm-roberta. Both are BERT with other heads, and positions that begin after the
// row of the padding id. Their tokenizers give all tokens the type 0.
#include <nlohmann/json.hpp>

#include "models/config/encoder_only_config.h"
#include "models/directory/model_settings.h"

namespace heed::models {
namespace {

void describe_roberta(ConfigFields& fields, EncoderOnlyConfig& c) {
  describe_bert_like(fields, c, {}, {.padding_id = 1});
  describe_max_length(fields, c, c.padding_id);
  describe_absolute_positions(fields);
  fields.integer("type_vocab_size", c.types, {1, 1024}, 2);
}

EncoderOnlyFamily roberta_like_family(const std::string& model_type, const std::string& class_prefix) {
  EncoderOnlyFamily family = bert_family();
  family.model_type = model_type;
  family.class_prefix = class_prefix;
  family.pretraining_class = "";
  family.prefix = "roberta.";
  family.classifier = {
      .dense = "classifier.dense", .output = "classifier.out_proj", .dropout_before_dense = true};
  family.vocabulary = {.dense = "lm_head.dense",
                       .norm = "lm_head.layer_norm",
                       .weight = "lm_head.decoder.weight",
                       .bias = "lm_head.bias",
                       .other_bias = "lm_head.decoder.bias"};
  family.describe = describe_roberta;
  return family;
}

const EncoderOnlyFamily& roberta_family() {
  static const EncoderOnlyFamily family = roberta_like_family("roberta", "Roberta");
  return family;
}

const EncoderOnlyFamily& xlm_roberta_family() {
  static const EncoderOnlyFamily family = roberta_like_family("xlm-roberta", "XLMRoberta");
  return family;
}

EncoderOnlyConfig make_roberta_like(const ModelSettings& settings, const EncoderOnlyFamily& family) {
  EncoderOnlyConfig c = encoder_config(settings, family);
  c.types = 1;
  c.position_padding_id = c.padding_id;
  return c;
}

EncoderOnlyConfig make_roberta(const ModelSettings& settings) {
  return make_roberta_like(settings, roberta_family());
}
EncoderOnlyConfig make_xlm_roberta(const ModelSettings& settings) {
  return make_roberta_like(settings, xlm_roberta_family());
}

EncoderRow roberta_row(const std::string& name, const std::string& description) {
  return {.name = name,
          .description = description,
          .model_type = name,
          .dropout_keys = {"hidden_dropout_prob", "classifier_dropout"},
          .attention_dropout_keys = {"attention_probs_dropout_prob"}};
}

}  // namespace

Architecture roberta_architecture() {
  return encoder_architecture_of<roberta_family, make_roberta>(
      roberta_row("roberta", "BERT with another classifier (Liu et al., 2019)"));
}

Architecture xlm_roberta_architecture() {
  return encoder_architecture_of<xlm_roberta_family, make_xlm_roberta>(
      roberta_row("xlm-roberta", "RoBERTa of many languages (Conneau et al., 2020)"));
}

}  // namespace heed::models
