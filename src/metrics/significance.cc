#include "metrics/significance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "metrics/ngrams.h"
#include "metrics/numpy_random.h"

namespace heed {
namespace {

using Sums = std::vector<double>;

void add(Sums& sums, const Sums& line) {
  for (size_t n = 0; n < sums.size(); ++n) sums[n] += line[n];
}

/// The scores of bootstrap samples; the same seed samples the same lines for every system.
std::vector<double> bootstrap_scores(const Metric& metric, const LineStatistics& lines,
                                     const ResamplingOptions& options) {
  NumpyRandom random(options.seed);
  std::vector<double> scores;
  for (int n = 0; n < options.resamples; ++n) {
    Sums sums(lines[0].size());
    for (size_t line = 0; line < lines.size(); ++line) {
      add(sums, lines[random.below(static_cast<uint32_t>(lines.size()))]);
    }
    scores.push_back(metric.score(sums));
  }
  return scores;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Adds one to both counts, so that the p-value is never 0 (Noreen, "Computer-intensive methods for testing
/// hypotheses", 1989).
double p_value(const std::vector<double>& differences, double real) {
  const auto larger = std::ranges::count_if(differences, [real](double each) { return each > real; });
  return static_cast<double>(larger + 1) / static_cast<double>(differences.size() + 1);
}

void check_paired(const LineStatistics& baseline, const LineStatistics& system) {
  if (baseline.size() != system.size()) {
    fail(ErrorKind::kUsage,
         "a paired test needs parallel outputs, but one system has {} lines and the other {}",
         baseline.size(), system.size());
  }
}

}  // namespace

LineStatistics line_statistics(const Metric& metric, const std::vector<std::string>& hypotheses,
                               const std::vector<std::vector<std::string>>& references) {
  check_scorable(hypotheses, references);
  LineStatistics lines;
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    lines.push_back(metric.statistics(hypotheses[line], references_of_line(references, line)));
  }
  return lines;
}

double score_of(const Metric& metric, const LineStatistics& lines) {
  Sums sums(lines[0].size());
  for (const Sums& line : lines) add(sums, line);
  return metric.score(sums);
}

ConfidenceInterval bootstrap_interval(const Metric& metric, const LineStatistics& lines,
                                      const ResamplingOptions& options) {
  std::vector<double> scores = bootstrap_scores(metric, lines, options);
  std::ranges::sort(scores);
  const size_t lower = scores.size() / 40, upper = scores.size() - lower - 1;  // 2.5% on each side
  return {mean(scores), 0.5 * (scores[upper] - scores[lower])};
}

double paired_bootstrap(const Metric& metric, const LineStatistics& baseline, const LineStatistics& system,
                        const ResamplingOptions& options) {
  check_paired(baseline, system);
  const std::vector<double> first = bootstrap_scores(metric, baseline, options),
                            second = bootstrap_scores(metric, system, options);
  std::vector<double> differences;
  for (size_t n = 0; n < first.size(); ++n) differences.push_back(std::abs(second[n] - first[n]));
  const double centre = mean(differences);
  for (double& each : differences) each -= centre;
  return p_value(differences, std::abs(score_of(metric, baseline) - score_of(metric, system)));
}

double paired_approximate_randomization(const Metric& metric, const LineStatistics& baseline,
                                        const LineStatistics& system, const ResamplingOptions& options) {
  check_paired(baseline, system);
  NumpyRandom random(options.seed);
  uint32_t bits = 0;
  int left = 0;
  std::vector<double> differences;
  for (int trial = 0; trial < options.trials; ++trial) {
    Sums first(baseline[0].size()), second(baseline[0].size());
    for (size_t line = 0; line < baseline.size(); ++line) {
      if (left == 0) {
        bits = random.next_32();
        left = 32;
      } else {
        bits >>= 1;
      }
      --left;
      const bool stays = (bits & 1) != 0;
      add(stays ? first : second, baseline[line]);
      add(stays ? second : first, system[line]);
    }
    differences.push_back(std::abs(metric.score(first) - metric.score(second)));
  }
  return p_value(differences, std::abs(score_of(metric, baseline) - score_of(metric, system)));
}

std::string with_test(const std::string& signature, const std::string& test, int samples, uint32_t seed) {
  const size_t bar = signature.find('|');
  return fmt::format("{}|{}:{}|seed:{}{}", signature.substr(0, bar), test, samples, seed,
                     signature.substr(bar));
}

}  // namespace heed
