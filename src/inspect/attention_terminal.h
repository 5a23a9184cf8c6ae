// Attention as text: the same matrices in a terminal, with or without colours, never wider than it.
//
// A row is a query, a column a key, written downwards above the cells. As many heads of a layer as fit stand
// side by side and share the names of their queries. A matrix with more keys than fit is continued below,
// some keys at a time, under "keys 1 to 30", so that every weight is shown. With colours a cell is a block of
// the map kBlues, as in pictures: the darker, the more; without, one of " ░▒▓█", whose thresholds the last
// line gives.
#pragma once

#include <string>

#include "inspect/terminal_text.h"
#include "inspect/trace.h"

namespace heed {

struct TerminalOptions {
  int columns = 80;  ///< lines are never wider; at least 20
  TerminalColours colours = TerminalColours::kNone;
  bool values = false;     ///< weights in per cent in the cells, which get wider for it
  bool sentences = true;   ///< source and target above
  int longest_label = 14;  ///< columns for a query's name, and rows for a key's; longer ones end in "…"
};

/// Lines that end in a line feed. Throws as check_trace does, and kUsage for a terminal too narrow.
std::string attention_terminal(const Trace& trace, const TerminalOptions& options = {});

}  // namespace heed
