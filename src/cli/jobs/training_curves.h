// Training curves: loss, validation scores, learning rate.
#pragma once

#include <string>
#include <vector>

#include "inspect/draw/elements/curve.h"

namespace heed::cli {

/// Curves that share their axes.
struct CurvePlot {
  std::string title;   ///< "Loss", "BLEU", "Learning rate"
  std::string y_name;  ///< label of the y axis
  std::vector<Curve> curves;
};

/// The plots for the training log of a model directory: training/metrics.jsonl, or, in bundled models,
/// training-log.jsonl, training-log-further.jsonl, training-log-further-2.jsonl and so on. The best
/// validation is a curve with one marked point. Empty without a log. Throws kFormat for a log that cannot be
/// read.
std::vector<CurvePlot> training_curves(const std::string& directory);

}  // namespace heed::cli
