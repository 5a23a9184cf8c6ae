// The Transformer's row in the table of architectures, and the config.json of all its families.
#pragma once

#include "base/text/json_file.h"
#include "models/architecture.h"
#include "models/stacks/transformer.h"

namespace heed::models {

/// Reads a config of a model_type of the encoder-decoder families. "heed_transformer" has these keys besides
/// Marian's: "normalize_before" (bool), "normalization" (norm_names()), "position_embedding_type"
/// (position_names()) and its options "relative_distance", "relative_attention_num_buckets" and
/// "relative_attention_max_distance" as in T5, "rope_theta", "position_frequencies" ("by_width" or, as in
/// Marian itself, "by_halves"), "layer_norm_epsilon". Throws kFormat for missing, invalid or unsupported
/// values.
TransformerConfig read_transformer_config(const JsonObject& config);

/// The features of a model with Marian's names that transformers' Marian does not support, for messages.
std::vector<std::string> unsupported_by_marian(const TransformerConfig& config);
/// Whether the model is Marian's usual Transformer, in that of transformers or as Marian computes it, with
/// other frequencies of positions and another epsilon: the one that CTranslate2 has.
bool is_post_norm_marian(const TransformerConfig& config);

/// The config.json of a model; "marian" if Marian supports all its features.
nlohmann::ordered_json transformer_config_json(const TransformerConfig& config);

/// The row in the table of architectures.
Architecture transformer_architecture();

}  // namespace heed::models
