// Curves as text, such as the loss so far while a model trains.
//
// One dot is an eighth of a character (Unicode's braille patterns: 2 across, 4 down). With several curves
// each character has one curve's colour, the last one's that passes there; without colours each curve is
// drawn with a letter of its own, which the legend names.
#pragma once

#include <string>
#include <vector>

#include "inspect/curve.h"
#include "inspect/terminal_text.h"

namespace heed {

struct CurveTerminalOptions {
  int columns = 80, rows = 16;  ///< of everything; at least 30 x 8
  TerminalColours colours = TerminalColours::kNone;
  std::string title;   ///< above; empty: none
  std::string x_name;  ///< under the x axis; empty: none
  AxisScale x_scale = AxisScale::kLinear, y_scale = AxisScale::kLinear;
};

/// Lines that end in a line feed, never wider than `columns`. Throws as curve_ranges does, kUsage for too
/// little room.
std::string curve_terminal(const std::vector<Curve>& curves, const CurveTerminalOptions& options = {});

}  // namespace heed
