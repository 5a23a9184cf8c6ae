// MPNet (Song et al., "MPNet: masked and permuted pre-training for language understanding", 2020) in Hugging
// Face's layout: model_type mpnet. RoBERTa with other names, without token types, and with T5's bias of
// distances, which all layers share.
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "models/encoder_only_config.h"
#include "models/model_settings.h"

namespace heed::models {
namespace {

/// Of which transformers uses 32, whatever relative_attention_num_buckets says.
constexpr int64_t kBuckets = 32;
/// Of positions: 1, whatever pad_token_id says.
constexpr int32_t kPositionPadding = 1;

const BertLikeKeys& mpnet_names() {
  static const BertLikeKeys names{.classifier_dropout = "hidden_dropout_prob"};
  return names;
}

nlohmann::ordered_json mpnet_config_json(const EncoderOnlyConfig& c) {
  nlohmann::ordered_json json = bert_like_json(c, mpnet_names());
  json["relative_attention_num_buckets"] = c.relative_rows;
  return json;
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
                                        .config_json = mpnet_config_json};
  return family;
}

EncoderOnlyConfig read_mpnet_config(const JsonObject& json, EncoderHead head) {
  static const KnownKeys keys =
      encoder_keys(mpnet_names(), {.read = {"relative_attention_num_buckets"}, .ignored = {}, .neutral = {}});
  require_known_keys(json, keys);
  EncoderOnlyConfig c = read_bert_like(json, mpnet_family(), head, mpnet_names());
  c.padding_id = static_cast<int32_t>(json.integer("pad_token_id", {0, c.vocabulary - 1}, 1));
  put_positions_after(json, kPositionPadding, c);
  c.relative_rows = json.integer("relative_attention_num_buckets", {kBuckets, 1 << 20}, kBuckets);
  return c;
}

EncoderOnlyConfig make_mpnet_config(const ModelSettings& settings) {
  EncoderOnlyConfig c = encoder_config(settings, mpnet_family());
  c.position_padding_id = kPositionPadding;
  c.relative_rows = kBuckets;
  return c;
}

}  // namespace

Architecture mpnet_architecture() {
  return encoder_architecture_of<mpnet_family, read_mpnet_config, make_mpnet_config>(
      {.name = "mpnet",
       .description = "RoBERTa with T5's bias of distances (Song et al., 2020)",
       .model_type = "mpnet",
       .dropout_keys = {"hidden_dropout_prob"},
       .attention_dropout_keys = {"attention_probs_dropout_prob"}});
}

}  // namespace heed::models
