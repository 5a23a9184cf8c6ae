// Terminal text: truncation, padding, and colours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inspect/draw/elements/colour_map.h"

namespace heed {

/// Colour support of a terminal.
enum class TerminalColours { kNone, k256, kTrueColour };

/// Detects colour support: none if NO_COLOR is set, TERM is "dumb" or the output is not a terminal; true
/// colour if COLORTERM is "truecolor" or "24bit"; else 256 colours. Unset variables are null pointers.
struct TerminalEnvironment {
  const char* no_color = nullptr;
  const char* colorterm = nullptr;
  const char* term = nullptr;
  bool is_terminal = false;
};
TerminalColours terminal_colours(const TerminalEnvironment& environment);

/// Truncates to a number of columns, with "…" at the end, without splitting characters.
std::string elide_columns(std::string_view text, int columns);

/// Truncates (see elide_columns) and pads with spaces on the right or left. Right-to-left text is followed by
/// a mark that preserves the order of the rest of the line.
std::string fit_left(std::string_view text, int columns);
std::string fit_right(std::string_view text, int columns);

/// Splits text into characters for vertical writing, each with its combining marks; at most `rows`, the last
/// one "…" if truncated.
std::vector<std::string> downward_characters(std::string_view text, int rows);

/// Text in black or white on a coloured background; plain without colours.
std::string on_colour(std::string_view text, Colour background, TerminalColours colours);
/// Text in this colour.
std::string in_colour(std::string_view text, Colour colour, TerminalColours colours);

}  // namespace heed
