// Confidence intervals and significance tests of scores, equal to sacreBLEU 2.6 including its random numbers.
//
// Bootstrap resampling (Koehn, "Statistical significance tests for machine translation evaluation", 2004)
// scores many test sets whose lines are sampled with replacement. Approximate randomization (Riezler and
// Maxwell, "On some pitfalls in automatic evaluation and significance testing for MT", 2005) randomly swaps
// the outputs of two systems line by line, and counts how often the difference is larger than the observed
// one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/metric.h"

namespace heed {

/// Metric::statistics of each line.
using LineStatistics = std::vector<std::vector<double>>;

/// Throws the errors of check_scorable(). `references[r][n]` is the r-th reference of `hypotheses[n]`.
LineStatistics line_statistics(const Metric& metric, const std::vector<std::string>& hypotheses,
                               const std::vector<std::vector<std::string>>& references);

/// The corpus score.
double score_of(const Metric& metric, const LineStatistics& lines);

struct ResamplingOptions {
  int resamples = 1000;   ///< for bootstrap
  int trials = 10000;     ///< for approximate randomization
  uint32_t seed = 12345;  ///< sacreBLEU's
};

/// Mean and half width of the 95% interval of the resampled scores.
struct ConfidenceInterval {
  double mean = 0, half_width = 0;
};
ConfidenceInterval bootstrap_interval(const Metric& metric, const LineStatistics& lines,
                                      const ResamplingOptions& options = {});

/// Two-sided p-values: the probability of a score difference at least as large as observed if both systems
/// were equally good. Both must have the same lines.
double paired_bootstrap(const Metric& metric, const LineStatistics& baseline, const LineStatistics& system,
                        const ResamplingOptions& options = {});
double paired_approximate_randomization(const Metric& metric, const LineStatistics& baseline,
                                        const LineStatistics& system, const ResamplingOptions& options = {});

/// Inserts the test into a signature: "nrefs:1|bs:1000|seed:12345|...". `test` is bs or ar.
std::string with_test(const std::string& signature, const std::string& test, int samples, uint32_t seed);

}  // namespace heed
