// The Transformer as a row of the table of architectures, and its config.json, as Hugging Face's MarianConfig
// writes it.
#pragma once

#include "base/json_file.h"
#include "models/architecture.h"
#include "models/transformer.h"

namespace heed::models {

/// Reads a config whose model_type is "marian", or "heed_transformer": the same keys and these more, for what
/// Marian cannot express: "normalize_before" (bool), "normalization" (norm_names()),
/// "position_embedding_type" (position_names()) and what that needs: "relative_distance",
/// "relative_attention_num_buckets" and "relative_attention_max_distance" as in T5, "rope_theta". Throws
/// kFormat for anything missing, out of range, or that this library cannot do.
TransformerConfig read_transformer_config(const JsonObject& config);

/// What a model has that Marian's layout cannot say, in words for a person; nothing for a Marian.
std::vector<std::string> beyond_marian(const TransformerConfig& config);

/// The config.json of a model; "marian" wherever Marian can express it.
nlohmann::ordered_json transformer_config_json(const TransformerConfig& config);

/// Its row in the table of architectures.
Architecture transformer_architecture();

}  // namespace heed::models
