// How much a score, or the difference between two, owes to the choice of lines: equal to sacreBLEU 2.6,
// random numbers included.
//
// Bootstrap resampling (Koehn, "Statistical significance tests for machine translation evaluation", 2004)
// scores many texts of as many lines, drawn from those there are with replacement. Approximate randomization
// (Riezler and Maxwell, "On some pitfalls in automatic evaluation and significance testing for MT", 2005)
// exchanges the outputs of two systems line by line, by chance, and sees how often the difference is larger
// than the real one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/metric.h"

namespace heed {

/// What Metric::statistics gives for each line.
using LineStatistics = std::vector<std::vector<double>>;

/// Throws what check_scorable throws. `references[r][n]` is the r-th reference of `hypotheses[n]`.
LineStatistics line_statistics(const Metric& metric, const std::vector<std::string>& hypotheses,
                               const std::vector<std::vector<std::string>>& references);

/// The score of all lines.
double score_of(const Metric& metric, const LineStatistics& lines);

struct ResamplingOptions {
  int resamples = 1000;   ///< for bootstrap
  int trials = 10000;     ///< for approximate randomization
  uint32_t seed = 12345;  ///< sacreBLEU's
};

/// The mean of the resamples, and half the width of the interval that holds 95% of them.
struct ConfidenceInterval {
  double mean = 0, half_width = 0;
};
ConfidenceInterval bootstrap_interval(const Metric& metric, const LineStatistics& lines,
                                      const ResamplingOptions& options = {});

/// The probability of a difference of scores as large as that between the two systems, were they equally
/// good; two sided. Both have the same lines.
double paired_bootstrap(const Metric& metric, const LineStatistics& baseline, const LineStatistics& system,
                        const ResamplingOptions& options = {});
double paired_approximate_randomization(const Metric& metric, const LineStatistics& baseline,
                                        const LineStatistics& system, const ResamplingOptions& options = {});

/// The signature with the test behind the number of references: "nrefs:1|bs:1000|seed:12345|...". `test` is
/// bs or ar.
std::string with_test(const std::string& signature, const std::string& test, int samples, uint32_t seed);

}  // namespace heed
