// The generation settings of a model directory: generation_config.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/model_inventory.h"
#include "base/text/json_file.h"
#include "models/alignment_heads.h"
#include "models/model.h"
#include "models/search_ranges.h"

namespace heed::models {

/// When beam search ends: kFalse: when no running hypothesis can beat the finished ones at its current
/// length; kTrue: when there are enough finished hypotheses; kNever: when no running hypothesis can beat them
/// at any length.
enum class EarlyStopping { kFalse, kTrue, kNever };

struct GenerationDefaults {
  int beams = 1;
  std::optional<int64_t> max_length;  ///< counts the start token, or all of a prompt
  std::optional<int64_t> max_new;     ///< counts what is written, end included; rules out max_length
  int64_t min_length = 0;             ///< same counting as max_length
  int64_t min_new = 0;                ///< same counting as max_new
  double length_penalty = 1;
  EarlyStopping early_stopping = EarlyStopping::kFalse;
  int no_repeat_ngram_size = 0;
  double repetition_penalty = 1;
  std::vector<int32_t> end_ids;              ///< eos_token_id, each of which ends a text; empty: the model's
  int32_t forced_begin_id = -1;              ///< the first id of every translation; -1: any
  int32_t forced_end_id = -1;                ///< the last id at max_length; -1: any
  std::vector<int32_t> forbidden_ids;        ///< suppress_tokens, and bad_words_ids of a single id
  std::vector<int32_t> begin_forbidden_ids;  ///< begin_suppress_tokens: forbidden as the first id
  std::vector<AlignmentHead> alignment_heads;  ///< empty: none are named
  bool renormalize = false;                    ///< renormalize log-probabilities after suppressing tokens

  /// Sampling settings; empty ones have the command's defaults.
  std::optional<bool> sample;
  std::optional<double> temperature, top_p, min_p;
  std::optional<int> top_k;
};

/// Calls visit(key, field, range) for numbers of generation_config.json and visit(key, field) for switches.
template <typename Defaults, typename Visit>
void visit_generation_defaults(Defaults& d, Visit&& visit) {
  visit("do_sample", d.sample);
  visit("length_penalty", d.length_penalty, kLengthPenalties);
  visit("max_length", d.max_length, kLengths);
  visit("max_new_tokens", d.max_new, kNewTokens);
  visit("min_length", d.min_length, kMinLengths);
  visit("min_new_tokens", d.min_new, kMinLengths);
  visit("min_p", d.min_p, kMinP);
  visit("no_repeat_ngram_size", d.no_repeat_ngram_size, kNgramSizes);
  visit("num_beams", d.beams, kBeamSizes);
  visit("renormalize_logits", d.renormalize);
  visit("repetition_penalty", d.repetition_penalty, kRepetitionPenalties);
  visit("temperature", d.temperature, kTemperatures);
  visit("top_k", d.top_k, kTopK);
  visit("top_p", d.top_p, kTopP);
}

/// Reads `directory`/generation_config.json, or if missing the keys of config.json as in older directories,
/// for a model of this task. Throws kFormat, with the key, for unsupported settings that would change the
/// output. Models that do not generate text have no settings.
GenerationDefaults read_generation_defaults(const ModelInventory& files, const JsonObject& config, Task task);

/// Special token ids for search; -1: none.
struct SpecialIds {
  int32_t padding = -1;
  int32_t end = -1;    ///< eos_token_id, where the settings have no end_ids
  int32_t begin = -1;  ///< bos_token_id
  int32_t start = -1;  ///< decoder_start_token_id of encoder-decoder models
};

/// Those of a model with this config.json.
SpecialIds special_ids_of(const Model& model, const JsonObject& config);

/// Writes generation_config.json, without keys that are at the defaults of transformers.
void write_generation_defaults(const std::string& directory, const GenerationDefaults& defaults,
                               const SpecialIds& ids);

}  // namespace heed::models
