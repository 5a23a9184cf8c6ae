// M2M-100 (Fan et al., 2020) and NLLB-200 (NLLB team, 2022) in Hugging Face's layout: model_type m2m_100. A
// pre-norm Marian with fairseq's sinusoidal positions, whose first is the number behind the padding token's,
// and without a bias of the output. The table of positions grows with the text, so max_position_embeddings is
// no limit.
#include <nlohmann/json.hpp>

#include "models/families/transformer_families.h"

namespace heed::models {
namespace {

const TransformerFamily& m2m100_family() {
  static const TransformerFamily family = bart_like_family("m2m_100");
  return family;
}

void describe_m2m100(ConfigFields& fields, TransformerConfig& c) {
  describe_bart_like(
      fields, c,
      {.activation = Activation::kRelu, .attention_dropout = 0.1, .scale_embedding = true, .least_width = 4},
      2);
  fields.derive([&](const JsonObject&) {
    c.family = &m2m100_family();
    c.norm_first = true;
    c.output_bias = false;
    c.limited_length = false;
    c.first_row = c.padding_id + 1;
    c.frequencies = nn::SinusoidFrequencies::kByHalves;
    c.padding_has_position = false;
  });
  fields.neutral("add_final_layer_norm", {true});
  fields.neutral("normalize_before", {true});
  fields.neutral("normalize_embedding", {false});
  fields.neutral("static_position_embeddings", {true});
}

}  // namespace

TransformerType m2m100_type() {
  return {"m2m_100", "M2M100ForConditionalGeneration", describe_m2m100};
}

}  // namespace heed::models
