// BART (Lewis et al., 2019) and mBART, mBART-50 (Liu et al., 2020; Tang et al., 2020) in Hugging Face's
// layout: model_types bart and mbart. Learned positions, whose first is number 2, and a norm right after
// them. BART is post-norm, mBART pre-norm.
#include <nlohmann/json.hpp>

#include "models/transformer_families.h"

namespace heed::models {
namespace {

nlohmann::ordered_json bart_config_json(const TransformerConfig& c) {
  return bart_like_json(c, "BartForConditionalGeneration");
}

nlohmann::ordered_json mbart_config_json(const TransformerConfig& c) {
  return bart_like_json(c, "MBartForConditionalGeneration");
}

TransformerFamily with_embedding_norms(TransformerFamily family) {
  family.encoder.embedding_norm = "model.encoder.layernorm_embedding";
  family.decoder.embedding_norm = "model.decoder.layernorm_embedding";
  return family;
}

const TransformerFamily& bart_family() {
  static const TransformerFamily family = with_embedding_norms(bart_like_family("bart", bart_config_json));
  return family;
}

const TransformerFamily& mbart_family() {
  static const TransformerFamily family = with_embedding_norms(bart_like_family("mbart", mbart_config_json));
  return family;
}

/// Keys of old files that tell BART and mBART apart, which the model_type does here.
KnownKeys keys_of(bool norm_first) {
  return bart_like_keys({.read = {"force_bos_token_to_be_generated"},
                         .ignored = {},
                         .neutral = {{"add_final_layer_norm", {norm_first}},
                                     {"normalize_before", {norm_first}},
                                     {"normalize_embedding", {true}},
                                     {"static_position_embeddings", {false}}}});
}

TransformerConfig with_learned_positions(TransformerConfig c) {
  c.positions.kind = nn::PositionKind::kLearned;
  return c;
}

}  // namespace

TransformerConfig read_bart_config(const JsonObject& json) {
  static const KnownKeys keys = keys_of(false);
  require_known_keys(json, keys);
  return with_learned_positions(read_bart_like(json, bart_family(), {}));
}

TransformerConfig read_mbart_config(const JsonObject& json) {
  static const KnownKeys keys = keys_of(true);
  require_known_keys(json, keys);
  TransformerConfig c = read_bart_like(json, mbart_family(), {.start_id = {}});
  c.norm_first = true;
  return with_learned_positions(c);
}

}  // namespace heed::models
