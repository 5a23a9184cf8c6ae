// The config and the weights of a model directory, whichever program wrote it. Everything that opens models
// uses these functions, so that formats are known here only.
#pragma once

#include <string>

#include "base/json_file.h"
#include "io/weight_files.h"
#include "nn/parameters.h"

namespace heed::models {

/// config.json, or its equivalent for a directory of CTranslate2. Throws kNotFound, kFile or kFormat.
JsonObject read_config(const std::string& directory);
/// The weights under the names of Hugging Face's library. Throws as WeightFiles::open().
WeightFiles open_weights(const std::string& directory);

/// Throws kFormat if a parameter is stored under several names with different values, or a tensor that the
/// model computes with other values. Reads these tensors, one at a time.
void require_equal_copies(const std::string& directory, const nn::ParameterTable& table);

}  // namespace heed::models
