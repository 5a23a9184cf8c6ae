// BART (Lewis et al., 2019) and mBART, mBART-50 (Liu et al., 2020; Tang et al., 2020) in Hugging Face's
// layout: model_types bart and mbart. Learned positions, whose first is number 2, and a norm right after
// them. BART is post-norm, mBART pre-norm.
#include <nlohmann/json.hpp>

#include "models/families/transformer_families.h"

namespace heed::models {
namespace {

TransformerFamily with_embedding_norms(TransformerFamily family) {
  family.encoder.embedding_norm = "model.encoder.layernorm_embedding";
  family.decoder.embedding_norm = "model.decoder.layernorm_embedding";
  return family;
}

const TransformerFamily& bart_family() {
  static const TransformerFamily family = with_embedding_norms(bart_like_family("bart"));
  return family;
}

const TransformerFamily& mbart_family() {
  static const TransformerFamily family = with_embedding_norms(bart_like_family("mbart"));
  return family;
}

/// Common to both.
void describe_bart_or_mbart(ConfigFields& fields, TransformerConfig& c, bool norm_first,
                            std::optional<int32_t> start_id) {
  describe_bart_like(fields, c, {.least_width = 4}, start_id);
  fields.derive([&, norm_first](const JsonObject&) {
    c.norm_first = norm_first;
    c.positions.kind = nn::PositionKind::kLearned;
    c.family = norm_first ? &mbart_family() : &bart_family();
  });
  fields.read_elsewhere({"force_bos_token_to_be_generated"});
  // Keys of old files that tell BART and mBART apart, which the model_type does here.
  fields.neutral("add_final_layer_norm", {norm_first});
  fields.neutral("normalize_before", {norm_first});
  fields.neutral("normalize_embedding", {true});
  fields.neutral("static_position_embeddings", {false});
}

void describe_bart(ConfigFields& fields, TransformerConfig& c) {
  describe_bart_or_mbart(fields, c, false, 2);
}

void describe_mbart(ConfigFields& fields, TransformerConfig& c) {
  describe_bart_or_mbart(fields, c, true, {});
}

}  // namespace

TransformerType bart_type() {
  return {"bart", "BartForConditionalGeneration", describe_bart};
}

TransformerType mbart_type() {
  return {"mbart", "MBartForConditionalGeneration", describe_mbart};
}

}  // namespace heed::models
