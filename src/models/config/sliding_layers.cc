#include "models/config/sliding_layers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.h"

namespace heed::models {

std::vector<bool> read_sliding_layers(const JsonObject& json, int layers,
                                      const std::function<bool(int layer)>& slides) {
  std::vector<bool> sliding;
  for (int n = 0; !json.has("layer_types") && n < layers; ++n) sliding.push_back(slides(n));
  if (json.has("layer_types")) {
    for (const std::string& type : json.strings("layer_types")) {
      if (type != "sliding_attention" && type != "full_attention") {
        json.reject("layer_types", "a list of \"sliding_attention\" and \"full_attention\"");
      }
      sliding.push_back(type == "sliding_attention");
    }
    if (sliding.size() != static_cast<size_t>(layers)) {
      json.reject("layer_types", fmt::format("one type for each of the {} layers", layers));
    }
  }
  const bool none = std::find(sliding.begin(), sliding.end(), true) == sliding.end();
  return none ? std::vector<bool>() : sliding;
}

nlohmann::ordered_json layer_types_json(int layers, const std::function<bool(int layer)>& slides) {
  auto types = nlohmann::ordered_json::array();
  for (int n = 0; n < layers; ++n) types.push_back(slides(n) ? "sliding_attention" : "full_attention");
  return types;
}

}  // namespace heed::models
