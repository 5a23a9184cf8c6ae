#include "inspect/draw/curve_picture.h"

#include <algorithm>
#include <string>
#include <utility>

namespace heed {
namespace {

constexpr size_t kFewPoints = 30;  // up to this many points of a line are marked
constexpr double kMark = 3, kLargeMark = 6;

void draw_curve(Chart& chart, const std::vector<std::pair<double, double>>& line, const SeriesStyle& style,
                bool marked) {
  const double mark = marked ? kLargeMark : kMark;
  const Box& plot = chart.plot();
  Polyline drawn{{}, style.colour, 1.5, style.dashes};
  Boxes marks{{}, style.colour, false};
  for (const auto& [x, y] : line) {
    const Point point{plot.left + x * plot.width, plot.bottom() - y * plot.height};
    drawn.points.push_back(point);
    marks.boxes.push_back({point.x - mark / 2, point.y - mark / 2, mark, mark});
  }
  if (line.size() > 1 && !marked) chart.picture().add(std::move(drawn));
  if (line.size() <= kFewPoints || marked) chart.picture().add(std::move(marks));
}

}  // namespace

Picture curve_picture(const std::vector<Curve>& curves, const ChartOptions& options) {
  const CurveRanges ranges = curve_ranges(curves, options.x_scale, options.y_scale);
  const Axis x_axis(ranges.low_x, ranges.high_x, 6, options.x_scale, false);
  const Axis y_axis(ranges.low_y, ranges.high_y, 5, options.y_scale);
  Chart chart(options);
  std::vector<std::string> names;
  for (const Curve& curve : curves) names.push_back(curve.name);
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.empty(); })) {
    chart.add_legend(names);
  }
  chart.begin(y_axis, chart.x_axis_room());
  chart.draw_x_axis(x_axis);
  for (size_t n = 0; n < curves.size(); ++n) {
    for (const auto& line : curve_lines(curves[n], x_axis, y_axis, static_cast<int>(chart.plot().width))) {
      draw_curve(chart, line, series_style(n), curves[n].marked);
    }
  }
  return std::move(chart.picture());
}

}  // namespace heed
