// config.json of the encoder-decoder families besides Marian, for models::Transformer.
#pragma once

#include <optional>

#include "base/json_file.h"
#include "base/known_keys.h"
#include "models/transformer.h"

namespace heed::models {

/// Each throws kFormat for missing, invalid or unsupported values.
TransformerConfig read_t5_config(const JsonObject& config);
TransformerConfig read_m2m100_config(const JsonObject& config);
TransformerConfig read_bart_config(const JsonObject& config);
TransformerConfig read_mbart_config(const JsonObject& config);

/// The first end token of a list; all of them end a translation (generation_defaults.h).
int32_t read_end_id(const JsonObject& json, int64_t vocabulary, std::optional<int32_t> fallback = {});

// -- What M2M-100, BART and mBART have in common.

/// The values of keys that a config may leave out.
struct BartLikeDefaults {
  Activation activation = Activation::kGelu;
  double attention_dropout = 0;
  bool scale_embedding = false;
  std::optional<int32_t> start_id = 2;  ///< none: the key is required
};

/// The keys that read_bart_like() reads, `more`, and what all configs may contain.
KnownKeys bart_like_keys(KnownKeys more);
TransformerConfig read_bart_like(const JsonObject& json, const TransformerFamily& family,
                                 const BartLikeDefaults& defaults);
/// The same keys for config.json; `model_class` is Hugging Face's.
nlohmann::ordered_json bart_like_json(const TransformerConfig& config, const char* model_class);
/// BART's names of parameters, without norms of embeddings and of stacks.
TransformerFamily bart_like_family(const std::string& model_type,
                                   nlohmann::ordered_json (*config_json)(const TransformerConfig& config));

}  // namespace heed::models
