// What heed evaluate measures on translations, and how it writes that: scores with confidence intervals and
// paired tests, invented words, what translations must contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/evaluation.h"
#include "cli/line_output.h"
#include "text/invented_words.h"
#include "text/metric.h"
#include "text/significance.h"

namespace heed::cli {

enum class PairedTest { kNone, kBootstrap, kRandomization };

struct MeasureOptions {
  std::string metrics = "bleu,chrf,chrf++";  ///< some of bleu, chrf, chrf++ and ter
  std::string tokenize = "13a";              ///< of BLEU
  bool lowercase = false;                    ///< of all but TER, which always is
  bool confidence = false;                   ///< intervals by bootstrap resampling
  PairedTest paired = PairedTest::kNone;     ///< every system against the first
  ResamplingOptions resampling;
  const KnownWords* known = nullptr;  ///< look for invented words; nullptr: do not
  InventedWordsOptions invented;
};

/// A score, by the key under which JSON has it.
struct NamedMetric {
  std::string key;
  Metric corpus, sentence;
};

/// Throws kUsage for names that there are not, kNotFound for a tokenizer whose model is missing.
std::vector<NamedMetric> make_metrics(const MeasureOptions& options, size_t references);

struct MetricResult {
  double score = 0;
  std::optional<ConfidenceInterval> interval;
  std::optional<double> p_value;  ///< of the difference to the first system
};

/// A line that a check has something to say about.
struct Finding {
  uint64_t line = 0;
  Lines words;  ///< those invented; the forms of which none is there
  std::string translation;
};

/// What one system gets on one test set.
struct EvaluationRow {
  std::string system, test_set;
  size_t lines = 0;
  double seconds = 0;
  std::vector<MetricResult> results;  ///< in the order of the metrics
  std::optional<std::vector<Finding>> invented, lacking;
};

/// The rows of all systems on one test set; the first is the baseline.
std::vector<EvaluationRow> measure(const std::vector<NamedMetric>& metrics, const MeasureOptions& options,
                                   const TestSet& test_set, const std::vector<SystemOutput>& outputs);

/// The scores of every line: tab-separated, or one JSON object a line.
void write_sentences(const std::vector<NamedMetric>& metrics, const TestSet& test_set,
                     const SystemOutput& system, bool json, LineOutput& output);

struct ReportOptions {
  bool json = false;
  std::string test;  ///< how signatures name the resampling: "bs", "ar", or "" for none
  int samples = 0;
  uint32_t seed = 0;
};

/// One row with its signatures, or a table of several; as JSON one object a line.
void write_report(const std::vector<NamedMetric>& metrics, const std::vector<EvaluationRow>& rows,
                  const ReportOptions& options, LineOutput& output);

}  // namespace heed::cli
