// BERT's config.json, as Hugging Face's BertConfig writes it.
#pragma once

#include <memory>

#include "base/json_file.h"
#include "models/architecture.h"
#include "models/bert.h"

namespace heed::models {

/// Reads a config whose model_type is "bert", and makes the model that "architectures" names:
/// BertForSequenceClassification with the labels of "id2label", BertForMaskedLM or BertForPreTraining. Throws
/// kFormat for anything missing, out of range, contradictory, or that this library cannot do.
std::unique_ptr<Model> read_bert(const JsonObject& config);

/// The config.json of a classifier, or of a masked language model where there are no labels.
nlohmann::ordered_json bert_config_json(const BertConfig& config);

/// The row of the table of architectures.
Architecture bert_architecture();

}  // namespace heed::models
