// Text for terminals: cut and filled to a number of columns, with or without colour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inspect/colour_map.h"

namespace heed {

/// What a terminal can show.
enum class TerminalColours { kNone, k256, kTrueColour };

/// What the environment says: none where NO_COLOR is set to anything, TERM is "dumb" or output is no
/// terminal; all where COLORTERM is "truecolor" or "24bit"; else 256. An unset variable is a null pointer.
struct TerminalEnvironment {
  const char* no_color = nullptr;
  const char* colorterm = nullptr;
  const char* term = nullptr;
  bool is_terminal = false;
};
TerminalColours terminal_colours(const TerminalEnvironment& environment);

/// At most so many columns, the last one "…" where something was left out; no character is cut in two.
std::string elide_columns(std::string_view text, int columns);

/// Filled with spaces to so many columns (see elide_columns), at the right end, or at the left one. Text
/// written from right to left is closed by a mark that keeps the rest of the line in its order.
std::string fit_left(std::string_view text, int columns);
std::string fit_right(std::string_view text, int columns);

/// The text as a column of characters to be written downwards: each with its combining marks, at most `rows`,
/// the last one "…" where something was left out.
std::vector<std::string> downward_characters(std::string_view text, int rows);

/// Text on a background of this colour, in black or white; the text itself where there are no colours.
std::string on_colour(std::string_view text, Colour background, TerminalColours colours);
/// Text in this colour.
std::string in_colour(std::string_view text, Colour colour, TerminalColours colours);

}  // namespace heed
