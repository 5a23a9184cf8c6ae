#include "decode/translation_settings.h"

#include <algorithm>

#include "base/text/option_error.h"
#include "models/alignment_heads.h"

namespace heed::decode {

TranslatorOptions default_translator_options(const models::LoadedModel& model) {
  TranslatorOptions options;
  options.split_sentences = options.protect_spans = options.true_case = true;
  options.search = search_options_of(model);
  options.alignment.heads = models::read_alignment_heads(model.directory);
  return options;
}

void apply(const SearchChoices& choices, TranslatorOptions& options) {
  if (choices.beam) {
    options.search.beam_size = *choices.beam;
    options.search.sample = false;
  }
  if (choices.length_penalty) options.search.length_penalty = *choices.length_penalty;
  if (choices.max_length) {
    options.search.max_length = *choices.max_length;
    options.search.max_new = 0;
  }
  if (choices.no_repeat_ngram) options.search.no_repeat_ngram_size = *choices.no_repeat_ngram;
  if (choices.batch_tokens) options.budget.source_tokens = *choices.batch_tokens;
}

void apply(const TranslationChoices& choices, TranslatorOptions& options) {
  if (choices.sample && choices.search.beam) {
    fail_option("$sample and $beam exclude each other: give one of them");
  }
  apply(choices.search, options);
  options.search.nbest = choices.nbest;
  if (!choices.search.beam) options.search.beam_size = std::max(options.search.beam_size, choices.nbest);
  if (choices.sample) options.search.sample = true;
  SamplingOptions& sampling = options.search.sampling;
  if (choices.temperature) sampling.temperature = *choices.temperature;
  if (choices.top_k) sampling.top_k = *choices.top_k;
  if (choices.top_p) sampling.top_p = *choices.top_p;
  sampling.seed = choices.seed;
  options.split_sentences = !choices.whole_lines;
  options.protect_spans = !choices.no_placeholders;
  options.glossary = choices.glossary;
  options.constraints = choices.constraints;
  options.align = choices.align;
}

}  // namespace heed::decode
