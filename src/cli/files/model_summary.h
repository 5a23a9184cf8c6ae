// Summary of a model directory, read without loading the model, so it works for any architecture.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files/model_inventory.h"

namespace heed::cli {

/// The parameters of one module in all layers: "model.encoder.layers.*.self_attn".
struct ParameterGroup {
  std::string name;
  int64_t tensors = 0, elements = 0;
};

struct ModelSummary {
  std::string directory, model_type;
  /// Dimensions from config.json, with readable names: {"width", "256"}.
  std::vector<std::pair<std::string, std::string>> dimensions;
  std::vector<ParameterGroup> groups;  ///< sorted by name
  int64_t parameters = 0;              ///< elements of all trainable tensors
  uint64_t bytes = 0;                  ///< size of the stored weights
  std::vector<std::string> dtypes;     ///< data types of the stored weights
  int64_t vocabulary = 0;
  std::vector<std::string> labels;  ///< classes of a classifier

  /// Marian models: the Euclidean norm of the decoder's start embedding, if known.
  std::optional<double> start_norm;
  std::string source_language, target_language, licence;  ///< empty if unknown
  std::string format;   ///< of the weight files: "safetensors", "PyTorch", "CTranslate2"
  std::string problem;  ///< why Heed cannot open the model; empty if it can
};

/// Throws the errors of reading the files.
ModelSummary summarize_model(const ModelInventory& files);

nlohmann::ordered_json to_json(const ModelSummary& summary);
/// Readable text.
std::string to_text(const ModelSummary& summary);

}  // namespace heed::cli
