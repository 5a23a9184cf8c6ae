// The frame that curves, bars and histograms are drawn in: heading, legend, axes with ticks.
#pragma once

#include <string>
#include <vector>

#include "inspect/axis.h"
#include "inspect/picture.h"

namespace heed {

struct ChartOptions {
  std::string title;           ///< a heading; empty: none
  std::string x_name, y_name;  ///< what the axes show, with units; empty: no name
  AxisScale x_scale = AxisScale::kLinear, y_scale = AxisScale::kLinear;
  double width = 440, height = 280;  ///< of the whole picture, in points
  double font_size = 9;
  Colour background{1, 1, 1};
  std::string font = "Noto Sans, DejaVu Sans, sans-serif";
};

/// The colour and the dashes of the n-th series: Okabe and Ito's palette for the colour-blind ("Color
/// universal design", 2008), and dashes, so that a print without colours can be read too.
struct SeriesStyle {
  Colour colour;
  std::vector<double> dashes;
};
SeriesStyle series_style(size_t n);

/// Lays out the frame of a chart; what is drawn inside is up to the caller. Throws kUsage for a size that
/// leaves no room for it.
class Chart {
 public:
  explicit Chart(const ChartOptions& options);

  /// Names of series, in rows above the plot. To be called before `begin`.
  void add_legend(const std::vector<std::string>& names);
  /// Draws the y axis and what lies under the plot: `below` points for labels of the caller.
  void begin(const Axis& y_axis, double below);
  /// Draws the ticks of an x axis under the plot, in the room that `x_axis_room` tells.
  void draw_x_axis(const Axis& x_axis);
  double x_axis_room() const;

  const Box& plot() const { return plot_; }
  double y_at(const Axis& axis, double value) const {
    return plot_.bottom() - axis.position(value) * plot_.height;
  }
  double x_at(const Axis& axis, double value) const {
    return plot_.left + axis.position(value) * plot_.width;
  }
  /// Text in the style of labels.
  Text label(const std::string& text, Point at, Align align) const;
  Picture& picture() { return picture_; }
  Colour ink() const { return ink_; }

 private:
  ChartOptions options_;
  Picture picture_;
  Colour ink_, faint_;
  Box plot_;
  double top_ = 0;  // where the next thing above the plot goes
};

}  // namespace heed
