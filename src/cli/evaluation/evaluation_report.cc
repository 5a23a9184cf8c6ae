#include "cli/evaluation/evaluation_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/text/json_file.h"
#include "base/text/printable.h"
#include "cli/options/text_table.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/ngrams.h"
#include "metrics/ter.h"
#include "text/terms/required_forms.h"

namespace heed::cli {
namespace {

constexpr double kSignificant = 0.05;  // sacreBLEU marks smaller p-values with "*"

NamedMetric metric_named(std::string_view key, const MeasureOptions& options, size_t references) {
  if (key == "bleu") {
    BleuOptions bleu;
    bleu.tokenizer = parse_bleu_tokenizer(options.tokenize);
    bleu.pieces = load_bleu_pieces(bleu.tokenizer);
    bleu.lowercase = options.lowercase;
    BleuOptions sentence = bleu;
    sentence.effective_order = true;
    return {"bleu", bleu_metric(references, bleu), bleu_metric(references, sentence)};
  }
  if (key == "chrf" || key == "chrf++") {
    const Metric chrf =
        chrf_metric(references, {.word_order = key == "chrf" ? 0 : 2, .lowercase = options.lowercase});
    return {std::string(key), chrf, chrf};
  }
  if (key == "ter") return {"ter", ter_metric(references), ter_metric(references)};
  fail(ErrorKind::kUsage, "--metrics takes a comma-separated list of bleu, chrf, chrf++ and ter, not '{}'",
       options.metrics);
}

double p_value_of(const Metric& metric, const LineStatistics& baseline, const LineStatistics& system,
                  const MeasureOptions& options) {
  return options.paired == PairedTest::kBootstrap
             ? paired_bootstrap(metric, baseline, system, options.resampling)
             : paired_approximate_randomization(metric, baseline, system, options.resampling);
}

std::vector<Finding> find_invented(const TestSet& set, const SystemOutput& system,
                                   const MeasureOptions& options) {
  std::vector<Finding> findings;
  for (size_t n = 0; n < set.size(); ++n) {
    std::vector<std::string_view> copied;
    if (!set.source.empty()) copied.emplace_back(set.source[n]);
    for (const Lines& reference : set.references) copied.emplace_back(reference[n]);
    std::vector<Lines> words;
    for (std::string& word : invented_words(system.lines[n], copied, *options.known, options.invented)) {
      words.push_back({std::move(word)});
    }
    if (!words.empty()) findings.push_back({set.lines[n], std::move(words), system.lines[n]});
  }
  return findings;
}

/// `required`: of the test set.
std::vector<Finding> find_lacking(const std::vector<std::vector<Lines>>& required, const TestSet& set,
                                  const SystemOutput& system) {
  std::vector<Finding> findings;
  for (size_t n = 0; n < set.size(); ++n) {
    const std::string& text = system.lines[n];
    std::vector<Lines> missing;
    for (const Lines& forms : required[n]) {
      const auto occurs = [&](const std::string& form) { return contains_form(text, form); };
      if (std::ranges::none_of(forms, occurs)) missing.push_back(forms);
    }
    if (!missing.empty()) findings.push_back({set.lines[n], std::move(missing), text});
  }
  return findings;
}

double share(size_t part, size_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

std::string signature_of(const NamedMetric& metric, const ReportOptions& options) {
  const std::string& signature = metric.corpus.signature;
  return options.test.empty() ? signature : with_test(signature, options.test, options.samples, options.seed);
}

nlohmann::ordered_json to_json(const std::vector<Finding>& findings, const char* words) {
  auto list = nlohmann::ordered_json::array();
  for (const Finding& each : findings) {
    Lines all;
    for (const Lines& alternatives : each.words)
      all.insert(all.end(), alternatives.begin(), alternatives.end());
    list.push_back({{"line", each.line}, {words, all}, {"translation", each.translation}});
  }
  return list;
}

nlohmann::ordered_json to_json(const std::vector<NamedMetric>& metrics, const EvaluationRow& row,
                               const ReportOptions& options) {
  nlohmann::ordered_json json{{"system", row.system}, {"test_set", row.test_set}};
  for (size_t n = 0; n < metrics.size(); ++n) {
    const MetricResult& result = row.results[n];
    const std::string& key = metrics[n].key;
    json[key] = result.score;
    if (result.interval) {
      json[key + "_mean"] = result.interval->mean;
      json[key + "_confidence"] = result.interval->half_width;
    }
    if (result.p_value) json[key + "_p_value"] = *result.p_value;
  }
  for (const NamedMetric& metric : metrics) json[metric.key + "_signature"] = signature_of(metric, options);
  if (row.invented) {
    json["invented_share"] = share(row.invented->size(), row.lines);
    json["invented"] = to_json(*row.invented, "words");
  }
  if (row.lacking) {
    json["contained_share"] = 1 - share(row.lacking->size(), row.lines);
    json["lacking"] = to_json(*row.lacking, "forms");
  }
  json["lines"] = row.lines;
  json["seconds"] = row.seconds;
  return json;
}

std::string score_text(const MetricResult& result) {
  std::string text = fmt::format("{:6.2f}", result.score);
  if (result.interval) {
    text +=
        fmt::format(" (\u03bc = {:.2f} \u00b1 {:.2f})", result.interval->mean, result.interval->half_width);
  }
  if (result.p_value) {
    text += fmt::format(" (p = {:.4f}){}", *result.p_value, *result.p_value < kSignificant ? "*" : "");
  }
  return text;
}

/// "invented words in 2 of 100 lines (2.00%):" and one line per finding.
std::string findings_text(const EvaluationRow& row) {
  std::string text;
  const auto add = [&](const std::vector<Finding>& findings, const std::string& heading) {
    text += fmt::format("{}{}\n", heading, findings.empty() ? "" : ":");
    for (const Finding& each : findings) {
      Lines words;
      for (const Lines& alternatives : each.words) words.push_back(printable(alternatives.front()));
      text +=
          fmt::format("  line {}: {}: {}\n", each.line, fmt::join(words, ", "), printable(each.translation));
    }
  };
  const auto percent = [&](size_t lines) { return 100 * share(lines, row.lines); };
  if (row.invented) {
    const size_t count = row.invented->size();
    add(*row.invented, fmt::format("invented words in {} of {} ({:.2f}%)", count, counted(row.lines, "line"),
                                   percent(count)));
  }
  if (row.lacking) {
    const size_t count = row.lines - row.lacking->size();
    add(*row.lacking,
        fmt::format("{} of {} ({:.2f}%) contain the required forms{}", count, counted(row.lines, "line"),
                    percent(count), row.lacking->empty() ? "" : "; these do not"));
  }
  return text;
}

std::string table_text(const std::vector<NamedMetric>& metrics, const std::vector<EvaluationRow>& rows) {
  std::vector<std::string> heading{"test set", "system"};
  for (const NamedMetric& metric : metrics) heading.push_back(metric.corpus.name);
  if (rows[0].invented) heading.emplace_back("invented");
  if (rows[0].lacking) heading.emplace_back("contained");
  std::vector<std::vector<std::string>> cells{heading};
  for (const EvaluationRow& row : rows) {
    std::vector<std::string> line{printable(row.test_set), printable(row.system)};
    for (const MetricResult& result : row.results) line.push_back(score_text(result));
    if (row.invented) line.push_back(fmt::format("{:.2f}%", 100 * share(row.invented->size(), row.lines)));
    if (row.lacking)
      line.push_back(fmt::format("{:.2f}%", 100 - 100 * share(row.lacking->size(), row.lines)));
    cells.push_back(line);
  }
  return text_table(cells, heading.size());  // text columns are left-aligned, scores right-aligned
}

}  // namespace

std::vector<std::string> metric_keys(const MeasureOptions& options) {
  std::vector<std::string> keys;
  std::string_view rest = options.metrics;
  while (true) {
    const size_t comma = rest.find(',');
    keys.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) return keys;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<NamedMetric> make_metrics(const MeasureOptions& options, size_t references) {
  std::vector<NamedMetric> metrics;
  for (const std::string& key : metric_keys(options)) {
    metrics.push_back(metric_named(key, options, references));
  }
  return metrics;
}

std::vector<EvaluationRow> measure(const std::vector<NamedMetric>& metrics, const MeasureOptions& options,
                                   const TestSet& test_set, const std::vector<SystemOutput>& outputs) {
  std::vector<EvaluationRow> rows;
  for (const SystemOutput& output : outputs) {
    rows.push_back({.system = output.system,
                    .test_set = test_set.name,
                    .lines = test_set.size(),
                    .seconds = output.seconds,
                    .results = {},
                    .invented = {},
                    .lacking = {}});
    if (options.known != nullptr) rows.back().invented = find_invented(test_set, output, options);
    if (test_set.required) rows.back().lacking = find_lacking(*test_set.required, test_set, output);
  }
  for (const NamedMetric& metric : metrics) {
    LineStatistics baseline;
    for (size_t n = 0; n < outputs.size(); ++n) {
      LineStatistics lines = line_statistics(metric.corpus, outputs[n].lines, test_set.references);
      MetricResult result{.score = score_of(metric.corpus, lines), .interval = {}, .p_value = {}};
      if (options.confidence || options.paired == PairedTest::kBootstrap) {
        result.interval = bootstrap_interval(metric.corpus, lines, options.resampling);
      }
      if (n > 0 && options.paired != PairedTest::kNone) {
        result.p_value = p_value_of(metric.corpus, baseline, lines, options);
      }
      rows[n].results.push_back(result);
      if (n == 0) baseline = std::move(lines);
    }
  }
  return rows;
}

void write_sentences(const std::vector<NamedMetric>& metrics, const TestSet& test_set,
                     const SystemOutput& system, bool json, LineOutput& output) {
  check_scorable(system.lines, test_set.references);
  for (size_t n = 0; n < test_set.size(); ++n) {
    Lines references;
    for (const Lines& each : test_set.references) references.push_back(each[n]);
    nlohmann::ordered_json object{{"line", test_set.lines[n]}};
    std::vector<std::string> columns;
    for (const NamedMetric& metric : metrics) {
      const double score = metric.sentence.score(metric.sentence.statistics(system.lines[n], references));
      object[metric.key] = score;
      columns.push_back(fmt::format("{:.2f}", score));
    }
    object["translation"] = system.lines[n];
    output.write_line(json ? object.dump() : fmt::format("{}", fmt::join(columns, "\t")));
  }
}

void write_report(const std::vector<NamedMetric>& metrics, const std::vector<EvaluationRow>& rows,
                  const ReportOptions& options, LineOutput& output) {
  if (options.json) {
    for (const EvaluationRow& row : rows) output.write_line(to_json(metrics, row, options).dump());
    return;
  }
  const bool single = rows.size() == 1;
  if (!single) output.write(table_text(metrics, rows) + "\n");
  for (size_t n = 0; n < metrics.size(); ++n) {
    std::string line = fmt::format("{:<7} ", metrics[n].corpus.name);
    if (single) line += score_text(rows[0].results[n]) + "  ";
    output.write_line(line + signature_of(metrics[n], options));
  }
  for (const EvaluationRow& row : rows) {
    const std::string text = findings_text(row);
    if (text.empty()) continue;
    if (!single) output.write_line(fmt::format("\n{}, {}:", printable(row.test_set), printable(row.system)));
    output.write(text);
  }
}

}  // namespace heed::cli
