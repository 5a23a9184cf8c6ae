// Text from anywhere as people may see it: in messages and in a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

/// The text with everything escaped that acts on a terminal or hides: control characters (C0, DEL, C1), line
/// and paragraph separators, what changes the direction of writing (U+061C, U+200E, U+200F, U+202A to U+202E,
/// U+2066 to U+2069), the byte order mark, and bytes that are not UTF-8. Bytes become "\x1b", code points
/// "\u{202e}".
std::string printable(std::string_view text);

/// The same for a name or value out of a file in a message: cut to a sensible length, with "..." behind it.
std::string shown(std::string_view text, size_t longest = 80);

}  // namespace heed
