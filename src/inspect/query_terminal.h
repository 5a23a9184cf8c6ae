// The weights of one query as text: a line for each key, with its weight in per cent and a bar.
#pragma once

#include <string>

#include "inspect/bar_picture.h"
#include "inspect/terminal_text.h"
#include "inspect/trace.h"

namespace heed {

struct QueryTerminalOptions {
  int columns = 80;  ///< lines are never wider; at least 20
  TerminalColours colours = TerminalColours::kNone;
  bool sentences = true;   ///< source and target above
  int longest_label = 24;  ///< columns for a key's name; longer ones end in "…"
};

/// Lines that end in a line feed; a bar across the whole width is a weight of 1, as the line above the bars
/// says. Throws as check_trace does, and kUsage for a terminal too narrow, or where there is no such query.
std::string query_terminal(const Trace& trace, const QueryChoice& choice,
                           const QueryTerminalOptions& options = {});

}  // namespace heed
