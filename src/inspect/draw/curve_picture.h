// Curves over steps or minutes: loss, BLEU, tokens per second.
#pragma once

#include <vector>

#include "inspect/draw/elements/chart.h"
#include "inspect/draw/elements/curve.h"

namespace heed {

/// All curves on common axes, with a legend for named curves. Few points are marked. Throws like
/// curve_ranges, and kUsage if the size is too small.
Picture curve_picture(const std::vector<Curve>& curves, const ChartOptions& options = {});

}  // namespace heed
