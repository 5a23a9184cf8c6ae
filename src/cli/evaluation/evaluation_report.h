// Measurements and report of heed evaluate: metrics with confidence intervals and paired significance tests,
// invented words, and required forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/evaluation/evaluation.h"
#include "cli/jobs/resumable/line_output.h"
#include "metrics/invented_words.h"
#include "metrics/metric.h"
#include "metrics/significance.h"

namespace heed::cli {

enum class PairedTest { kNone, kBootstrap, kRandomization };

struct MeasureOptions {
  std::string metrics = "bleu,chrf,chrf++";  ///< some of bleu, chrf, chrf++ and ter
  std::string tokenize = "13a";              ///< of BLEU
  bool lowercase = false;                    ///< of BLEU and chrF; TER always ignores case
  bool confidence = false;                   ///< intervals by bootstrap resampling
  PairedTest paired = PairedTest::kNone;     ///< compares each system with the first
  ResamplingOptions resampling;
  const KnownWords* known = nullptr;  ///< counts invented words if not null
  InventedWordsOptions invented;
};

/// A metric and its key in the JSON output.
struct NamedMetric {
  std::string key;
  Metric corpus, sentence;
};

/// The keys in MeasureOptions::metrics, known or not.
std::vector<std::string> metric_keys(const MeasureOptions& options);

/// Throws kUsage for an unknown metric, kNotFound if the model of a tokenizer is missing.
std::vector<NamedMetric> make_metrics(const MeasureOptions& options, size_t references);

struct MetricResult {
  double score = 0;
  std::optional<ConfidenceInterval> interval;
  std::optional<double> p_value;  ///< for the difference to the first system
};

/// A line that fails a check.
struct Finding {
  uint64_t line = 0;
  /// Each invented word alone, or the forms of each column of which none occurs.
  std::vector<Lines> words;
  std::string translation;
};

/// The results of one system on one test set.
struct EvaluationRow {
  std::string system, test_set;
  size_t lines = 0;
  double seconds = 0;
  std::vector<MetricResult> results;  ///< in the order of the metrics
  std::optional<std::vector<Finding>> invented, lacking;
};

/// Results of all systems on one test set; the first system is the baseline.
std::vector<EvaluationRow> measure(const std::vector<NamedMetric>& metrics, const MeasureOptions& options,
                                   const TestSet& test_set, const std::vector<SystemOutput>& outputs);

/// Writes the scores of every line: tab-separated, or one JSON object per line.
void write_sentences(const std::vector<NamedMetric>& metrics, const TestSet& test_set,
                     const SystemOutput& system, bool json, LineOutput& output);

struct ReportOptions {
  bool json = false;
  std::string test;  ///< name of the resampling in signatures: "bs", "ar", or "" for none
  int samples = 0;
  uint32_t seed = 0;
};

/// Writes one row with its signatures, or a table of several rows; as JSON one object per line.
void write_report(const std::vector<NamedMetric>& metrics, const std::vector<EvaluationRow>& rows,
                  const ReportOptions& options, LineOutput& output);

}  // namespace heed::cli
