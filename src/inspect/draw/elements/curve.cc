#include "inspect/draw/elements/curve.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace heed {
namespace {

using Line = std::vector<std::pair<double, double>>;

bool is_finite(const Curve& curve, size_t n) {
  return std::isfinite(curve.x[n]) && std::isfinite(curve.y[n]);
}

void check_above_zero(double value, const Curve& curve, char axis, AxisScale scale) {
  if (scale == AxisScale::kLogarithmic && value <= 0) {
    fail(ErrorKind::kUsage, "a logarithmic axis needs numbers above 0: curve '{}' has {} = {}", curve.name,
         axis, value);
  }
}

/// Keeps first, lowest, highest and last of each run of points in the same column.
Line thin(const Line& line, int columns) {
  Line kept;
  const auto column_of = [columns](const auto& point) { return std::floor(point.first * columns); };
  for (size_t begin = 0; begin < line.size();) {
    size_t end = begin + 1, lowest = begin, highest = begin;
    for (; end < line.size() && column_of(line[end]) == column_of(line[begin]); ++end) {
      if (line[end].second < line[lowest].second) lowest = end;
      if (line[end].second > line[highest].second) highest = end;
    }
    std::vector<size_t> chosen{begin, lowest, highest, end - 1};
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const size_t n : chosen) kept.push_back(line[n]);
    begin = end;
  }
  return kept;
}

}  // namespace

CurveRanges curve_ranges(const std::vector<Curve>& curves, AxisScale x_scale, AxisScale y_scale) {
  CurveRanges ranges;
  bool any = false;
  for (const Curve& curve : curves) {
    if (curve.x.size() != curve.y.size()) {
      fail(ErrorKind::kShape, "curve '{}' has {} x values and {} y values: they must be equally many",
           curve.name, curve.x.size(), curve.y.size());
    }
    for (size_t n = 0; n < curve.x.size(); ++n) {
      if (!is_finite(curve, n)) continue;
      const double x = curve.x[n], y = curve.y[n];
      check_above_zero(x, curve, 'x', x_scale);
      check_above_zero(y, curve, 'y', y_scale);
      if (!any) ranges = {x, x, y, y};
      any = true;
      ranges = {std::min(ranges.low_x, x), std::max(ranges.high_x, x), std::min(ranges.low_y, y),
                std::max(ranges.high_y, y)};
    }
  }
  if (!any) fail(ErrorKind::kUsage, "no curve has a point with finite x and y");
  return ranges;
}

std::vector<Line> curve_lines(const Curve& curve, const Axis& x_axis, const Axis& y_axis, int columns) {
  std::vector<Line> lines;
  bool broken = true;
  for (size_t n = 0; n < curve.x.size(); ++n) {
    if (!is_finite(curve, n)) {
      broken = true;
      continue;
    }
    if (broken) lines.emplace_back();
    broken = false;
    lines.back().emplace_back(x_axis.position(curve.x[n]), y_axis.position(curve.y[n]));
  }
  for (Line& line : lines) line = thin(line, columns);
  return lines;
}

}  // namespace heed
