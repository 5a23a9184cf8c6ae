#include "cli/search_flags.h"
#include "cli/checked_options.h"
#include "cli/command.h"

namespace heed::cli {

void add_search_options(Command& app, SearchFlags& flags) {
  app.group(kSearchOptions);
  add_integer(app, "--beam", flags.beam, "Beam size; 1 is greedy [default: the model's]",
              {1, models::kMaxBeamSize});
  add_number(app, "--length-penalty", flags.length_penalty,
             "Divide scores by length^A; a larger A favours longer translations [default: the model's]", {})
      ->type_name("A");
  add_integer(app, "--max-length", flags.max_length,
              "Maximum length of a translation in tokens, including start and end token", {2, 1 << 20});
  add_integer(app, "--no-repeat-ngram", flags.no_repeat_ngram, "Block repeated n-grams of N tokens; 0: off",
              {0, 1000});
  add_integer(app, "--batch-tokens", flags.batch_tokens,
              "Batch size per thread in source tokens; does not change results [default: 4096]",
              {1, 1 << 30});
}

void add_constraint_options(Command& app, decode::Constraints& constraints) {
  app.group("Constraints");
  app.add_option("--prefix", constraints.prefix, "Target prefix: every translation begins with this text")
      ->type_name("TEXT");
  app.add_option("--require", constraints.required,
                 "Text that every translation must contain; may be repeated")
      ->repeatable()
      ->type_name("TEXT");
  app.add_option("--forbid", constraints.forbidden,
                 "Word or phrase that no translation may contain; without capitals, in any case; WORD*: all "
                 "words that begin so; may be repeated")
      ->repeatable()
      ->type_name("TEXT");
}

decode::TranslatorOptions translator_options(const SearchFlags& flags, const models::LoadedModel& model) {
  decode::TranslatorOptions options = decode::default_translator_options(model);
  decode::apply(flags, options);
  return options;
}

}  // namespace heed::cli
