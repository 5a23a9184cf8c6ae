// Escapes untrusted text for messages and the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

/// Escapes characters that control a terminal or are invisible: control characters (C0, DEL, C1), line and
/// paragraph separators, directional formatting (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069),
/// the byte order mark, and invalid UTF-8. Bytes become "\x1b", code points "\u{202e}".
std::string printable(std::string_view text);

/// printable() for a name or value from a file in a message, truncated to `max_length` with "...".
std::string shown(std::string_view text, size_t max_length = 80);

}  // namespace heed
