// config.json of the encoder-decoder families, for models::Transformer.
#pragma once

#include <optional>
#include <string>

#include "models/architecture.h"
#include "models/config/config_fields.h"
#include "models/stacks/transformer.h"

namespace heed::models {

/// A model_type of config.json.
struct TransformerType {
  std::string model_type, model_class;  ///< the class is Hugging Face's
  /// Its keys (models/config/config_fields.h). Sets the family when reading.
  void (*describe)(ConfigFields& fields, TransformerConfig& config);
  /// Architecture::complete of this type.
  JsonObject (*complete)(const JsonObject& config, const WeightsOf& weights) = nullptr;
};

TransformerType t5_type();
TransformerType m2m100_type();
TransformerType bart_type();
TransformerType mbart_type();

/// eos_token_id: the first end token of a list; all of them end a translation (generation_defaults.h).
void describe_end_id(ConfigFields& fields, TransformerConfig& config, std::optional<int32_t> fallback = {});

/// The values of keys that a config may leave out.
struct TransformerDefaults {
  Activation activation = Activation::kGelu;
  double attention_dropout = 0;
  bool scale_embedding = false;
  int64_t least_width = 1;
};
/// Sizes, activation and dropouts, and the keys without effect, of Marian, BART and their kin.
void describe_transformer(ConfigFields& fields, TransformerConfig& config,
                          const TransformerDefaults& defaults);

// -- What M2M-100, BART and mBART have in common.

/// `start_id`: the default of decoder_start_token_id; none: the key is required.
void describe_bart_like(ConfigFields& fields, TransformerConfig& config, const TransformerDefaults& defaults,
                        std::optional<int32_t> start_id);
/// BART's names of parameters, without norms of embeddings and of stacks.
TransformerFamily bart_like_family(const std::string& model_type);

}  // namespace heed::models
