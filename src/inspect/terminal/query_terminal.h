// The weights of one query as text: one line per key, with percentage and bar.
#pragma once

#include <string>

#include "inspect/draw/bar_picture.h"
#include "inspect/terminal/terminal_text.h"
#include "inspect/trace/trace.h"

namespace heed {

struct QueryTerminalOptions {
  int columns = 80;  ///< lines are never wider; at least 20
  TerminalColours colours = TerminalColours::kNone;
  bool sentences = true;      ///< source and target above
  int max_label_length = 24;  ///< columns for a key label; longer ones end in "…"
};

/// Lines ending with LF; a bar of the full width is a weight of 1. Throws like check_trace, and kUsage if the
/// terminal is too narrow or the query does not exist.
std::string query_terminal(const Trace& trace, const QueryChoice& choice,
                           const QueryTerminalOptions& options = {});

}  // namespace heed
