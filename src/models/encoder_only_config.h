// config.json of encoder-only models, and their rows in the table of architectures.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/known_keys.h"
#include "models/architecture.h"
#include "models/encoder_only.h"
#include "models/fine_tuning.h"

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
  std::string width = "hidden_size", layers = "num_hidden_layers", heads = "num_attention_heads";
  std::string inner_width = "intermediate_size", activation = "hidden_act";
  std::string dropout = "hidden_dropout_prob", attention_dropout = "attention_probs_dropout_prob";
  std::string classifier_dropout = "classifier_dropout";
  std::string norm_epsilon = "layer_norm_eps";  ///< no key: 1e-12
};

/// The keys that read_bert_like() and read_head_settings() read, `more`, and what all configs may contain.
KnownKeys encoder_keys(const BertLikeKeys& names, KnownKeys more);

/// The head that "architectures" names. Throws kFormat for another class than those of the family.
EncoderHead read_head(const JsonObject& json, const EncoderOnlyFamily& family);

/// Sizes, activation, dropouts and padding id; max_position_embeddings is the maximum length. Defaults are
/// those of an empty config.
EncoderOnlyConfig read_bert_like(const JsonObject& json, const EncoderOnlyFamily& family, EncoderHead head,
                                 const BertLikeKeys& names);
/// Learned positions begin after the row `padding`, which leaves fewer rows for tokens.
void put_positions_after(const JsonObject& json, int32_t padding, EncoderOnlyConfig& config);
/// The labels of a classifier; whether the output of a masked language model is tied.
void read_head_settings(const JsonObject& json, EncoderOnlyConfig& config);

/// The same keys for config.json.
nlohmann::ordered_json bert_like_json(const EncoderOnlyConfig& config, const BertLikeKeys& names);

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

/// A family's row: kFamily() is the family, kRead(json, head) reads a config, kMake(settings) is the config
/// for the settings of a recipe.
template <auto kFamily, auto kRead, auto kMake>
Architecture encoder_architecture_of(const EncoderRow& row) {
  Architecture architecture = encoder_architecture(row);
  architecture.make = [](const ModelSettings& settings) { return make_encoder_only(kMake(settings)); };
  architecture.read = [](const JsonObject& json) {
    return make_encoder_only(kRead(json, read_head(json, kFamily())));
  };
  architecture.read_encoder = [](const JsonObject& json) {
    return make_encoder_only(kRead(json, EncoderHead::kNone));
  };
  architecture.read_for_fine_tuning = [](const JsonObject& json, const ModelSettings& text) {
    return encoder_for_fine_tuning(kRead(json, EncoderHead::kNone), text);
  };
  return architecture;
}

}  // namespace heed::models
