// heed evaluate: BLEU and chrF of a model's translations, or of translations in a file; or how well a
// classifier does.

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/json_file.h"
#include "base/thread_pool.h"
#include "cli/classification.h"
#include "cli/command.h"
#include "cli/evaluate_alignments.h"
#include "cli/line_output.h"
#include "cli/model_lookup.h"
#include "cli/search_flags.h"
#include "cli/terminal.h"
#include "cli/translation.h"
#include "data/line_reader.h"
#include "data/pairs_reader.h"
#include "text/bleu.h"
#include "text/chrf.h"
#include "text/whitespace.h"

namespace heed::cli {
namespace {

using Lines = std::vector<std::string>;

struct EvaluateOptions {
  CommonOptions common;
  ModelChoice model;
  SearchFlags search;
  std::string pairs, source, hypothesis, output;
  std::vector<std::string> references;
  bool swap = false, lossy = false, lowercase = false, sentence = false, json = false;
  std::string tokenize = "13a";
  std::string task = "translate", text;
  std::string alignments;
};

/// As sacreBLEU reads files: only LF ends a line, white space at its end is dropped, and a byte order mark is
/// text.
Lines lines_to_compare(const std::string& path, bool lossy) {
  LineReader reader(path, {.lossy = lossy, .keep_byte_order_mark = true});
  Lines lines;
  std::string_view line;
  while (reader.next(line)) lines.emplace_back(strip_right(line));
  return lines;
}

Lines lines_of(const std::string& path, bool lossy) {
  LineReader reader(path, {.lossy = lossy});
  Lines lines;
  std::string_view line;
  while (reader.next(line)) lines.emplace_back(line);
  return lines;
}

/// What is scored, and what it is scored against.
struct Evaluation {
  std::string name;  // of the hypotheses, for messages
  Lines source;      // empty where the hypotheses come from a file
  Lines hypotheses;
  std::vector<Lines> references;
  double seconds = 0;  // of the translation
};

void require_sensible(const EvaluateOptions& o) {
  const int inputs = static_cast<int>(!o.pairs.empty()) + static_cast<int>(!o.source.empty()) +
                     static_cast<int>(!o.hypothesis.empty());
  if (inputs != 1) {
    fail(ErrorKind::kUsage,
         "give one, and only one, of --hypothesis (to be scored as it is), --source and --pairs (to be "
         "translated)");
  }
  if (o.pairs.empty() && o.references.empty())
    fail(ErrorKind::kUsage, "give the --reference to compare with");
  if (!o.hypothesis.empty() && !o.output.empty()) {
    fail(ErrorKind::kUsage, "--output keeps translations, and with --hypothesis nothing is translated");
  }
}

/// Reads everything; throws where the files have unequal numbers of lines.
Evaluation read_input(const EvaluateOptions& o) {
  Evaluation e;
  if (!o.pairs.empty()) {
    PairsReader reader({.pairs = o.pairs, .swap = o.swap, .lines = {.lossy = o.lossy}});
    Lines targets;
    for (Pair pair; reader.next(pair);) {
      e.source.emplace_back(pair.source);
      targets.emplace_back(pair.target);
    }
    e.references.push_back(std::move(targets));
  }
  e.name = !o.pairs.empty() ? o.pairs : !o.source.empty() ? o.source : o.hypothesis;
  if (!o.source.empty()) e.source = lines_of(o.source, o.lossy);
  if (!o.hypothesis.empty()) e.hypotheses = lines_to_compare(o.hypothesis, o.lossy);
  const size_t lines = o.hypothesis.empty() ? e.source.size() : e.hypotheses.size();
  if (lines == 0) fail(ErrorKind::kFormat, "'{}' has no lines: there is nothing to score", e.name);
  for (const std::string& path : o.references) {
    e.references.push_back(lines_to_compare(path, o.lossy));
    if (e.references.back().size() != lines) {
      fail(ErrorKind::kFormat, "'{}' has {}, and the reference '{}' has {}: each line needs one of the other",
           e.name, counted(lines, "line"), path, e.references.back().size());
    }
  }
  return e;
}

/// Returns false where the user interrupts.
bool translate(const EvaluateOptions& o, Evaluation& e) {
  LineOutput output(o.output);
  const TranslationModel model = load_translation_model(o.model);
  ThreadPool pool(o.common.threads);
  const decode::Translator translator(model.loaded.seq2seq(), model.loaded.context(), model.tokenizer, pool,
                                      translator_options(o.search, model.loaded));
  ProgressLine progress("lines", e.source.size(), !o.common.quiet && stderr_is_terminal());
  decode::Translator::Control control;
  control.cancelled = &interrupted();
  size_t all_bytes = 0;
  for (const std::string& line : e.source) all_bytes += line.size() + 1;
  control.progress = [&](const decode::Translator::Progress& done) {
    progress.show(done.lines, done.bytes / static_cast<double>(all_bytes));
  };
  size_t next = 0;
  const bool whole = translator.translate(
      [&](std::string& line) {
        if (next == e.source.size()) return false;
        line = e.source[next++];
        return true;
      },
      [&](const decode::Translation& translation) { e.hypotheses.push_back(translation.best().text); },
      control);
  if (!whole) return false;
  e.seconds = progress.seconds();
  if (o.output.empty()) return true;
  for (const std::string& line : e.hypotheses) output.write_line(within_line(line));
  output.commit();
  return true;
}

std::vector<std::string> references_of(const Evaluation& e, size_t line) {
  std::vector<std::string> references;
  for (const Lines& each : e.references) references.push_back(each[line]);
  return references;
}

struct Metrics {
  BleuOptions bleu;
  ChrfOptions chrf, chrf_plus;
};

/// BLEU, chrF and chrF++ of every line.
void write_sentences(const Evaluation& e, const Metrics& metrics, bool json, LineOutput& output) {
  BleuOptions bleu_options = metrics.bleu;
  bleu_options.effective_order = true;
  for (size_t n = 0; n < e.hypotheses.size(); ++n) {
    const std::vector<std::string> references = references_of(e, n);
    const double bleu = sentence_bleu(e.hypotheses[n], references, bleu_options).score;
    const double chrf = sentence_chrf(e.hypotheses[n], references, metrics.chrf).score;
    const double chrf_plus = sentence_chrf(e.hypotheses[n], references, metrics.chrf_plus).score;
    if (json) {
      output.write_line(nlohmann::ordered_json{
          {"line", n + 1},
          {"bleu", bleu},
          {"chrf", chrf},
          {"chrf++", chrf_plus},
          {"translation",
           e.hypotheses[n]}}.dump());
    } else {
      output.write_line(fmt::format("{:.2f}\t{:.2f}\t{:.2f}", bleu, chrf, chrf_plus));
    }
  }
}

void write_scores(const Evaluation& e, const Metrics& metrics, bool json, LineOutput& output) {
  const double bleu = corpus_bleu(e.hypotheses, e.references, metrics.bleu).score;
  const double chrf = corpus_chrf(e.hypotheses, e.references, metrics.chrf).score;
  const double chrf_plus = corpus_chrf(e.hypotheses, e.references, metrics.chrf_plus).score;
  const size_t count = e.references.size();
  const std::string bleu_says = bleu_signature(count, metrics.bleu),
                    chrf_says = chrf_signature(count, metrics.chrf),
                    chrf_plus_says = chrf_signature(count, metrics.chrf_plus);
  if (json) {
    output.write_line(nlohmann::ordered_json{
        {"bleu", bleu},
        {"chrf", chrf},
        {"chrf++", chrf_plus},
        {"bleu_signature", bleu_says},
        {"chrf_signature", chrf_says},
        {"chrf++_signature", chrf_plus_says},
        {"lines", e.hypotheses.size()},
        {"seconds",
         e.seconds}}.dump());
    return;
  }
  output.write_line(fmt::format("BLEU    {:6.2f}  {}", bleu, bleu_says));
  output.write_line(fmt::format("chrF2   {:6.2f}  {}", chrf, chrf_says));
  output.write_line(fmt::format("chrF2++ {:6.2f}  {}", chrf_plus, chrf_plus_says));
}

/// Throws kUsage for what is only for translations.
ClassifierEvaluation classifier_evaluation(const EvaluateOptions& o) {
  const bool translations = !o.pairs.empty() || !o.source.empty() || !o.hypothesis.empty() ||
                            !o.output.empty() || !o.references.empty() || o.sentence || !o.model.pair.empty();
  if (translations) {
    fail(ErrorKind::kUsage,
         "--task classify reads --text F; --pairs, --source, --hypothesis, --reference, --output, --sentence "
         "and "
         "--pair are for translations");
  }
  return {o.common, {o.model.model, o.model.precision}, o.text, o.lossy, o.json};
}

/// Throws kUsage for what is only for translations.
AlignmentEvaluation alignment_evaluation(const EvaluateOptions& o) {
  if (!o.source.empty() || !o.references.empty() || !o.output.empty() || o.sentence ||
      o.task != "translate") {
    fail(ErrorKind::kUsage,
         "--alignments scores word alignments, of --pairs or of --hypothesis; --source, --reference, "
         "--output, "
         "--sentence and --task are for translations");
  }
  return {o.common,
          o.model,
          o.alignments,
          o.hypothesis,
          {.pairs = o.pairs, .swap = o.swap, .lines = {.lossy = o.lossy}},
          o.json};
}

int run_evaluate(const EvaluateOptions& o) {
  if (!o.alignments.empty()) return evaluate_alignments(alignment_evaluation(o));
  if (o.task == "classify") return evaluate_classifier(classifier_evaluation(o));
  if (o.task != "translate") {
    fail(ErrorKind::kUsage, "--task takes translate or classify, not '{}'", o.task);
  }
  if (!o.text.empty()) fail(ErrorKind::kUsage, "--text is for --task classify: give that as well");
  require_sensible(o);
  Metrics metrics;
  metrics.bleu.tokenizer = parse_bleu_tokenizer(o.tokenize);
  metrics.bleu.lowercase = metrics.chrf.lowercase = metrics.chrf_plus.lowercase = o.lowercase;
  metrics.chrf_plus.word_order = 2;
  Evaluation evaluation = read_input(o);
  if (o.hypothesis.empty() && !translate(o, evaluation)) return kExitInterrupted;
  LineOutput output("-");
  if (o.sentence) {
    write_sentences(evaluation, metrics, o.json, output);
  } else {
    write_scores(evaluation, metrics, o.json, output);
  }
  output.commit();
  if (!o.common.quiet && evaluation.seconds > 0) {
    std::fprintf(stderr, "%s translated in %.1f s\n", counted(evaluation.hypotheses.size(), "line").c_str(),
                 evaluation.seconds);
  }
  return kExitDone;
}

}  // namespace

void add_evaluate(Command& app, Work& work) {
  auto o = std::make_shared<EvaluateOptions>();
  Command* command = app.add_subcommand("evaluate", "Score translations with BLEU, chrF and chrF++");
  command->footer(
      "Examples:\n  heed evaluate --model my-model --pairs test.tsv\n"
      "  heed evaluate --hypothesis translated.txt --reference reference.txt --json\n"
      "  heed evaluate --task classify --text test.tsv --model my-classifier\n"
      "  heed evaluate --alignments gold.txt --pairs test.tsv --model my-model\n"
      "The scores are those of sacreBLEU, whose signatures are printed with them.");
  command
      ->add_option("--task", o->task,
                   "translate, or classify: accuracy, F1 and which class was taken for which")
      ->type_name("NAME")
      ->show_default();
  command->add_option("--text", o->text, "Of --task classify: a file of label TAB text")->type_name("F.tsv");
  command
      ->add_option("--pairs", o->pairs,
                   "Translate the first column, compare with the second: source TAB target")
      ->type_name("F.tsv");
  command->add_flag("--swap", o->swap, "Translate the second column of --pairs, compare with the first");
  command->add_option("--source", o->source, "Translate the lines of this file, compare with --reference")
      ->type_name("F");
  command->add_option("--hypothesis", o->hypothesis, "Score the lines of this file as they are")
      ->type_name("F");
  command->add_option("--reference", o->references, "Right translations, line by line; may be repeated")
      ->type_name("F")
      ->take_all();
  command
      ->add_option(
          "--alignments", o->alignments,
          "Score word alignments instead, of --pairs or --hypothesis: gold links, 0-0 sure, 0?1 possible")
      ->type_name("F");
  command->add_option("--output", o->output, "Keep the translations in this file")->type_name("F");
  command->add_option("--tokenize", o->tokenize, "How BLEU finds words: 13a, intl, char or none")
      ->type_name("NAME")
      ->show_default();
  command->add_flag("--lowercase", o->lowercase, "Upper and lower case count as the same");
  command->add_flag("--sentence", o->sentence, "Score every line by itself: BLEU TAB chrF TAB chrF++");
  command->add_flag("--json", o->json, "One JSON object; with --sentence, one per line");
  command->add_flag("--lossy", o->lossy, "Replace bytes that are not UTF-8 instead of stopping");
  add_model_options(*command, o->model);
  add_precision_option(*command, o->model.precision);
  add_search_options(*command, o->search);
  add_shortlist_option(*command, o->model.shortlist);
  add_common_options(*command, o->common);
  command->callback([o, &work] { work = [o] { return run_evaluate(*o); }; });
}

}  // namespace heed::cli
