// heed evaluate: BLEU, chrF and TER of translations by models or in files, checks of invented words and
// required forms, word alignment scores, and classifier accuracy.

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "cli/evaluation/evaluate_alignments.h"
#include "cli/evaluation/evaluate_translations.h"
#include "cli/files/model_lookup.h"
#include "cli/jobs/classification.h"
#include "cli/options/checked_options.h"
#include "cli/options/command.h"
#include "cli/options/search_flags.h"
#include "models/directory/model_directory.h"

namespace heed::cli {
namespace {

struct EvaluateOptions {
  CommonOptions common;
  std::vector<std::string> models, languages;  // --model and --pair
  std::string precision;
  std::optional<bool> shortlist;
  ModelChoice chosen;  // only --source-language and --target-language
  TranslateFlags flags;
  TestSetInput input;
  std::vector<std::string> hypotheses, known_words;
  std::string output;
  MeasureOptions measure;
  bool paired_bootstrap = false, paired_randomization = false, invented = false;
  bool sentence = false, json = false;
  int64_t seed = ResamplingOptions{}.seed;
  int confidence_samples = ResamplingOptions{}.resamples, bootstrap_samples = ResamplingOptions{}.resamples,
      trials = ResamplingOptions{}.trials;
  std::string task, text;  // task: empty is that of the model
  std::vector<std::string> files;
  std::string alignments;
  const Command* command = nullptr;
};

/// What is evaluated, as bits: translations by models and of files, a classifier, word alignments by a model
/// and of a file.
enum : unsigned {
  kByModels = 1,
  kOfFiles = 2,
  kByClassifier = 4,
  kLinksByModel = 8,
  kLinksOfFile = 16,
  kTranslations = kByModels | kOfFiles,
  kLinks = kLinksByModel | kLinksOfFile
};

/// The options that do not hold for everything, with what they hold for.
const std::vector<std::pair<std::string, unsigned>>& uses_of_options() {
  static const auto kUses = [] {
    std::vector<std::pair<std::string, unsigned>> uses{
        {"--model", kByModels | kByClassifier | kLinksByModel},
        {"--pair", kByModels | kLinksByModel},
        {"--source-language", kByModels | kLinksByModel},
        {"--target-language", kByModels | kLinksByModel},
        {"--precision", kByModels | kByClassifier | kLinksByModel},
        {"--shortlist", kByModels},
        {"--output", kByModels},
        {"--pairs", kTranslations | kLinks},
        {"--swap", kTranslations | kLinks},
        {"--hypothesis", kOfFiles | kLinksOfFile},
        {"--alignments", kLinks},
        {"--text", kByClassifier},
        {"--task", kTranslations | kByClassifier}};
    for (const char* option :
         {"--source", "--reference", "--metrics", "--tokenize", "--lowercase", "--sentence", "--confidence",
          "--confidence-n", "--paired-bs", "--paired-bs-n", "--paired-ar", "--paired-ar-n", "--seed",
          "--invented", "--known-words", "--compounds", "--must-contain"}) {
      uses.emplace_back(option, kTranslations);
    }
    for (const std::string& flag :
         translate_flags({search::OptionGroup::kSearch, search::OptionGroup::kHeads}))
      uses.emplace_back(flag, kByModels);
    return uses;
  }();
  return kUses;
}

/// The options that hold for none of these.
std::vector<std::string> options_without(unsigned uses) {
  std::vector<std::string> options;
  for (const auto& [option, of] : uses_of_options()) {
    if ((of & uses) == 0) options.push_back(option);
  }
  return options;
}

/// The models to evaluate; without --model or --pair one, the default model.
std::vector<ModelChoice> chosen_models(const EvaluateOptions& o) {
  if (!o.models.empty() && o.languages.size() > 1) {
    fail(ErrorKind::kUsage, "repeat --model or --pair, not both");
  }
  std::vector<ModelChoice> choices;
  for (size_t n = 0; n < std::max({size_t{1}, o.models.size(), o.languages.size()}); ++n) {
    const std::string pair = o.models.empty() && n < o.languages.size() ? o.languages[n]
                             : o.languages.empty()                      ? ""
                                                                        : o.languages[0];
    choices.push_back({n < o.models.size() ? o.models[n] : "", pair, o.precision, o.shortlist,
                       o.chosen.source_language, o.chosen.target_language});
  }
  return choices;
}

MeasureOptions measure_options(const EvaluateOptions& o) {
  MeasureOptions measure = o.measure;
  measure.resampling.seed = static_cast<uint32_t>(o.seed);
  measure.resampling.resamples = o.paired_bootstrap ? o.bootstrap_samples : o.confidence_samples;
  measure.resampling.trials = o.trials;
  if (o.paired_bootstrap) measure.paired = PairedTest::kBootstrap;
  if (o.paired_randomization) measure.paired = PairedTest::kRandomization;
  return measure;
}

TranslationEvaluation translation_evaluation(const EvaluateOptions& o) {
  return {.common = o.common,
          .input = o.input,
          .models = o.hypotheses.empty() ? chosen_models(o) : std::vector<ModelChoice>{},
          .hypotheses = o.hypotheses,
          .options = o.flags.options,
          .output = o.output,
          .measure = measure_options(o),
          .known_words = o.known_words,
          .invented = o.invented,
          .sentence = o.sentence,
          .json = o.json};
}

/// Throws kUsage for options of metrics and of resampling that nothing heeds.
void require_effect(const EvaluateOptions& o) {
  const std::vector<std::string> metrics = metric_keys(o.measure);
  struct Condition {
    std::string option;
    bool holds;
    const char* text;
  };
  const Condition conditions[] = {
      {"--tokenize", std::ranges::count(metrics, "bleu") > 0, "bleu among --metrics"},
      {"--lowercase", std::ranges::any_of(metrics, [](const std::string& key) { return key != "ter"; }),
       "bleu, chrf or chrf++ among --metrics, as TER always ignores case"},
      {"--seed", o.measure.confidence || o.paired_bootstrap || o.paired_randomization,
       "--confidence, --paired-bs or --paired-ar"}};
  for (const GivenOption& given : o.command->given_options()) {
    const auto* found = std::ranges::find(conditions, given.name, &Condition::option);
    if (found == std::end(conditions) || found->holds) continue;
    fail(ErrorKind::kUsage, "{} has no effect without {}: leave it out", given.name, found->text);
  }
}

/// Throws kUsage for options that do not hold for classifiers, and for several models.
ClassifierEvaluation classifier_evaluation(const EvaluateOptions& o) {
  const std::vector<std::string> others = options_without(kByClassifier);
  for (const GivenOption& option : o.command->given_options()) {
    if (std::ranges::count(others, option.name) == 0) continue;
    fail(ErrorKind::kUsage, "{} is for translations, and a classifier is evaluated on --text F: leave it out",
         option.name);
  }
  if (o.models.size() > 1) fail(ErrorKind::kUsage, "--task classify takes one --model");
  return {o.common, {o.models.empty() ? "" : o.models[0], o.precision}, o.text, o.input.lossy, o.json};
}

/// Throws kUsage for several systems or files of pairs.
AlignmentEvaluation alignment_evaluation(const EvaluateOptions& o) {
  const TestSetInput& input = o.input;
  if (std::max({o.hypotheses.size(), o.models.size(), o.languages.size(), input.pairs.size()}) > 1) {
    fail(ErrorKind::kUsage, "--alignments scores one system on one file of pairs: do not repeat options");
  }
  return {o.common,
          chosen_models(o)[0],
          o.alignments,
          o.hypotheses.empty() ? "" : o.hypotheses[0],
          {.pairs = input.pairs.empty() ? "" : input.pairs[0],
           .swap = input.swap,
           .lines = {.lossy = input.lossy}},
          o.json};
}

/// Whether the one model that is given is a classifier.
bool has_classifier(const EvaluateOptions& o) {
  if (!o.hypotheses.empty() || !o.languages.empty() || o.models.size() > 1) return false;
  const std::string model = !o.models.empty() ? o.models[0] : default_model();
  return !model.empty() &&
         models::ModelDirectory::open(find_named_model({model, ""}, models::Task::kClassification)).task() ==
             models::Task::kClassification;
}

/// With the task of the model, and the files that were given by position under their options.
EvaluateOptions complete(EvaluateOptions o) {
  if (o.task.empty() && o.alignments.empty()) o.task = has_classifier(o) ? "classify" : "translate";
  if (o.task != "classify") {
    o.input.pairs.insert(o.input.pairs.end(), o.files.begin(), o.files.end());
  } else if (!o.files.empty()) {
    if (o.files.size() > 1 || !o.text.empty())
      fail(ErrorKind::kUsage, "a classifier is evaluated on one file: give F.tsv once, or --text");
    o.text = o.files[0];
  }
  return o;
}

int run_evaluate(const EvaluateOptions& given) {
  const EvaluateOptions o = complete(given);
  if (!o.alignments.empty()) return evaluate_alignments(alignment_evaluation(o));
  if (o.task == "classify") return evaluate_classifier(classifier_evaluation(o));
  if (o.task != "translate") {
    fail(ErrorKind::kUsage, "--task takes translate or classify, not '{}'", o.task);
  }
  if (!o.text.empty())
    fail(ErrorKind::kUsage, "--text is for classifiers: give one as --model, or --task classify");
  require_effect(o);
  return evaluate_translations(translation_evaluation(o));
}

void add_input_options(Command& command, EvaluateOptions& o) {
  command.add_option("F.tsv", o.files, "Test sets: the same as --pairs, or --text for a classifier")
      ->take_all();
  command
      .add_option("--model DIR", o.models,
                  "Model directory [default: $HEED_MODEL, or the bundled model for --pair]; may be repeated "
                  "to compare systems")
      ->repeatable();
  command
      .add_option("--pair PAIR", o.languages,
                  "Language pair of the bundled model [default: de-en]; may be repeated")
      ->repeatable();
  command
      .add_option(
          "--pairs F.tsv", o.input.pairs,
          "Translate the first column, with the second as reference: SOURCE TAB TARGET; may be repeated")
      ->repeatable();
  command.add_option("--source F", o.input.source,
                     "Translate the lines of this file, with --reference as reference");
  command
      .add_option("--reference F", o.input.references,
                  "One or more files of reference translations, line by line")
      ->take_all();
  command
      .add_option("--hypothesis F", o.hypotheses,
                  "Score the translations in this file; may be repeated to compare systems")
      ->repeatable();
  command.add_option("--output F", o.output, "Write the translations to this file");
  command.add_switch("--json", o.json,
                     "One JSON object; one per line with several systems or test sets, and with --sentence");
}

void add_metric_options(Command& command, EvaluateOptions& o) {
  command.group("Metrics");
  MeasureOptions& measure = o.measure;
  command
      .add_option("--metrics NAMES", measure.metrics, "Comma-separated list of bleu, chrf, chrf++ and ter")
      ->show_default();
  command
      .add_option("--tokenize NAME", measure.tokenize,
                  "Tokenizer of BLEU: 13a, intl, char, none, zh, flores101 or flores200")
      ->show_default();
  command.add_switch("--lowercase", measure.lowercase, "Ignore case, as TER always does");
  command.add_switch("--sentence", o.sentence,
                     "Sentence-level scores: one line per sentence, metrics separated by tabs");
}

void add_significance_options(Command& command, EvaluateOptions& o) {
  command.group("Confidence and significance");
  constexpr IntegerRange kSamples{1, 1'000'000};
  Option* confidence = command.add_switch("--confidence", o.measure.confidence,
                                          "95% confidence intervals by bootstrap resampling");
  add_integer(command, "--confidence-n", o.confidence_samples, "Bootstrap samples of --confidence", kSamples)
      ->needs(confidence);
  Option* bootstrap = command.add_switch("--paired-bs", o.paired_bootstrap,
                                         "Compare each system with the first by paired bootstrap resampling");
  add_integer(command, "--paired-bs-n", o.bootstrap_samples, "Bootstrap samples of --paired-bs", kSamples)
      ->needs(bootstrap);
  Option* randomization =
      command.add_switch("--paired-ar", o.paired_randomization,
                         "Compare each system with the first by approximate randomization");
  add_integer(command, "--paired-ar-n", o.trials, "Trials of --paired-ar", kSamples)->needs(randomization);
  add_integer(command, "--seed", o.seed, "Random seed of resampling",
              {0, std::numeric_limits<uint32_t>::max()});
}

void add_check_options(Command& command, EvaluateOptions& o) {
  command.group("Checks of words");
  Option* invented = command.add_switch(
      "--invented", o.invented,
      "Count lines with words that occur neither in --known-words nor in source or references");
  Option* known = command
                      .add_option("--known-words F", o.known_words,
                                  "Text of both languages: plain, or the first two columns of a TSV; may be "
                                  "repeated")
                      ->repeatable()
                      ->needs(invented);
  invented->needs(known);
  command
      .add_switch("--compounds", o.measure.invented.compounds,
                  "Do not count compounds of known words, as in German, as invented")
      ->needs(invented);
  command.add_switch(
      "--must-contain", o.input.required_forms,
      "Count lines that contain a form, FORM|FORM, of each column of --pairs from the third on");
}

void add_task_options(Command& command, EvaluateOptions& o) {
  command.group("Other tasks");
  command.add_option(
      "--task NAME", o.task,
      "translate, or classify: accuracy, F1 and confusion matrix [default: what the model does]");
  command.add_option("--text F.tsv", o.text, "Labelled texts for --task classify, lines of LABEL TAB TEXT");
  command.add_option("--alignments F", o.alignments,
                     "Score word alignments of --pairs or --hypothesis against this file of gold links: 0-0 "
                     "sure, 0?1 possible");
  command.group(kInputOptions);
  command.add_switch("--swap", o.input.swap,
                     "Translate the second column of --pairs, with the first as reference");
  command.add_switch("--lossy", o.input.lossy, "Replace invalid UTF-8 instead of failing");
}

/// Which options cannot be given together.
void add_exclusions(Command& command) {
  command.exclude("--source", {"--pairs", "F.tsv"});
  command.exclude("--hypothesis", options_without(kOfFiles | kLinksOfFile));
  command.exclude("--confidence", {"--paired-bs", "--paired-ar"});
  command.exclude("--paired-bs", {"--paired-ar"});
  command.exclude("--sentence",
                  {"--confidence", "--paired-bs", "--paired-ar", "--invented", "--must-contain"});
  command.exclude("--must-contain", {"--swap"});  // the forms are those of the second column's language
  command.exclude("--text", options_without(kByClassifier));
  command.exclude("--alignments", options_without(kLinks));
}

}  // namespace

void add_evaluate(Command& app, Work& work) {
  auto [command, o] =
      add_command(app, work, "evaluate", "Score translations with BLEU, chrF, chrF++ and TER", run_evaluate);
  command->footer(R"(Examples:
  heed evaluate test.tsv --model my-model
  heed evaluate --hypothesis translated.txt --reference reference.txt --json
  heed evaluate --model old --model new --pairs news.tsv --pairs chat.tsv --paired-bs
  heed evaluate test.tsv --model my-classifier
  heed evaluate --alignments gold.txt --pairs test.tsv --model my-model
Scores equal sacreBLEU's and are printed with its signatures.)");
  add_input_options(*command, *o);
  add_metric_options(*command, *o);
  add_significance_options(*command, *o);
  add_check_options(*command, *o);
  add_task_options(*command, *o);
  add_language_options(*command, o->chosen);
  add_precision_option(*command, o->precision);
  add_shortlist_option(*command, o->shortlist);
  using enum search::OptionGroup;
  add_translate_options(*command, o->flags, {kSearch, kHeads});
  add_common_options(*command, o->common);
  add_exclusions(*command);
  o->command = command;
}

}  // namespace heed::cli
