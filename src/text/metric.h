// A score of a text as a function of sums over its lines. That is what resampling needs: it sums other lines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "text/bleu.h"
#include "text/chrf.h"
#include "text/ter.h"

namespace heed {

struct Metric {
  std::string name;       ///< as sacreBLEU prints it: "BLEU", "chrF2", "chrF2++", "TER"
  std::string signature;  ///< as sacreBLEU prints it
  bool lower_is_better = false;
  /// What is summed, of one line and its references. All vectors of a metric have the same length.
  std::function<std::vector<double>(const std::string& hypothesis,
                                    const std::vector<std::string>& references)>
      statistics;
  /// The score, of sums of such vectors.
  std::function<double(const std::vector<double>& sums)> score;
};

/// For `references` references of each line. Throw kUsage for options that are impossible.
Metric bleu_metric(size_t references, const BleuOptions& options = {});
Metric chrf_metric(size_t references, const ChrfOptions& options = {});
Metric ter_metric(size_t references, const TerOptions& options = {});

}  // namespace heed
