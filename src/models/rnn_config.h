// The config.json of a recurrent model: a model_type of its own, with keys in the manner of Hugging Face.
#pragma once

#include "base/json_file.h"
#include "models/architecture.h"
#include "models/rnn_seq2seq.h"

namespace heed::models {

/// Reads a config whose model_type is "heed_rnn". Throws kFormat for anything missing, unknown, out of range,
/// or that does not fit together.
RnnConfig read_rnn_config(const JsonObject& config);
nlohmann::ordered_json rnn_config_json(const RnnConfig& config);

/// Its row in the table of architectures.
Architecture rnn_architecture();

}  // namespace heed::models
