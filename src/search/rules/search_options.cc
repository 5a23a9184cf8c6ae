#include "search/rules/search_options.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "search/rules/option_row.h"

namespace heed::search {
namespace {

/// The limit for models without a maximum length.
constexpr int64_t kMaxLengthWithoutPositions = 4096;

void require_sampling(const SamplingOptions& options) {
  require_value("temperature", options.temperature, models::kTemperatures);
  require_value("top_k", options.top_k, models::kTopK);
  require_value("top_p", options.top_p, models::kTopP);
  require_value("min_p", options.min_p, models::kMinP);
}

void require_ids(const SearchOptions& options, const models::AutoregressiveModel& model) {
  const auto require = [&](const char* which, int32_t id) {
    if (id >= 0 && id < model.vocabulary_size()) return;
    fail(ErrorKind::kUsage, "the {} id {} is out of range for a vocabulary of {}", which, id,
         model.vocabulary_size());
  };
  for (const int32_t id : options.forbidden_ids) require("forbidden", id);
  for (const int32_t id : options.begin_forbidden_ids) require("forbidden", id);
  for (const int32_t id : options.second_forbidden_ids) require("forbidden", id);
  for (const int32_t id : options.end_ids) require("end", id);
  if (options.forced_begin_id != -1) require("forced first", options.forced_begin_id);
  if (options.forced_end_id != -1) require("forced last", options.forced_end_id);
}

void require_lengths(const SearchOptions& options) {
  // At least start and end token.
  if (options.max_length != 0 && options.max_length < 2) {
    fail_option(
        "$max_length includes start and end token: it must be at least 2 (0: the model's maximum), not {}",
        options.max_length);
  }
  if (!(options.max_length_factor >= 0) || !std::isfinite(options.max_length_factor)) {
    fail_option("$max_length_factor must not be negative: {}", options.max_length_factor);
  }
  if (options.max_length_offset < 0 || options.min_length < 0 || options.min_new < 0 || options.max_new < 0) {
    fail_option(
        "lengths must not be negative: $max_length_offset {}, $min_length {}, $min_new {}, $max_tokens {}",
        options.max_length_offset, options.min_length, options.min_new, options.max_new);
  }
}

}  // namespace

SearchOptions continuation_options() {
  SearchOptions options;
  options.max_length_factor = 0;
  options.force_end = false;
  return options;
}

namespace {

/// Settings common to translation and language models.
void take_defaults(const models::GenerationDefaults& defaults, SearchOptions& options) {
  options.beam_size = defaults.beams;
  options.max_length = defaults.max_length.value_or(0);
  options.max_new = defaults.max_new.value_or(0);
  if (defaults.max_new) options.max_length = 0;
  options.min_length = defaults.min_length;
  options.min_new = defaults.min_new;
  options.length_penalty = defaults.length_penalty;
  options.early_stopping = defaults.early_stopping;
  options.no_repeat_ngram_size = defaults.no_repeat_ngram_size;
  options.repetition_penalty = defaults.repetition_penalty;
  options.end_ids = defaults.end_ids;
  options.forced_begin_id = defaults.forced_begin_id;
  options.forced_end_id = defaults.forced_end_id;
  options.forbidden_ids = defaults.forbidden_ids;
  options.begin_forbidden_ids = defaults.begin_forbidden_ids;
  options.force_end = defaults.forced_end_id >= 0;
  options.renormalize = defaults.renormalize;
  options.sampling.temperature = defaults.temperature.value_or(1);
  options.sampling.top_k = defaults.top_k.value_or(0);
  options.sampling.top_p = defaults.top_p.value_or(1);
  options.sampling.min_p = defaults.min_p.value_or(0);
}

}  // namespace

SearchOptions search_options_of(const models::LoadedModel& model) {
  constexpr int64_t kUsualMaxLength = 512;
  SearchOptions options;
  take_defaults(model.generation, options);
  const int64_t longest = model.seq2seq().max_length();
  if (!model.generation.max_length && !model.generation.max_new) {
    options.max_length = longest > 0 ? std::min(longest, kUsualMaxLength) : kUsualMaxLength;
  }
  // Other models may answer a short text at length.
  if (!model.seq2seq().translates_sentences()) options.max_length_factor = 0;
  options.sample = model.generation.sample.value_or(false);
  options.shortlist = model.shortlist;
  options.shortlist_in_beams = model.shortlist_in_beams;
  return options;
}

SearchOptions continuation_options_of(const models::LoadedModel& model) {
  const models::GenerationDefaults& defaults = model.generation;
  SearchOptions options = continuation_options();
  take_defaults(defaults, options);
  options.sample = defaults.sample.value_or(defaults.beams == 1);
  options.sampling.top_p = defaults.top_p.value_or(kUsualTopP);
  // max_length counts the prompt, too, so that many new tokens are no further limit.
  options.max_new = defaults.max_new.value_or(defaults.max_length.value_or(kUsualMaxNew));
  return options;
}

SearchOptions with_greedy_at_zero(SearchOptions options) {
  if (!options.sample || options.sampling.temperature != 0) return options;
  options.sample = false;
  options.beam_size = 1;
  return options;
}

bool uses_shortlist(const SearchOptions& options) {
  const bool beams = options.beam_size > 1 && !options.shortlist_in_beams;
  return options.shortlist != nullptr && !options.sample && !beams;
}

std::vector<int32_t> end_ids_of(const SearchOptions& options, const models::AutoregressiveModel& model) {
  if (!options.end_ids.empty()) return options.end_ids;
  return model.end_id() >= 0 ? std::vector{model.end_id()} : std::vector<int32_t>{};
}

void require_valid(const SearchOptions& options, const models::AutoregressiveModel& model) {
  require_value("beam", options.beam_size, models::kBeamSizes);
  require_value("nbest", options.nbest, models::kCounts);
  require_value("no_repeat_ngram", options.no_repeat_ngram_size, models::kNgramSizes);
  require_value("length_penalty", options.length_penalty, models::kLengthPenalties);
  require_value("repetition_penalty", options.repetition_penalty, models::kRepetitionPenalties);
  if (!options.sample && options.nbest > options.beam_size) {
    const bool cold = options.sampling.temperature == 0;  // greedy search, although sampling was asked for
    fail_option("$nbest is {}, which requires a $beam of at least as much, not {}{}", options.nbest,
                options.beam_size, cold ? option_text(", or a $temperature above 0") : "");
  }
  require_ids(options, model);
  if (options.shortlist != nullptr && options.shortlist->vocabulary() != model.vocabulary_size()) {
    fail(ErrorKind::kUsage, "the shortlist is for a vocabulary of {}, but the model has {}",
         options.shortlist->vocabulary(), model.vocabulary_size());
  }
  require_lengths(options);
  if (options.sample) require_sampling(options.sampling);
}

int64_t max_translation_length(const SearchOptions& options, const models::AutoregressiveModel& model,
                               const SentenceLengths& lengths) {
  // The last id is never read again, so the model's maximum allows one more id.
  const auto prompt = static_cast<int64_t>(lengths.prompt);
  int64_t longest = model.max_length() > 0 ? model.max_length() - prompt + 1 : kMaxLengthWithoutPositions;
  if (options.max_length > 0) longest = std::min(longest, options.max_length - prompt);
  if (options.max_new > 0) longest = std::min(longest, options.max_new);
  if (options.max_length_factor > 0) {
    const double relative = options.max_length_factor * static_cast<double>(lengths.source) +
                            static_cast<double>(options.max_length_offset) +
                            static_cast<double>(lengths.prefix);
    if (relative < static_cast<double>(longest)) longest = static_cast<int64_t>(relative);
  }
  return std::max<int64_t>(longest, 1);
}

}  // namespace heed::search
