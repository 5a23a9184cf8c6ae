// What a model directory holds, read without loading the model, so that it works for every architecture.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed::cli {

/// Parameters of one kind in all layers: "model.encoder.layers.*.self_attn".
struct ParameterGroup {
  std::string name;
  int64_t tensors = 0, elements = 0;
};

struct ModelSummary {
  std::string directory, model_type;
  /// What config.json says of its size, in words: {"width", "256"}.
  std::vector<std::pair<std::string, std::string>> dimensions;
  std::vector<ParameterGroup> groups;  ///< in the order of their names
  int64_t parameters = 0;              ///< elements of all tensors that are learnt
  uint64_t bytes = 0;                  ///< of the weights, as stored
  std::vector<std::string> dtypes;     ///< of the weights, as stored
  int64_t vocabulary = 0;
  std::vector<std::string> labels;  ///< of a classifier's classes
  /// Of a Marian model: the length of the vector that its decoder starts from, as far as the file says.
  std::optional<double> start_norm;
  std::string source_language, target_language, licence;  ///< empty where the directory does not say
};

/// Throws what reading the files throws.
ModelSummary summarize_model(const std::string& directory);

nlohmann::ordered_json to_json(const ModelSummary& summary);
/// Lines for people.
std::string to_text(const ModelSummary& summary);

}  // namespace heed::cli
