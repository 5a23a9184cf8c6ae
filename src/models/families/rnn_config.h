// config.json of recurrent models, with a model_type of Heed and keys in Hugging Face's style.
#pragma once

#include "base/text/json_file.h"
#include "models/architecture.h"
#include "models/stacks/rnn_seq2seq.h"

namespace heed::models {

/// Reads a config with model_type "heed_rnn". Throws kFormat for missing, unknown, invalid or inconsistent
/// values.
RnnConfig read_rnn_config(const JsonObject& config);
nlohmann::ordered_json rnn_config_json(const RnnConfig& config);

/// Its row in the table of architectures.
Architecture rnn_architecture();

}  // namespace heed::models
