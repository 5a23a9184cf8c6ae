// config.json of encoder-only models, and their rows in the table of architectures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "models/architecture.h"
#include "models/config/config_fields.h"
#include "models/directory/fine_tuning.h"
#include "models/stacks/encoder_only.h"

namespace heed::models {

Architecture bert_architecture();
Architecture roberta_architecture();
Architecture xlm_roberta_architecture();
Architecture distilbert_architecture();
Architecture mpnet_architecture();
Architecture modernbert_architecture();

const EncoderOnlyFamily& bert_family();
/// BERT's config with the default sizes, and no vocabulary yet.
EncoderOnlyConfig bert_config(EncoderHead head);

// ---- For the files of the families -----------------------------------------------------------------------

/// The names of BERT's keys, or those that another family has for the same.
struct BertLikeKeys {
  StackKeys sizes{};
  std::string inner_width = "intermediate_size", activation = "hidden_act";
  std::string dropout = "hidden_dropout_prob", attention_dropout = "attention_probs_dropout_prob";
  std::string classifier_dropout = "classifier_dropout";
  std::string norm_epsilon = "layer_norm_eps";  ///< no key: 1e-12
};

/// The values of keys that a config leaves out.
struct BertLikeDefaults {
  double norm_epsilon = 1e-12;
  double dropout = 0.1;                           ///< also of attention
  std::optional<double> classifier_dropout = {};  ///< none: the same as `dropout`
  int32_t padding_id = 0;
};

/// The head that "architectures" names. Throws kFormat for another class than those of the family.
EncoderHead read_head(const JsonObject& json, const EncoderOnlyFamily& family);

/// Sizes, activation, dropouts, special tokens, and what depends on the head.
void describe_bert_like(ConfigFields& fields, EncoderOnlyConfig& config, const BertLikeKeys& names,
                        const BertLikeDefaults& defaults);
/// max_position_embeddings: the maximum length and the rows up to `padding`, -1 for none, which stand before
/// the first position.
void describe_max_length(ConfigFields& fields, EncoderOnlyConfig& config, int32_t padding,
                         int64_t usual = 512);
/// Refuses positions of another kind than learned ones that are added to the embeddings.
void describe_absolute_positions(ConfigFields& fields);

/// The keys of a config.json.
KnownKeys encoder_only_keys(const EncoderOnlyFamily& family);
/// Reads a config.json. Throws kFormat for missing, invalid or unsupported values.
EncoderOnlyConfig read_encoder_only(const JsonObject& json, const EncoderOnlyFamily& family,
                                    EncoderHead head);
/// The config.json.
nlohmann::ordered_json encoder_only_json(const EncoderOnlyConfig& config);

/// The config of a classifier for the settings of a recipe.
EncoderOnlyConfig encoder_config(const ModelSettings& settings, const EncoderOnlyFamily& family);

/// A family's row without functions.
struct EncoderRow {
  std::string name, description, model_type;
  std::vector<std::string> dropout_keys, attention_dropout_keys;  ///< of config.json
  bool token_types = false;                                       ///< whether the family reads them
};
Architecture encoder_architecture(const EncoderRow& row);
/// A classifier of the labels of `text`, from a model with any head or none.
FineTunedModel encoder_for_fine_tuning(EncoderOnlyConfig config, const ModelSettings& text);

/// A family's row: kFamily() is the family, kMake(settings) the config for the settings of a recipe.
template <auto kFamily, auto kMake>
Architecture encoder_architecture_of(const EncoderRow& row) {
  Architecture architecture = encoder_architecture(row);
  architecture.make = [](const ModelSettings& settings) { return make_encoder_only(kMake(settings)); };
  architecture.keys = [](const std::string&) { return encoder_only_keys(kFamily()); };
  architecture.read = [](const JsonObject& json) {
    return make_encoder_only(read_encoder_only(json, kFamily(), read_head(json, kFamily())));
  };
  architecture.read_encoder = [](const JsonObject& json) {
    return make_encoder_only(read_encoder_only(json, kFamily(), EncoderHead::kNone));
  };
  architecture.read_for_fine_tuning = [](const JsonObject& json, const ModelSettings& text) {
    return encoder_for_fine_tuning(read_encoder_only(json, kFamily(), EncoderHead::kNone), text);
  };
  return architecture;
}

}  // namespace heed::models
