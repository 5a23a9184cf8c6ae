// The weights of a model directory, written again as safetensors: in another type, in one file or shards.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/weight_files.h"

namespace heed::cli {

struct WeightConversion {
  DType dtype = DType::kFloat32;                       ///< of floating-point tensors; others keep theirs
  uint64_t max_shard_bytes = uint64_t{5'000'000'000};  ///< larger weights are split; one tensor never is
  /// Tensors that are written under a second name too: (second name, name in the files).
  std::vector<std::pair<std::string, std::string>> copies{};
  std::set<std::string> left_out{};  ///< names in the files that are not written
};

/// Writes model.safetensors, or shards with model.safetensors.index.json, to the directory `output`. Holds
/// one shard in memory. Tensors have the shapes that transformers wants (models::shape_in_files). Throws
/// kNumeric for a number that overflows in the type.
void convert_weights(const WeightFiles& files, const std::string& output, const WeightConversion& conversion);

}  // namespace heed::cli
