// The Transformer's config.json, as Hugging Face's MarianConfig writes it.
#pragma once

#include "io/json_file.h"
#include "models/transformer.h"

namespace heed::models {

/// Reads a config whose model_type is "marian", or "heed_transformer": the same keys and these more, for what
/// Marian cannot express: "normalize_before" (bool) and "position_layout" ("halves" or "interleaved"). Throws
/// kFormat for anything missing, out of range, or that this library cannot do.
TransformerConfig read_transformer_config(const JsonObject& config);

/// The config.json of a model; "marian" wherever Marian can express it.
nlohmann::ordered_json transformer_config_json(const TransformerConfig& config);

/// "relu" and so on, as in config files.
const std::vector<std::pair<std::string, Activation>>& activation_names();

}  // namespace heed::models
