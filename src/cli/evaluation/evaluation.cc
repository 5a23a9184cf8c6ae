#include "cli/evaluation/evaluation.h"
#include "cli/files/model_lookup.h"

#include <numeric>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "cli/jobs/sentence_pairs.h"
#include "cli/options/command.h"
#include "cli/options/input_notes.h"
#include "cli/options/terminal.h"
#include "data/corpus/readers/line_reader.h"
#include "data/corpus/readers/pairs_reader.h"
#include "text/terms/required_forms.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

/// Reads lines like sacreBLEU: only LF ends a line, trailing white space is removed, and a byte order mark is
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

/// The forms of each column that has any.
std::vector<Lines> forms_of_columns(std::string_view columns) {
  std::vector<Lines> forms;
  while (true) {
    const size_t tab = columns.find('\t');
    Lines column = split_forms(columns.substr(0, tab));
    if (!column.empty()) forms.push_back(std::move(column));
    if (tab == std::string_view::npos) return forms;
    columns.remove_prefix(tab + 1);
  }
}

TestSet read_pairs_set(const std::string& path, const TestSetInput& input) {
  TestSet set{
      .name = path, .source = {}, .references = {{}}, .lines = {}, .file_lines = 0, .required = std::nullopt};
  if (input.required_forms) set.required.emplace();
  PairsReader reader({.pairs = path, .swap = input.swap, .lines = {.lossy = input.lossy}});
  for (Pair pair; reader.next(pair);) {
    set.source.emplace_back(pair.source);
    set.references[0].emplace_back(pair.target);
    set.lines.push_back(pair.line);
    if (!set.required) continue;
    set.required->push_back(forms_of_columns(pair.further_columns));
    if (set.required->back().empty()) {
      fail(ErrorKind::kFormat,
           "line {} of {} has no third column: --must-contain reads SOURCE TAB REFERENCE TAB FORM|FORM",
           pair.line, reader.name());
    }
  }
  set.file_lines = reader.counts().lines;
  return set;
}

void number_lines(TestSet& set, size_t count) {
  if (count == 0) fail(ErrorKind::kFormat, "'{}' is empty: there is nothing to score", set.name);
  set.lines.resize(count);
  std::iota(set.lines.begin(), set.lines.end(), uint64_t{1});
  set.file_lines = count;
}

/// For each line of the test set one of `lines`, the content of a file; or an error.
Lines parallel_lines(Lines lines, const std::string& path, const TestSet& set) {
  if (lines.size() == set.size()) return lines;
  if (lines.size() == set.file_lines) {
    Lines paired;
    for (const uint64_t number : set.lines) paired.push_back(std::move(lines[number - 1]));
    return paired;
  }
  const bool all_paired = set.file_lines == set.size();
  fail(ErrorKind::kFormat, "'{}' has {}, but '{}' has {}: the files must be parallel", path,
       counted(lines.size(), "line"), set.name,
       all_paired ? fmt::format("{}", set.size())
                  : fmt::format("{} ({}, of which {} without a pair)", counted(set.size(), "pair"),
                                counted(set.file_lines, "line"), set.file_lines - set.size()));
}

void add_reference(const std::string& path, bool lossy, TestSet& set) {
  Lines lines = lines_to_compare(path, lossy);
  if (set.name.empty()) set.name = path;  // only references
  if (set.lines.empty()) number_lines(set, lines.size());
  set.references.push_back(parallel_lines(std::move(lines), path, set));
}

}  // namespace

std::vector<TestSet> read_test_sets(const TestSetInput& input) {
  std::vector<TestSet> sets;
  for (const std::string& path : input.pairs) sets.push_back(read_pairs_set(path, input));
  if (sets.empty()) {
    sets.push_back({.name = input.source,
                    .source = {},
                    .references = {},
                    .lines = {},
                    .file_lines = 0,
                    .required = std::nullopt});
    if (!input.source.empty()) {
      sets[0].source = lines_of(input.source, input.lossy);
      number_lines(sets[0], sets[0].source.size());
    }
  }
  for (const std::string& path : input.references) add_reference(path, input.lossy, sets[0]);
  return sets;
}

SystemOutput read_hypotheses(const std::string& path, const TestSet& test_set, bool lossy) {
  Lines lines = lines_to_compare(path, lossy);
  if (lines.empty()) fail(ErrorKind::kFormat, "'{}' is empty: there is nothing to score", path);
  return {path, parallel_lines(std::move(lines), path, test_set)};
}

std::vector<SystemOutput> translate_test_sets(const EvaluatedModel& evaluated,
                                              const std::vector<TestSet>& test_sets, ThreadPool& pool) {
  const std::vector<TranslationModel> models =
      load_translation_models(evaluated.choice, open_translation_models(evaluated.choice));
  const translate::TranslatorChain translator(tasks::chain_steps(models, evaluated.options), pool);
  std::vector<std::string> directories;
  for (const TranslationModel& model : models) directories.push_back(model.loaded.directory());
  std::vector<SystemOutput> outputs;
  for (const TestSet& set : test_sets) {
    const std::string& named = evaluated.choice.model;
    SystemOutput output{named.empty() ? fmt::format("{}", fmt::join(directories, " + ")) : named, {}};
    if (!evaluated.quiet) {
      note_source_language(set.name, {set.source.begin(), set.source.end()},
                           models.front().tokenizer.source_language());
    }
    ProgressLine progress("lines", set.size(), !evaluated.quiet && stderr_is_terminal());
    translate::LineTranslator::Control control;
    control.stop = stop_on_interrupt();
    size_t all_bytes = 0;
    for (const std::string& line : set.source) all_bytes += line.size() + 1;
    control.progress = [&](const translate::LineTranslator::Progress& done) {
      progress.show(done.lines, done.bytes / static_cast<double>(all_bytes));
    };
    const auto take = [&](const translate::Translation& done) { output.lines.push_back(done.best().text); };
    translator.translate(set.source, take, control);
    output.seconds = progress.seconds();
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace heed::cli
