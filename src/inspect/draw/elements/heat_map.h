// Components of heat maps: cells, axis labels, colour legend.
#pragma once

#include <string>
#include <vector>

#include "inspect/draw/picture.h"
#include "inspect/trace/trace.h"

namespace heed {

/// The labels of one axis, measured once for all matrices that share it.
struct AxisLabels {
  std::vector<Label> labels;
  TextSize size;        ///< of the largest label, within max_width
  Text style;           ///< font size and max_width
  int every = 1;        ///< label every n-th cell, if cells are small
  bool upward = false;  ///< key labels wider than a cell are written from bottom to top

  /// The minimum distance of two label baselines without overlap.
  double pitch() const { return size.ascent + size.descent + 1; }
};

AxisLabels make_axis_labels(const Picture& picture, std::vector<Label> labels, const Text& style);

/// The height of key labels under a matrix.
double key_labels_height(const AxisLabels& labels);

struct HeatMapStyle {
  double cell = 12;    ///< side of a cell
  double darkest = 1;  ///< the weight with the darkest colour
  Colour grid{0.6, 0.6, 0.6};
  bool values = false;    ///< show weights in cells as percentages
  double value_size = 7;  ///< font size of these
};

/// Draws the cells with their upper left corner at `corner`. Row = query, column = key.
void draw_cells(Picture& picture, const AttentionMatrix& matrix, Point corner, const HeatMapStyle& style);

/// Query labels end at `right`; the first cell begins at `top`.
void draw_query_labels(Picture& picture, const AxisLabels& labels, double right, double top, double cell);

/// Key labels begin below `top`; the first cell begins at `left`.
void draw_key_labels(Picture& picture, const AxisLabels& labels, double left, double top, double cell);

/// The colour scale.
struct ColourScale {
  std::string name = "attention weight";
  double least = 0, most = 1;  ///< the values of the first and the last colour
  bool open = false;           ///< whether larger values have the last colour
};

/// Draws the colour bar with name and numbers; `corner` is its upper left corner.
void draw_legend(Picture& picture, Point corner, const ColourScale& scale, const Text& style);
/// The size of draw_legend.
Box legend_size(const Picture& picture, const Text& style, const ColourScale& scale = {});

}  // namespace heed
