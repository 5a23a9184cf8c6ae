// A series of points, such as the loss at each step.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "inspect/draw/elements/axis.h"

namespace heed {

struct Curve {
  std::string name;
  std::vector<double> x, y;  ///< same size; the line is interrupted where y is not finite
  bool marked = false;       ///< draw marked points without a line
};

struct CurveRanges {
  double low_x = 0, high_x = 0, low_y = 0, high_y = 0;
};

/// The ranges of the finite points of all curves. Throws kShape if the sizes of x and y differ, kUsage if no
/// point is finite, or a value is not above 0 on a logarithmic axis.
CurveRanges curve_ranges(const std::vector<Curve>& curves, AxisScale x_scale, AxisScale y_scale);

/// The continuous segments of a curve in axis coordinates 0 to 1. Keeps at most about 4 points for each of
/// `columns` parts of the x axis: first, lowest, highest and last, so that no peak is lost.
std::vector<std::vector<std::pair<double, double>>> curve_lines(const Curve& curve, const Axis& x_axis,
                                                                const Axis& y_axis, int columns);

}  // namespace heed
