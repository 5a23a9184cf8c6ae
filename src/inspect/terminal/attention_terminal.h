// Attention matrices in a terminal, with or without colours.
//
// Rows are queries, columns are keys, labelled vertically above the cells. Heads of a layer are placed side
// by side and share their query labels. A matrix with too many keys is continued below under "keys 1 to 30",
// so that every weight is shown. With colours, a cell is a block of the colour map; without, one of " ░▒▓█",
// with thresholds in the last line.
#pragma once

#include <string>

#include "inspect/terminal/terminal_text.h"
#include "inspect/trace/trace.h"

namespace heed {

struct TerminalOptions {
  int columns = 80;  ///< lines are never wider; at least 20
  TerminalColours colours = TerminalColours::kNone;
  bool values = false;        ///< show weights in the cells as percentages
  bool sentences = true;      ///< source and target above
  int max_label_length = 14;  ///< of query labels in columns and key labels in rows; longer ones end in "…"
};

/// Lines ending with LF. Throws like check_trace, and kUsage if the terminal is too narrow.
std::string attention_terminal(const Trace& trace, const TerminalOptions& options = {});

}  // namespace heed
