#include "cli/evaluation/evaluate_translations.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/thread_pool.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/options/interrupts.h"
#include "data/corpus/readers/line_reader.h"

namespace heed::cli {
namespace {

/// What depends on the number of systems and test sets.
void require_fitting(const TranslationEvaluation& o) {
  const TestSetInput& input = o.input;
  const size_t systems = std::max(o.hypotheses.size(), o.models.size());
  if (input.pairs.empty() && input.source.empty() && o.hypotheses.empty()) {
    fail(ErrorKind::kUsage,
         "give --hypothesis to score existing translations, or F.tsv, --pairs or --source to translate");
  }
  if (input.pairs.empty() && input.references.empty()) {
    fail(ErrorKind::kUsage, "give reference translations with --reference");
  }
  if (input.pairs.size() > 1 && !input.references.empty()) {
    fail(ErrorKind::kUsage,
         "--reference is for one test set: with several --pairs, their target sides are the references");
  }
  if (input.pairs.size() > 1 && !o.hypotheses.empty()) {
    fail(ErrorKind::kUsage, "--hypothesis is for one test set: give only one --pairs");
  }
  if ((o.sentence || !o.output.empty()) && (systems > 1 || input.pairs.size() > 1)) {
    fail(ErrorKind::kUsage, "--sentence and --output need exactly one system and one test set");
  }
  if (o.measure.paired != PairedTest::kNone && systems < 2) {
    fail(ErrorKind::kUsage,
         "a paired test compares each system with the first: give at least two --hypothesis, --model or "
         "--pair");
  }
  if (input.swap && input.pairs.empty()) {
    fail(ErrorKind::kUsage, "--swap exchanges the columns of --pairs: give --pairs, or leave out --swap");
  }
  if (input.required_forms && input.pairs.empty()) {
    fail(ErrorKind::kUsage, "--must-contain reads the third column of --pairs: give --pairs");
  }
  std::vector<std::string> read = input.pairs;
  read.push_back(input.source);
  read.insert(read.end(), input.references.begin(), input.references.end());
  read.insert(read.end(), o.known_words.begin(), o.known_words.end());
  if (is_input(o.output, read)) {
    fail(ErrorKind::kUsage, "'{}' is both an input and --output, which would replace it", o.output);
  }
}

/// Throws for names that JSON cannot have, as write_report() would after all the work.
void require_json_names(const TranslationEvaluation& o, const std::vector<TestSet>& test_sets) {
  nlohmann::json names = o.hypotheses;
  for (const ModelChoice& choice : o.models) names.push_back(choice.model);
  for (const TestSet& set : test_sets) names.push_back(set.name);
  (void)names.dump();
}

/// The words of plain text, or of the first two columns of a TSV file.
KnownWords read_known_words(const std::vector<std::string>& paths, bool lossy) {
  KnownWords known;
  for (const std::string& path : paths) {
    LineReader reader(path, {.lossy = lossy, .stop = stop_on_interrupt()});
    std::string_view line;
    while (reader.next(line)) {
      const size_t tab = line.find('\t');
      known.add(line.substr(0, tab == std::string_view::npos ? tab : line.find('\t', tab + 1)));
    }
  }
  return known;
}

/// [test set][system]
std::vector<std::vector<SystemOutput>> run_systems(const TranslationEvaluation& o,
                                                   const std::vector<TestSet>& test_sets) {
  std::vector<std::vector<SystemOutput>> outputs(test_sets.size());
  for (const std::string& path : o.hypotheses) {
    outputs[0].push_back(read_hypotheses(path, test_sets[0], o.input.lossy));
  }
  if (!o.hypotheses.empty()) return outputs;
  ThreadPool pool(o.common.threads);
  for (const ModelChoice& choice : o.models) {
    auto translated = translate_test_sets({choice, o.options, o.common.quiet}, test_sets, pool);
    for (size_t n = 0; n < test_sets.size(); ++n) outputs[n].push_back(std::move(translated[n]));
  }
  return outputs;
}

ReportOptions report_options(const TranslationEvaluation& o) {
  ReportOptions report{.json = o.json, .test = "", .samples = 0, .seed = o.measure.resampling.seed};
  if (o.measure.paired == PairedTest::kRandomization) {
    report.test = "ar";
    report.samples = o.measure.resampling.trials;
  } else if (o.measure.paired == PairedTest::kBootstrap || o.measure.confidence) {
    report.test = "bs";
    report.samples = o.measure.resampling.resamples;
  }
  return report;
}

void keep_translations(const SystemOutput& translated, LineOutput& output) {
  for (const std::string& line : translated.lines) output.write_line(within_line(line));
  output.commit();
}

}  // namespace

int evaluate_translations(TranslationEvaluation o) {
  require_fitting(o);
  make_metrics(o.measure, 1);  // reports wrong options before translating
  const std::vector<TestSet> test_sets = read_test_sets(o.input);
  if (o.json && !o.sentence) require_json_names(o, test_sets);
  const KnownWords known = read_known_words(o.known_words, o.input.lossy);
  if (o.invented) o.measure.known = &known;
  LineOutput kept(o.output);
  const std::vector<std::vector<SystemOutput>> outputs = run_systems(o, test_sets);
  if (!o.output.empty()) keep_translations(outputs[0][0], kept);

  const std::vector<NamedMetric> metrics = make_metrics(o.measure, test_sets[0].references.size());
  LineOutput output("-");
  double seconds = 0;
  size_t lines = 0;
  std::vector<EvaluationRow> rows;
  for (size_t n = 0; n < test_sets.size(); ++n) {
    for (const SystemOutput& system : outputs[n]) {
      lines += system.lines.size();
      seconds += system.seconds;
    }
    if (o.sentence) {
      write_sentences(metrics, test_sets[n], outputs[n][0], o.json, output);
    } else {
      for (EvaluationRow& row : measure(metrics, o.measure, test_sets[n], outputs[n])) {
        rows.push_back(std::move(row));
      }
    }
  }
  if (!o.sentence) write_report(metrics, rows, report_options(o), output);
  output.commit();
  if (!o.common.quiet && seconds > 0) {
    std::fprintf(stderr, "%s translated in %.1f s\n", counted(lines, "line").c_str(), seconds);
  }
  return kExitDone;
}

}  // namespace heed::cli
