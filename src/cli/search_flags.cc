#include "cli/search_flags.h"

namespace heed::cli {

void add_search_options(CLI::App& app, SearchFlags& flags) {
  app.add_option("--beam", flags.beam, "Hypotheses followed at a time; 1 is greedy [what the model says]")
      ->check(CLI::Range(1, models::kMostBeams).description(""))
      ->type_name("N");
  app.add_option(
         "--length-penalty", flags.length_penalty,
         "Scores are divided by length^A: a larger A favours longer translations [what the model says]")
      ->type_name("A");
  app.add_option("--max-length", flags.max_length, "Longest translation in tokens, start and end counted")
      ->check(CLI::Range(int64_t{2}, int64_t{1} << 20).description(""))
      ->type_name("N");
  app.add_option("--no-repeat-ngram", flags.no_repeat_ngram,
                 "No N tokens in a row occur twice in a translation")
      ->check(CLI::Range(0, 1000).description(""))
      ->type_name("N");
  app.add_option("--batch-tokens", flags.batch_tokens,
                 "Source tokens translated at a time on a thread; changes no result")
      ->check(CLI::Range(size_t{1}, size_t{1} << 30).description(""))
      ->type_name("N");
}

decode::TranslatorOptions translator_options(const SearchFlags& flags, const models::LoadedModel& model) {
  decode::TranslatorOptions options;
  options.search = decode::search_options_of(model);
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
  if (flags.batch_tokens > 0) options.budget.source_tokens = flags.batch_tokens;
  return options;
}

}  // namespace heed::cli
