#include "decode/generation_settings.h"

namespace heed::decode {

TextGeneratorOptions generator_options(const GenerationChoices& choices, const models::LoadedModel& model) {
  TextGeneratorOptions options;
  options.search = continuation_options_of(model);
  SearchOptions& search = options.search;
  search.nbest = choices.samples;
  if (choices.temperature || choices.top_k || choices.top_p || choices.min_p || choices.seed ||
      choices.samples > 1)
    search.sample = true;
  if (choices.temperature) search.sampling.temperature = *choices.temperature;
  if (choices.top_k) search.sampling.top_k = *choices.top_k;
  if (choices.top_p) search.sampling.top_p = *choices.top_p;
  if (choices.min_p) search.sampling.min_p = *choices.min_p;
  if (choices.seed) search.sampling.seed = *choices.seed;
  if (choices.greedy || choices.beam) {
    search.sample = false;
    search.beam_size = choices.greedy ? 1 : *choices.beam;
  }
  if (choices.repetition_penalty) search.repetition_penalty = *choices.repetition_penalty;
  if (choices.max_tokens) {
    search.max_new = *choices.max_tokens;
    search.max_length = 0;
  }
  options.stops = choices.stops;
  options.ignore_end = choices.ignore_end;
  options.special_tokens = choices.special_tokens;
  return options;
}

}  // namespace heed::decode
