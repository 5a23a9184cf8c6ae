// MPNet (Song et al., "MPNet: masked and permuted pre-training for language understanding", 2020) in Hugging
// Face's layout: model_type mpnet. RoBERTa with other names, without token types, and with T5's bias of
// distances, which all layers share.
#include <nlohmann/json.hpp>

#include "models/config/encoder_only_config.h"
#include "models/directory/model_settings.h"

namespace heed::models {
namespace {

/// Of which transformers uses 32, whatever relative_attention_num_buckets says.
constexpr int64_t kBuckets = 32;
/// Of positions: 1, whatever pad_token_id says.
constexpr int32_t kPositionPadding = 1;

void describe_mpnet(ConfigFields& fields, EncoderOnlyConfig& c) {
  describe_bert_like(fields, c, {.classifier_dropout = ""}, {.padding_id = 1});
  describe_max_length(fields, c, kPositionPadding);
  fields.integer("relative_attention_num_buckets", c.relative_rows, {kBuckets, 1 << 20}, kBuckets);
}

const EncoderOnlyFamily& mpnet_family() {
  static const EncoderOnlyFamily family{.model_type = "mpnet",
                                        .class_prefix = "MPNet",
                                        .prefix = "mpnet.",
                                        .words = "embeddings.word_embeddings",
                                        .positions = "embeddings.position_embeddings",
                                        .types = "",
                                        .embedding_norm = "embeddings.LayerNorm",
                                        .layer = "encoder.layer.",
                                        .layer_names = {.self_attention = {.query = "attention.attn.q",
                                                                           .key = "attention.attn.k",
                                                                           .value = "attention.attn.v",
                                                                           .output = "attention.attn.o"},
                                                        .self_attention_norm = {"attention.LayerNorm"},
                                                        .first = "intermediate.dense",
                                                        .second = "output.dense",
                                                        .feed_forward_norm = {"output.LayerNorm"}},
                                        .relative_bias = "encoder.relative_attention_bias",
                                        .first_attention_norm = "attention.LayerNorm",
                                        .left_out = {"pooler."},
                                        .classifier = {.dense = "classifier.dense",
                                                       .output = "classifier.out_proj",
                                                       .dropout_before_dense = true},
                                        .vocabulary = {.dense = "lm_head.dense",
                                                       .norm = "lm_head.layer_norm",
                                                       .weight = "lm_head.decoder.weight",
                                                       .bias = "lm_head.bias",
                                                       .other_bias = "lm_head.decoder.bias"},
                                        .describe = describe_mpnet};
  return family;
}

EncoderOnlyConfig make_mpnet_config(const ModelSettings& settings) {
  EncoderOnlyConfig c = encoder_config(settings, mpnet_family());
  c.position_padding_id = kPositionPadding;
  c.relative_rows = kBuckets;
  return c;
}

}  // namespace

Architecture mpnet_architecture() {
  return encoder_architecture_of<mpnet_family, make_mpnet_config>(
      {.name = "mpnet",
       .description = "RoBERTa with T5's bias of distances (Song et al., 2020)",
       .model_type = "mpnet",
       .dropout_keys = {"hidden_dropout_prob"},
       .attention_dropout_keys = {"attention_probs_dropout_prob"}});
}

}  // namespace heed::models
