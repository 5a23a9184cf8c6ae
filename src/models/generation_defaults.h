// What a model directory says about how its model likes to be searched: generation_config.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "models/model.h"

namespace heed::models {

/// Where early_stopping is kFalse, a sentence is done when no running hypothesis can still beat the finished
/// ones at its present length; kTrue: as soon as there are enough; kNever: at any length.
enum class EarlyStopping { kFalse, kTrue, kNever };

/// The largest beam that may be asked for, in files and on the command line.
constexpr int kMostBeams = 1024;

struct GenerationDefaults {
  int beams = 1;
  std::optional<int64_t> max_length;  ///< counts the start token, or all of a prompt
  std::optional<int64_t> max_new;     ///< counts what is written, end included; rules out max_length
  int64_t min_length = 0;             ///< counts as max_length
  int64_t min_new = 0;                ///< counts as max_new
  double length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::kFalse;
  int no_repeat_ngram_size = 0;
  double repetition_penalty = 1;
  std::vector<int32_t> end_ids;              ///< eos_token_id, each of which ends a text; empty: the model's
  int32_t forced_begin_id = -1;              ///< the first id of every translation; -1: any
  int32_t forced_end_id = -1;                ///< the last id that max_length has room for; -1: any
  std::vector<int32_t> forbidden_ids;        ///< suppress_tokens, and bad_words_ids of a single id
  std::vector<int32_t> begin_forbidden_ids;  ///< begin_suppress_tokens: forbidden as the first id
  bool renormalize = false;                  ///< log-probabilities again after forbidding
  /// Whether ids are drawn, and how; what the directory does not say is left to the command.
  std::optional<bool> sample;
  std::optional<double> temperature, top_p, min_p;
  std::optional<int> top_k;
};

/// Reads `directory`/generation_config.json or, where there is none, what older directories hold in
/// config.json instead, for a model of this task. Throws kFormat, by name, for whatever would change what is
/// written and cannot be done. Models that write nothing have no defaults.
GenerationDefaults read_generation_defaults(const std::string& directory, const JsonObject& config,
                                            Task task);

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
