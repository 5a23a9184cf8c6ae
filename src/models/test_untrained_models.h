// Test helper: untrained models from a config.json, as model directories. Without GoogleTest, for fuzzers,
// too.
#pragma once

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/rng.h"
#include "base/text/json_file.h"
#include "models/architecture.h"
#include "models/directory/model_weights.h"
#include "nn/storage/parameters.h"

namespace heed::models {

/// The model that this config.json describes.
inline std::unique_ptr<Model> model_of(const nlohmann::json& json) {
  const JsonObject config = JsonObject::parse(json.dump(), "config.json");
  return architecture_of(config).read(config);
}

/// Writes config.json and float32 weights: random, or all equal to `value` if it is not 0.
inline void write_untrained(const std::string& directory, const Model& model, uint64_t seed,
                            float value = 0) {
  nn::ParameterArray values(model.table(), DType::kFloat32);
  nn::initialize(model.table(), values, RandomKey::from_seed(seed));
  if (value != 0) std::fill_n(values.flat().data<float>(), values.flat().size(), value);
  write_json(directory + "/config.json", model.config_json());
  write_weights(directory, model.table(), values, DType::kFloat32);
}

/// The sizes of a small BART-like model in config.json; those of encoder and decoder differ.
inline nlohmann::json small_bart_like_sizes() {
  return {{"d_model", 12},
          {"encoder_layers", 1},
          {"decoder_layers", 2},
          {"encoder_attention_heads", 2},
          {"decoder_attention_heads", 3},
          {"encoder_ffn_dim", 10},
          {"decoder_ffn_dim", 14},
          {"max_position_embeddings", 16},
          {"decoder_start_token_id", 2}};
}

}  // namespace heed::models
