#include "decode/search_options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace heed::decode {
namespace {

/// A model without positions has no longest sequence of its own; some limit there must be.
constexpr int64_t kLongestWithoutPositions = 4096;

void require_sampling(const SamplingOptions& options) {
  if (!(options.temperature > 0) || !std::isfinite(options.temperature)) {
    fail(ErrorKind::kUsage, "the temperature must be above 0, not {}; for the likeliest words, do not sample",
         options.temperature);
  }
  if (options.top_k < 0)
    fail(ErrorKind::kUsage, "top-k must be at least 1, or 0 for all words, not {}", options.top_k);
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    fail(ErrorKind::kUsage, "top-p must be above 0 and at most 1, not {}", options.top_p);
  }
  if (!(options.min_p >= 0 && options.min_p <= 1)) {
    fail(ErrorKind::kUsage, "min-p must be from 0 to 1, not {}", options.min_p);
  }
}

void require_lengths(const SearchOptions& options) {
  // The start token and the end token are two.
  if (options.max_length != 0 && options.max_length < 2) {
    fail(ErrorKind::kUsage,
         "max-length counts start and end: it must be at least 2 (0 for the model's own), not {}",
         options.max_length);
  }
  if (!(options.max_length_factor >= 0) || !std::isfinite(options.max_length_factor)) {
    fail(ErrorKind::kUsage, "max-length-factor must not be negative: {}", options.max_length_factor);
  }
  if (options.max_length_offset < 0 || options.min_length < 0 || options.max_new < 0) {
    fail(ErrorKind::kUsage, "lengths must not be negative: max-length-offset {}, min-length {}, max-new {}",
         options.max_length_offset, options.min_length, options.max_new);
  }
}

}  // namespace

SearchOptions continuation_options() {
  SearchOptions options;
  options.max_length_factor = 0;
  options.force_end = false;
  return options;
}

SearchOptions search_options_of(const models::LoadedModel& model) {
  const models::GenerationDefaults& defaults = model.generation;
  SearchOptions options;
  options.shortlist = model.shortlist;
  options.shortlist_in_beams = model.shortlist_in_beams;
  options.beam_size = defaults.beams;
  options.max_length = defaults.max_length;
  options.length_penalty = defaults.length_penalty;
  options.early_stopping = defaults.early_stopping;
  options.no_repeat_ngram_size = defaults.no_repeat_ngram_size;
  options.forbidden_ids = defaults.forbidden_ids;
  options.force_end = defaults.forced_end_id >= 0;
  options.renormalize = defaults.renormalize;
  return options;
}

void require_valid(const SearchOptions& options, const models::Generator& model) {
  const auto at_least = [](const char* what, int64_t least, int64_t value) {
    if (value < least) fail(ErrorKind::kUsage, "{} must be at least {}, not {}", what, least, value);
  };
  at_least("the beam size", 1, options.beam_size);
  at_least("the number of translations (n-best)", 1, options.nbest);
  at_least("the n-gram size that must not repeat", 0, options.no_repeat_ngram_size);
  if (!options.sample && options.nbest > options.beam_size) {
    fail(ErrorKind::kUsage, "{} translations of each sentence need a beam of at least that size, not {}",
         options.nbest, options.beam_size);
  }
  if (!std::isfinite(options.length_penalty)) {
    fail(ErrorKind::kUsage, "the length penalty must be a finite number, not {}", options.length_penalty);
  }
  if (!(options.repetition_penalty > 0) || !std::isfinite(options.repetition_penalty)) {
    fail(ErrorKind::kUsage, "the repetition penalty must be above 0, not {}", options.repetition_penalty);
  }
  for (const int32_t id : options.forbidden_ids) {
    if (id < 0 || id >= model.vocabulary_size()) {
      fail(ErrorKind::kUsage, "the forbidden id {} is outside the vocabulary of {}", id,
           model.vocabulary_size());
    }
  }
  if (options.shortlist != nullptr && options.shortlist->vocabulary() != model.vocabulary_size()) {
    fail(ErrorKind::kUsage, "the shortlist is for a vocabulary of {}, and the model has {}",
         options.shortlist->vocabulary(), model.vocabulary_size());
  }
  require_lengths(options);
  if (options.sample) require_sampling(options.sampling);
}

int64_t longest_translation(const SearchOptions& options, const models::Generator& model,
                            const SentenceLengths& lengths) {
  // The last id is never read again, so a model reads as many as there are ids, and of the beginning all but
  // one more.
  const auto beginning = static_cast<int64_t>(lengths.beginning);
  int64_t longest = model.longest() > 0 ? model.longest() - beginning + 1 : kLongestWithoutPositions;
  if (options.max_length > 0) longest = std::min(longest, options.max_length - beginning);
  if (options.max_new > 0) longest = std::min(longest, options.max_new);
  if (options.max_length_factor > 0) {
    const double relative = options.max_length_factor * static_cast<double>(lengths.source) +
                            static_cast<double>(options.max_length_offset) +
                            static_cast<double>(lengths.prefix);
    if (relative < static_cast<double>(longest)) longest = static_cast<int64_t>(relative);
  }
  return std::max<int64_t>(longest, 1);
}

}  // namespace heed::decode
