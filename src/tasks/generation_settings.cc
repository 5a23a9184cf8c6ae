#include "tasks/generation_settings.h"

#include "tasks/generate_options.h"

namespace heed::tasks {
namespace {

void apply_sampling(const GenerateOptions& choices, search::SearchOptions& search) {
  search::SamplingOptions& sampling = search.sampling;
  if (choices.temperature) sampling.temperature = *choices.temperature;
  if (choices.top_k) sampling.top_k = *choices.top_k;
  if (choices.top_p) sampling.top_p = *choices.top_p;
  if (choices.min_p) sampling.min_p = *choices.min_p;
  if (choices.seed) sampling.seed = *choices.seed;
  if (choices.temperature || choices.top_k || choices.top_p || choices.min_p || choices.seed ||
      search.nbest > 1) {
    search.sample = true;
  }
}

}  // namespace

TextGeneratorOptions generator_options(const models::LoadedModel& model, const GenerateOptions& choices,
                                       int samples) {
  search::require_valid(choices);
  search::require_value("samples", samples, models::kCounts);
  TextGeneratorOptions options;
  options.search = search::continuation_options_of(model);
  search::SearchOptions& search = options.search;
  search.nbest = samples;
  apply_sampling(choices, search);
  if (choices.greedy || choices.beam) {
    search.sample = false;
    search.beam_size = choices.beam.value_or(1);
  }
  const bool greedy = choices.greedy || (search.sample && search.sampling.temperature == 0);
  if (greedy && samples > 1) {
    fail_option("$nbest is {}, but greedy search{} gives one text", samples,
                choices.greedy ? "" : ", which a temperature of 0 is,");
  }
  if (choices.repetition_penalty) search.repetition_penalty = *choices.repetition_penalty;
  if (choices.max_tokens) {
    search.max_new = *choices.max_tokens;
    search.max_length = 0;
  }
  constexpr int kUsualDraftTokens = 4;
  search.draft_tokens = choices.draft_tokens.value_or(kUsualDraftTokens);
  options.stops = choices.stop;
  options.ignore_end = choices.ignore_end;
  options.special_tokens = choices.special_tokens;
  return options;
}

}  // namespace heed::tasks
