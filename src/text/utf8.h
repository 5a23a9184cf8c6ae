// UTF-8: finding and replacing what is not valid, code points, and the width of text in a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// The byte offset of the first ill-formed sequence: a stray or missing continuation byte, an overlong form,
/// a surrogate, or a number above U+10FFFF. Nothing for valid text.
std::optional<size_t> find_invalid_utf8(std::string_view text);

/// The text with each maximal subpart of an ill-formed sequence replaced by U+FFFD, as the Unicode Standard
/// recommends (chapter 3, "U+FFFD Substitution of Maximal Subparts"). Valid text comes back unchanged.
std::string replace_invalid_utf8(std::string_view text);

/// How many bytes at the end of the text, 0 to 3, begin a character that more bytes could still complete.
size_t unfinished_utf8(std::string_view text);

/// The code point that begins at `offset` (U+FFFD for an ill-formed sequence); moves `offset` behind it.
char32_t next_code_point(std::string_view text, size_t& offset);

/// All code points; ill-formed sequences as in replace_invalid_utf8.
std::u32string utf8_to_utf32(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

/// The columns that text takes in a terminal: 2 for wide and full-width characters (Unicode Standard Annex
/// 11), 0 for combining marks, format characters and controls, else 1. Sequences that some terminals draw as
/// one picture (emoji joined by U+200D) count each part.
int display_width(std::string_view text);
int display_width(char32_t code_point);

}  // namespace heed
