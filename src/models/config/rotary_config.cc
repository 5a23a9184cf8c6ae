#include "models/config/rotary_config.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text/known_keys.h"

namespace heed::models {
namespace {

using ScalingKind = ops::RotaryScaling::Kind;

const std::vector<std::pair<std::string, ScalingKind>>& scaling_names() {
  static const std::vector<std::pair<std::string, ScalingKind>> names{{"default", ScalingKind::kNone},
                                                                      {"dynamic", ScalingKind::kNone},
                                                                      {"linear", ScalingKind::kLinear},
                                                                      {"llama3", ScalingKind::kLlama3},
                                                                      {"yarn", ScalingKind::kYarn}};
  return names;
}

constexpr NumberRange kFactors{1e-3, 1e6}, kOriginalLengths{1, 1e9};

double original_length(const JsonObject& rotary, const RotaryDefaults& defaults) {
  if (defaults.original_length > 0) return defaults.original_length;
  return rotary.number("original_max_position_embeddings", kOriginalLengths, defaults.max_length);
}

/// Attention is scaled through sines and cosines (Peng et al., 2023, section 3.4).
double yarn_amplitude(const JsonObject& rotary, double factor) {
  const auto magnitude = [&](double scale) { return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1; };
  const double one = rotary.number("mscale", {0, 1e3}, 0),
               other = rotary.number("mscale_all_dim", {0, 1e3}, 0);
  const double usual = one > 0 && other > 0 ? magnitude(one) / magnitude(other) : magnitude(1);
  return rotary.number("attention_factor", {1e-3, 1e3}, usual);
}

ops::RotaryScaling read_scaling(const JsonObject& rotary, ScalingKind kind, const RotaryDefaults& defaults) {
  ops::RotaryScaling scaling{.kind = kind};
  switch (kind) {
    case ScalingKind::kNone:
      break;
    case ScalingKind::kLinear:
      scaling.factor = rotary.number("factor", kFactors);
      break;
    case ScalingKind::kLlama3:
      scaling.factor = rotary.number("factor", kFactors);
      scaling.original_length = original_length(rotary, defaults);
      scaling.low_frequency_factor = rotary.number("low_freq_factor", kFactors);
      scaling.high_frequency_factor = rotary.number("high_freq_factor", kFactors);
      if (scaling.high_frequency_factor <= scaling.low_frequency_factor) {
        rotary.reject("high_freq_factor",
                      fmt::format("a number above low_freq_factor ({})", scaling.low_frequency_factor));
      }
      break;
    case ScalingKind::kYarn:
      scaling.original_length = original_length(rotary, defaults);
      scaling.factor = rotary.number("factor", kFactors, defaults.max_length / scaling.original_length);
      scaling.beta_fast = rotary.number("beta_fast", kFactors, 32);
      scaling.beta_slow = rotary.number("beta_slow", kFactors, 1);
      scaling.truncate = rotary.boolean("truncate", true);
      scaling.amplitude = yarn_amplitude(rotary, scaling.factor);
      break;
  }
  return scaling;
}

std::string type_of(const Rotary& rotary) {
  if (rotary.dynamic_factor > 0) return "dynamic";
  for (const auto& [name, kind] : scaling_names()) {
    if (kind == rotary.scaling.kind) return name;
  }
  HEED_CHECK(false);
}

}  // namespace

Rotary read_rotary(const JsonObject& config, const std::string& key, const RotaryDefaults& defaults) {
  if (!config.has(key)) return {defaults.base};
  // Keys of other types play no part.
  static const KnownKeys known{
      .read = {"attention_factor", "beta_fast", "beta_slow", "factor", "high_freq_factor", "low_freq_factor",
               "mscale", "mscale_all_dim", "original_max_position_embeddings", "rope_theta", "rope_type",
               "truncate", "type"},
      .ignored = {"finetuned"},
      .neutral = {{"partial_rotary_factor", {1.0}}}};
  const JsonObject json = config.object(key);
  Rotary rotary{json.number("rope_theta", {1, 1e12}, defaults.base)};
  const char* type_key = json.has("rope_type") ? "rope_type" : "type";
  const std::string type = json.string(type_key, "default");
  std::string names;
  for (const auto& [name, kind] : scaling_names()) {
    if (name == type) {
      rotary.scaling = read_scaling(json, kind, defaults);
      if (name == "dynamic") rotary.dynamic_factor = json.number("factor", kFactors);
      require_known_keys(json, known);
      return rotary;
    }
    names += (names.empty() ? "\"" : ", \"") + name + "\"";
  }
  json.reject(type_key, "one of " + names);
}

bool agrees_with_older_keys(const JsonObject& config, const Rotary& parameters, const std::string& base_key,
                            const Rotary& older) {
  if (config.has(base_key) && parameters.base != older.base) return false;
  return !config.has("rope_scaling") || parameters == older;
}

const std::vector<std::string>& rotary_keys() {
  static const std::vector<std::string> keys{"original_max_position_embeddings", "rope_theta", "rope_scaling",
                                             "rope_parameters"};
  return keys;
}

Rotary read_rotary_positions(const JsonObject& config, RotaryDefaults defaults) {
  defaults.base = config.number("rope_theta", {1, 1e12}, defaults.base);
  defaults.original_length = config.number("original_max_position_embeddings", kOriginalLengths, 0.0);
  const Rotary parameters = read_rotary(config, "rope_parameters", defaults),
               scaling = read_rotary(config, "rope_scaling", defaults);
  if (config.has("rope_parameters") && !agrees_with_older_keys(config, parameters, "rope_theta", scaling)) {
    config.reject("rope_parameters", "the same values as in rope_theta and rope_scaling");
  }
  return config.has("rope_parameters") ? parameters : scaling;
}

nlohmann::ordered_json rotary_json(const Rotary& rotary) {
  const ops::RotaryScaling& s = rotary.scaling;
  nlohmann::ordered_json json{{"rope_theta", rotary.base}, {"rope_type", type_of(rotary)}};
  if (rotary.dynamic_factor > 0) json["factor"] = rotary.dynamic_factor;
  if (s.kind == ScalingKind::kNone) return json;
  json["factor"] = s.factor;
  if (s.kind == ScalingKind::kLinear) return json;
  json["original_max_position_embeddings"] = static_cast<int64_t>(s.original_length);
  if (s.kind == ScalingKind::kLlama3) {
    json["low_freq_factor"] = s.low_frequency_factor;
    json["high_freq_factor"] = s.high_frequency_factor;
    return json;
  }
  json["beta_fast"] = s.beta_fast;
  json["beta_slow"] = s.beta_slow;
  json["truncate"] = s.truncate;
  json["attention_factor"] = s.amplitude;
  return json;
}

void write_rotary_positions(const Rotary& rotary, nlohmann::ordered_json& json) {
  json["rope_theta"] = rotary.base;
  json["rope_scaling"] = nullptr;
  json["rope_parameters"] = rotary_json(rotary);
  if (type_of(rotary) == "default") return;
  json["rope_scaling"] = json["rope_parameters"];
  json["rope_scaling"].erase("rope_theta");
}

}  // namespace heed::models
