// M2M-100 (Fan et al., 2020) and NLLB-200 (NLLB team, 2022) in Hugging Face's layout: model_type m2m_100. A
// pre-norm Marian with fairseq's sinusoidal positions, whose first is number 2, and without a bias of the
// output. The table of positions grows with the text, so max_position_embeddings is no limit.
#include <nlohmann/json.hpp>

#include "models/transformer_families.h"

namespace heed::models {
namespace {

nlohmann::ordered_json m2m100_config_json(const TransformerConfig& c) {
  return bart_like_json(c, "M2M100ForConditionalGeneration");
}

const TransformerFamily& m2m100_family() {
  static const TransformerFamily family = bart_like_family("m2m_100", m2m100_config_json);
  return family;
}

}  // namespace

TransformerConfig read_m2m100_config(const JsonObject& json) {
  static const KnownKeys keys = bart_like_keys({.read = {},
                                                .ignored = {},
                                                .neutral = {{"add_final_layer_norm", {true}},
                                                            {"normalize_before", {true}},
                                                            {"normalize_embedding", {false}},
                                                            {"static_position_embeddings", {true}}}});
  require_known_keys(json, keys);
  TransformerConfig c =
      read_bart_like(json, m2m100_family(),
                     {.activation = Activation::kRelu, .attention_dropout = 0.1, .scale_embedding = true});
  c.norm_first = true;
  c.output_bias = false;
  c.limited_length = false;
  c.frequencies = nn::SinusoidFrequencies::kByHalves;
  return c;
}

}  // namespace heed::models
