// The config and the weights of a model directory, whichever program wrote it. Everything that opens models
// uses these functions, so that formats are known here only.
#pragma once

#include <optional>
#include <string>

#include "base/text/json_file.h"
#include "io/weight_files.h"
#include "nn/storage/parameters.h"

namespace heed::models {

/// Config and weights of a directory, each read once.
class ModelFiles {
 public:
  /// Throws as read_config(), and as open_weights() for a directory of CTranslate2.
  explicit ModelFiles(std::string directory);
  const JsonObject& config() const { return *config_; }
  /// Throws as open_weights(). Call it once.
  WeightFiles take_weights();

 private:
  std::string directory_;
  std::optional<JsonObject> config_;
  std::optional<WeightFiles> weights_;  // of CTranslate2, where the config follows from the weights
};

/// config.json, or its equivalent for a directory of CTranslate2. Throws kNotFound, kFile or kFormat.
JsonObject read_config(const std::string& directory);
/// The weights under the names of Hugging Face's library. Throws as WeightFiles::open().
WeightFiles open_weights(const std::string& directory);

/// Throws kFormat if a parameter is stored under several names with different values, or a tensor that the
/// model computes with other values. Reads these tensors, one at a time.
void require_equal_copies(const std::string& directory, const nn::ParameterTable& table);

}  // namespace heed::models
