// The keys of config.json that Llama and the families after it have in common.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "models/config/decoder_only_config.h"
#include "models/config/sliding_layers.h"

namespace heed::models {

/// The values of keys that a config leaves out.
struct LlamaLikeDefaults {
  int64_t max_length = 2048;
  UsualIds ids = {.start = 1, .end = 2};
  int key_value_heads = 0;  ///< 0: as many as heads, which null means in all families
  int64_t head_width = 0;   ///< 0: D / H
  bool tied_output = false;
  Activation activation = Activation::kSwish;
  std::string activation_key = "hidden_act";
  std::string activation_name = "silu";  ///< as the family writes the usual one
};

/// Sizes, activation, dropout, special ids and tied weights. Positions and biases are the family's: when
/// reading, there are no biases unless it describes them afterwards.
void describe_llama_like(ConfigFields& fields, DecoderOnlyConfig& config, const LlamaLikeDefaults& defaults);
/// Rotary positions that are the same in all layers.
void describe_rotary(ConfigFields& fields, DecoderOnlyConfig& config);
/// For rotary positions with a usual base of 10000.
RotaryDefaults rotary_defaults(const DecoderOnlyConfig& config);

/// Llama's names of parameters.
DecoderOnlyFamily llama_like_family(const std::string& model_type, const std::string& model_class,
                                    void (*describe)(ConfigFields& fields, DecoderOnlyConfig& config));
/// Adds the names of norms of queries and keys.
void add_query_key_norms(DecoderOnlyFamily& family);
/// The config for the settings of a recipe. Files have no key for other dropouts than that of attention
/// weights, so these are for training alone.
DecoderOnlyConfig llama_like_config(const ModelSettings& settings, const DecoderOnlyFamily& family);
/// The row of a family, which lacks `make` and `read`.
Architecture llama_like_architecture(const std::string& name, const std::string& description,
                                     const std::string& model_type);

/// sliding_window; 0 for null, which means no window, unlike a missing key.
int64_t read_window(const JsonObject& json);
/// The same, null if no layer slides.
void write_window(const DecoderOnlyConfig& config, nlohmann::ordered_json& json);
/// layer_types
nlohmann::ordered_json layer_types_json(const DecoderOnlyConfig& config);

}  // namespace heed::models
