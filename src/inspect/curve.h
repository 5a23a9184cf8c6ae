// A series of points, such as the loss at each step.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "inspect/axis.h"

namespace heed {

struct Curve {
  std::string name;
  std::vector<double> x, y;  ///< as many of each; where y is not finite, the line is broken
  bool marked = false;       ///< points that stand out, without a line between them
};

struct CurveRanges {
  double low_x = 0, high_x = 0, low_y = 0, high_y = 0;
};

/// What the finite points of all curves cover. Throws kShape where x and y differ in number, kUsage where no
/// point is finite, or is not above 0 although an axis is logarithmic.
CurveRanges curve_ranges(const std::vector<Curve>& curves, AxisScale x_scale, AxisScale y_scale);

/// The unbroken stretches of a curve as (x, y) between 0 and 1 of the axes. At most some 4 points for each of
/// `columns` parts of the x axis are kept: first, lowest, highest and last, so that no peak is lost.
std::vector<std::vector<std::pair<double, double>>> curve_lines(const Curve& curve, const Axis& x_axis,
                                                                const Axis& y_axis, int columns);

}  // namespace heed
