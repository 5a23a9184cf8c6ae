// heed score: log-probabilities of given translations under a translation model, or of texts under a language
// model.

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/text/json_file.h"
#include "base/thread_pool.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/jobs/score_texts.h"
#include "cli/jobs/sentence_pairs.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/input_notes.h"
#include "translate/translator.h"

namespace heed::cli {
namespace {

/// Pairs that are in memory at a time, sorted into batches of similar lengths.
constexpr size_t kPairsAtATime = 4096;

struct ScoreOptions {
  ModelChoice model;
  PairsInput input;
  std::vector<std::string> arguments;
  ScoreTextsOptions texts;  ///< --output, --json, --summary and --threads apply to pairs, too
};

struct PairTotals {
  size_t pairs = 0, tokens = 0;
  double log_probability = 0;
  /// exp of the mean negative log-probability per token.
  /// NaN, in JSON null, without tokens.
  double perplexity() const { return std::exp(-log_probability / static_cast<double>(tokens)); }
};

std::string to_json(const std::pair<std::string, std::string>& pair, const translate::TargetScore& score) {
  const auto tokens = static_cast<double>(score.ids.size());
  return nlohmann::ordered_json{{"source", pair.first},
                                {"target", pair.second},
                                {"log_probability", score.log_probability},
                                {"perplexity", std::exp(-score.log_probability / tokens)},
                                {"pieces", score.pieces},
                                {"log_probabilities", score.log_probabilities}}
      .dump();
}

std::string to_json(const PairTotals& totals) {
  return nlohmann::ordered_json{{"pairs", totals.pairs},
                                {"tokens", totals.tokens},
                                {"log_probability", totals.log_probability},
                                {"perplexity", totals.perplexity()}}
      .dump();
}

std::string to_text(const PairTotals& totals) {
  if (totals.tokens == 0) return "0 pairs: nothing to score";
  return fmt::format("{}, {}, log-probability {:.4f}, perplexity {:.4f}", counted(totals.pairs, "pair"),
                     counted(totals.tokens, "token"), totals.log_probability, totals.perplexity());
}

int run_score_pairs(const ScoreOptions& options, const models::ModelDirectory& directory) {
  const ScoreTextsOptions& o = options.texts;
  GivenPairs given(options.arguments, options.input, o.job.part);
  LineOutput output = open_output({.options = o.job, .models = {directory.path()}}, given.input(), o.output);
  if (output.complete()) return kExitDone;
  given.skip(output.lines_done());
  const TranslationModel model = load_translation_model(options.model, directory);
  ThreadPool pool(o.common.threads);
  const translate::Translator translator(model.loaded, model.tokenizer, pool,
                                         {.search = search::search_options_of(model.loaded)});
  PairTotals totals;
  for (NumberedPairs pairs; given.next(kPairsAtATime, pairs);) {
    require_max_length(model, pairs);
    note_source_language(model, pairs, given.input(), o.common.quiet);
    const std::vector<translate::TargetScore> scores = translator.score(pairs.pairs, stop_on_interrupt());
    std::vector<std::string> lines;
    for (size_t n = 0; n < scores.size(); ++n) {
      ++totals.pairs;
      totals.tokens += scores[n].ids.size();
      totals.log_probability += scores[n].log_probability;
      lines.push_back(o.json ? to_json(pairs.pairs[n], scores[n])
                             : fmt::format("{:.6f}", scores[n].log_probability));
    }
    if (!o.summary) write_for_each_line(pairs, lines, output);
  }
  if (o.summary) output.write_line(o.json ? to_json(totals) : to_text(totals));
  output.commit(given.fingerprint());
  given.note_extra_columns(o.common.quiet);
  if (!o.summary && !o.common.quiet && totals.pairs > 0) {
    std::fprintf(stderr, "%s\n", to_text(totals).c_str());
  }
  return kExitDone;
}

/// For a language model, the arguments are texts, or one file of texts.
ScoreTextsOptions text_options(const ScoreOptions& o) {
  ScoreTextsOptions options = o.texts;
  options.lossy = o.input.lines.lossy;
  if (o.arguments.size() == 1 && options.input.empty() && names_file(o.arguments[0])) {
    options.input = o.arguments[0];
  } else {
    options.texts = o.arguments;
  }
  if (options.whole && !options.texts.empty()) {
    fail(ErrorKind::kUsage, "--whole scores a file as one text: name a file, or leave out --whole");
  }
  return options;
}

/// Throws for options that have no effect on the task of the model.
void require_options_of_task(const ScoreOptions& o, bool language_model, const std::string& directory) {
  const auto refuse = [&](bool given, const char* options) {
    if (!given) return;
    fail(ErrorKind::kUsage, "{} for {} models, and '{}' is a {} model", options,
         language_model ? "translation" : "language", directory, language_model ? "language" : "translation");
  };
  if (language_model) {
    refuse(o.input.swap, "--swap is");
    refuse(!o.model.source_language.empty() || !o.model.target_language.empty(),
           "--source-language and --target-language are");
  } else {
    refuse(o.texts.whole, "--whole is");
    refuse(o.texts.stride.has_value(), "--stride is");
  }
}

int run_score(const ScoreOptions& o) {
  const ModelInventory files = find_model(o.model);
  if (o.texts.job.resume && (o.texts.summary || o.texts.whole)) {
    fail(ErrorKind::kUsage,
         "--resume continues an output of one line per input line, so it excludes --summary and --whole");
  }
  const models::ModelDirectory opened = models::ModelDirectory::open(files);
  const bool language_model = opened.task() == models::Task::kLanguageModel;
  if (!language_model && !o.texts.input.empty()) {
    fail(ErrorKind::kUsage,
         "--input is for language models, and '{}' is a translation model: give --pairs, or another --model",
         files.directory());
  }
  require_options_of_task(o, language_model, files.directory());
  if (!language_model) return run_score_pairs(o, opened);
  if (o.input.is_named()) {
    fail(ErrorKind::kUsage, "'{}' is a language model, which scores texts, not pairs: give --input",
         files.directory());
  }
  return score_texts(text_options(o), tasks::with_tokenizer(load_model(opened, o.model.precision)));
}

}  // namespace

void add_score(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "score", "Score translations or texts: log-probability, perplexity", run_score);
  command->footer(R"(Examples:
  heed score "Der Hund schläft." "The dog sleeps."
  heed score test.tsv --model my-model
  heed score "Once upon a time." --model my-language-model
  heed score --input texts.txt --model my-language-model --summary
Writes one log-probability (natural logarithm) per line, of the whole translation with its end token. A line
without a sentence pair gives an empty line. A language model scores texts: each line of --input, or with
--whole the whole file. Texts longer than the model's maximum are scored with a sliding window that advances
by --stride tokens. If the model has no start token, the first token is not scored.)");
  command
      ->add_option(
          "TEXT", o->arguments,
          "SOURCE TARGET: one pair; F.tsv: the same as --pairs. Language model: texts, or one file of "
          "texts")
      ->take_all();
  add_model_options(*command, o->model);
  add_pairs_options(*command, o->input);
  command->add_option("--input F", o->texts.input,
                      "Language model: texts to score, one per line; -: standard input");
  command->add_option("--output F", o->texts.output, "Write to this file instead of standard output");
  command->add_switch("--summary", o->texts.summary,
                      "Write only the totals: pairs, tokens, log-probability, perplexity");
  command->add_switch("--json", o->texts.json,
                      "One JSON object per line, with the log-probability of every token");
  add_pairs_switches(*command, o->input);
  command->add_switch("--whole", o->texts.whole, "Language model: score the whole file as one text");
  add_integer(
      *command, "--stride", o->texts.stride,
      "Language model: stride of the sliding window in tokens [default: half of the model's maximum length]",
      {1, 1 << 24});
  add_language_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_line_job_options(*command, o->texts.job);
  command->exclude("--whole", {"--part"});  // one text has no parts
  add_common_options(*command, o->texts.common);
}

}  // namespace heed::cli
