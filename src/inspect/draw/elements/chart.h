// The frame of curves, bar charts and histograms: title, legend, axes with ticks.
#pragma once

#include <string>
#include <vector>

#include "inspect/draw/elements/axis.h"
#include "inspect/draw/picture.h"

namespace heed {

struct ChartOptions {
  std::string title;           ///< a heading; empty: none
  std::string x_name, y_name;  ///< axis names with units; empty: none
  AxisScale x_scale = AxisScale::kLinear, y_scale = AxisScale::kLinear;
  double width = 440, height = 280;  ///< of the whole picture, in points
  double font_size = 9;
  Colour background{1, 1, 1};
  std::string font = "Noto Sans, DejaVu Sans, sans-serif";
};

/// Colour and dash pattern of the n-th series: Okabe and Ito's colour-blind-safe palette ("Color universal
/// design", 2008), with dashes for monochrome prints.
struct SeriesStyle {
  Colour colour;
  std::vector<double> dashes;
};
SeriesStyle series_style(size_t n);

/// Lays out the frame of a chart; the caller draws its content. Throws kUsage if the size is too small.
class Chart {
 public:
  explicit Chart(const ChartOptions& options);

  /// Adds the legend above the plot. Call before `begin`.
  void add_legend(const std::vector<std::string>& names);
  /// Draws the y axis, and reserves `below` points under the plot for labels of the caller.
  void begin(const Axis& y_axis, double below);
  /// Draws the ticks of an x axis under the plot, in a space of `x_axis_room`.
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
  double top_ = 0;  // the next free position above the plot
};

}  // namespace heed
