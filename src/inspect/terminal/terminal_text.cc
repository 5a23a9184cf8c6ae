#include "inspect/terminal/terminal_text.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr std::string_view kEllipsis = "\u2026";
constexpr std::string_view kLeftToRightMark = "\u200E";

/// Characters, each with its zero-width marks.
std::vector<std::string> clusters_of(std::string_view text) {
  std::vector<std::string> clusters;
  for (const char32_t code : utf8_to_utf32(text)) {
    if (clusters.empty() || display_width(code) > 0) clusters.emplace_back();
    append_utf8(clusters.back(), code);
  }
  return clusters;
}

bool runs_leftward(std::string_view text) {
  const std::u32string codes = utf8_to_utf32(text);
  return std::any_of(codes.begin(), codes.end(), [](char32_t code) {
    const UCharDirection direction = u_charDirection(static_cast<UChar32>(code));
    return direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC ||
           direction == U_ARABIC_NUMBER;
  });
}

std::string fit(std::string_view text, int columns, bool right) {
  std::string fitted = elide_columns(text, columns);
  const std::string space(std::max(0, columns - display_width(fitted)), ' ');
  if (runs_leftward(fitted)) fitted += kLeftToRightMark;
  return right ? space + fitted : fitted + space;
}

/// The number of the nearest colour of xterm's 6 x 6 x 6 cube, whose steps are 0, 95, 135, 175, 215 and 255.
int cube_number(Colour colour) {
  static constexpr std::array<int, 6> kSteps{0, 95, 135, 175, 215, 255};
  const auto nearest = [](double part) {
    const auto farther = [part](int one, int other) {
      return std::abs(one - part * 255) < std::abs(other - part * 255);
    };
    return static_cast<int>(std::min_element(kSteps.begin(), kSteps.end(), farther) - kSteps.begin());
  };
  return 16 + 36 * nearest(colour.red) + 6 * nearest(colour.green) + nearest(colour.blue);
}

/// The part of an escape sequence that names a colour, as foreground (38) or background (48).
std::string colour_code(int ground, Colour colour, TerminalColours colours) {
  if (colours == TerminalColours::k256) return fmt::format("{};5;{}", ground, cube_number(colour));
  const auto byte = [](double part) { return static_cast<int>(std::lround(part * 255)); };
  return fmt::format("{};2;{};{};{}", ground, byte(colour.red), byte(colour.green), byte(colour.blue));
}

}  // namespace

TerminalColours terminal_colours(const TerminalEnvironment& environment) {
  const auto text = [](const char* value) { return std::string_view(value == nullptr ? "" : value); };
  if (!environment.is_terminal || !text(environment.no_color).empty() || text(environment.term) == "dumb") {
    return TerminalColours::kNone;
  }
  const std::string_view colours = text(environment.colorterm);
  return colours == "truecolor" || colours == "24bit" ? TerminalColours::kTrueColour : TerminalColours::k256;
}

std::string elide_columns(std::string_view text, int columns) {
  if (columns <= 0) return "";
  if (display_width(text) <= columns) return std::string(text);
  std::string kept;
  int width = 1;  // of the ellipsis
  for (const std::string& cluster : clusters_of(text)) {
    width += display_width(cluster);
    if (width > columns) break;
    kept += cluster;
  }
  return kept.append(kEllipsis);
}

std::string fit_left(std::string_view text, int columns) {
  return fit(text, columns, false);
}
std::string fit_right(std::string_view text, int columns) {
  return fit(text, columns, true);
}

std::vector<std::string> downward_characters(std::string_view text, int rows) {
  std::vector<std::string> clusters = clusters_of(text);
  if (static_cast<int>(clusters.size()) > rows && rows > 0) {
    clusters.resize(rows);
    clusters.back() = kEllipsis;
  }
  return clusters;
}

std::string on_colour(std::string_view text, Colour background, TerminalColours colours) {
  if (colours == TerminalColours::kNone) return std::string(text);
  const bool blank = text.find_first_not_of(' ') == std::string_view::npos;
  const std::string ink = blank ? "" : colour_code(38, ink_on(background), colours) + ";";
  return fmt::format("\x1b[{}{}m{}\x1b[0m", ink, colour_code(48, background, colours), text);
}

std::string in_colour(std::string_view text, Colour colour, TerminalColours colours) {
  if (colours == TerminalColours::kNone) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", colour_code(38, colour, colours), text);
}

}  // namespace heed
