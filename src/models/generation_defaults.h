// What a model directory says about how its model likes to be searched: generation_config.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_file.h"

namespace heed::models {

/// Where early_stopping is kFalse, a sentence is done when no running hypothesis can still beat the finished
/// ones at its present length; kTrue: as soon as there are enough; kNever: at any length.
enum class EarlyStopping { kFalse, kTrue, kNever };

struct GenerationDefaults {
  int beams = 1;
  int64_t max_length = 512;  ///< counts the start token
  double length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::kFalse;
  int no_repeat_ngram_size = 0;
  int32_t forced_end_id = -1;          ///< forced at max_length; -1: none
  std::vector<int32_t> forbidden_ids;  ///< bad_words_ids of a single id
  bool renormalize = false;            ///< log-probabilities again after forbidding
};

/// Reads `directory`/generation_config.json, and what older directories hold in config.json instead.
GenerationDefaults read_generation_defaults(const std::string& directory, const JsonObject& config);

/// Ids that a search must know; -1: none.
struct SpecialIds {
  int32_t padding = -1;
  int32_t end = -1;
  int32_t begin = -1;  ///< bos_token_id
  int32_t start = -1;  ///< decoder_start_token_id, of what has an encoder too
};

/// Writes generation_config.json.
void write_generation_defaults(const std::string& directory, const GenerationDefaults& defaults,
                               const SpecialIds& ids);

}  // namespace heed::models
