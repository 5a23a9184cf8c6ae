#include "cli/search_flags.h"
#include "cli/checked_options.h"

namespace heed::cli {

void add_search_options(Command& app, SearchFlags& flags) {
  add_integer(app, "--beam", flags.beam, "Beam size; 1 is greedy [default: the model's]",
              {1, models::kMostBeams});
  add_number(app, "--length-penalty", flags.length_penalty,
             "Divide scores by length^A; a larger A favours longer translations [default: the model's]", {})
      ->type_name("A");
  add_integer(app, "--max-length", flags.max_length,
              "Maximum length of a translation in tokens, including start and end token", {2, 1 << 20});
  add_integer(app, "--no-repeat-ngram", flags.no_repeat_ngram, "Block repeated n-grams of N tokens; 0: off",
              {0, 1000});
  add_integer(app, "--batch-tokens", flags.batch_tokens,
              "Batch size per thread in source tokens; does not change results [4096]", {1, 1 << 30});
}

decode::TranslatorOptions translator_options(const SearchFlags& flags, const models::LoadedModel& model) {
  decode::TranslatorOptions options;
  options.split_sentences = options.protect_spans = options.true_case = true;
  options.search = decode::search_options_of(model);
  options.alignment.heads = models::read_alignment_heads(model.directory);
  if (flags.beam) {
    options.search.beam_size = *flags.beam;
    options.search.sample = false;
  }
  if (flags.length_penalty) options.search.length_penalty = *flags.length_penalty;
  if (flags.max_length) {
    options.search.max_length = *flags.max_length;
    options.search.max_new = 0;
  }
  if (flags.no_repeat_ngram) options.search.no_repeat_ngram_size = *flags.no_repeat_ngram;
  if (flags.batch_tokens) options.budget.source_tokens = *flags.batch_tokens;
  return options;
}

}  // namespace heed::cli
