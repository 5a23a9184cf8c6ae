// Curves as text, such as the training loss.
//
// Uses Unicode's braille patterns with 2 x 4 dots per character. A character has the colour of the last curve
// that passes through it; without colours, each curve is drawn with a letter that the legend explains.
#pragma once

#include <string>
#include <vector>

#include "inspect/draw/elements/curve.h"
#include "inspect/terminal/terminal_text.h"

namespace heed {

struct CurveTerminalOptions {
  int columns = 80, rows = 16;  ///< total size; at least 30 x 8
  TerminalColours colours = TerminalColours::kNone;
  std::string title;   ///< above; empty: none
  std::string x_name;  ///< under the x axis; empty: none
  AxisScale x_scale = AxisScale::kLinear, y_scale = AxisScale::kLinear;
};

/// Lines ending with LF, at most `columns` wide. Throws like curve_ranges, and kUsage if the size is too
/// small.
std::string curve_terminal(const std::vector<Curve>& curves, const CurveTerminalOptions& options = {});

}  // namespace heed
