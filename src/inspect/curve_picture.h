// Curves over steps or minutes: loss, BLEU, tokens per second.
#pragma once

#include <vector>

#include "inspect/chart.h"
#include "inspect/curve.h"

namespace heed {

/// All curves on one pair of axes, with a legend where they have names. Points stand out where there are few.
/// Throws as curve_ranges does, and kUsage where the size leaves no room.
Picture curve_picture(const std::vector<Curve>& curves, const ChartOptions& options = {});

}  // namespace heed
