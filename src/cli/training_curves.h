// The curves of a training: loss, scores of the validations, learning rate.
#pragma once

#include <string>
#include <vector>

#include "inspect/curve.h"

namespace heed::cli {

/// Curves that share their axes.
struct CurvePanel {
  std::string title;   ///< "Loss", "BLEU", "Learning rate"
  std::string y_name;  ///< what the y axis shows
  std::vector<Curve> curves;
};

/// The panels of the training whose log lies in a model directory: training/metrics.jsonl, or else
/// training-log.jsonl, with training-log-further.jsonl behind it, as bundled models have it. The best
/// validation is a curve of one marked point. None where there is no log, or nothing in it. Throws kFormat
/// for a log that cannot be read.
std::vector<CurvePanel> training_curves(const std::string& directory);

}  // namespace heed::cli
