// BERT's config.json in the format of Hugging Face's BertConfig.
#pragma once

#include <memory>

#include "base/json_file.h"
#include "models/architecture.h"
#include "models/bert.h"

namespace heed::models {

/// Reads a config with model_type "bert" and creates the model that "architectures" names:
/// BertForSequenceClassification with the labels of "id2label", BertForMaskedLM or BertForPreTraining. Throws
/// kFormat for missing, invalid, contradictory or unsupported values.
std::unique_ptr<Model> read_bert(const JsonObject& config);

/// The config.json of a classifier, or of a masked language model if there are no labels.
nlohmann::ordered_json bert_config_json(const BertConfig& config);

/// The row of the table of architectures.
Architecture bert_architecture();

}  // namespace heed::models
