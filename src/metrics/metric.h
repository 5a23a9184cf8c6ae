// A corpus-level metric as a function of sums of per-line statistics, so that resampling only needs to sum
// again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"

namespace heed {

struct Metric {
  std::string name;       ///< sacreBLEU's name: "BLEU", "chrF2", "chrF2++", "TER"
  std::string signature;  ///< sacreBLEU's signature
  bool lower_is_better = false;
  /// The statistics of one line and its references, a vector of fixed length for each metric.
  std::function<std::vector<double>(const std::string& hypothesis,
                                    const std::vector<std::string>& references)>
      statistics;
  /// The score from the sum of such vectors.
  std::function<double(const std::vector<double>& sums)> score;
};

/// For `references` references per line. Throw kUsage for invalid options.
Metric bleu_metric(size_t references, const BleuOptions& options = {});
Metric chrf_metric(size_t references, const ChrfOptions& options = {});
Metric ter_metric(size_t references, const TerOptions& options = {});

}  // namespace heed
