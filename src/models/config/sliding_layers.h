// layer_types in config.json: which layers have a sliding window.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/text/json_file.h"

namespace heed::models {

/// Layers whose attention slides: layer_types of the config, or those that `slides(layer)` names; empty:
/// none. Throws kFormat.
std::vector<bool> read_sliding_layers(const JsonObject& json, int layers,
                                      const std::function<bool(int layer)>& slides);
/// layer_types
nlohmann::ordered_json layer_types_json(int layers, const std::function<bool(int layer)>& slides);

}  // namespace heed::models
