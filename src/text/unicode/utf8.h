// UTF-8: validation, code points, and display width.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace heed {

/// The byte offset of the first ill-formed sequence: a stray or missing continuation byte, an overlong form,
/// a surrogate, or a value above U+10FFFF. Empty for valid text.
std::optional<size_t> find_invalid_utf8(std::string_view text);

/// The text with each maximal subpart of an ill-formed sequence replaced by U+FFFD, as the Unicode Standard
/// recommends (chapter 3, "U+FFFD Substitution of Maximal Subparts"). Valid text comes back unchanged.
std::string replace_invalid_utf8(std::string_view text);

/// The number of trailing bytes, 0 to 3, that are an incomplete character.
size_t incomplete_utf8(std::string_view text);

/// Whether a byte continues a character: all bytes of a character but the first do.
inline bool is_continuation_byte(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// Where the character begins that has the byte at `offset`; the size of the text for an offset beyond it.
size_t character_start(std::string_view text, size_t offset);

/// The number of characters of valid text.
size_t count_characters(std::string_view text);

/// The code point at `offset` (U+FFFD for an ill-formed sequence); advances `offset`.
char32_t next_code_point(std::string_view text, size_t& offset);

/// All code points; ill-formed sequences as in replace_invalid_utf8.
std::u32string utf8_to_utf32(std::string_view text);

/// The length of the well-formed character at `offset`, or 0.
size_t length_of_valid_character(std::string_view text, size_t offset);

void append_utf8(std::string& text, char32_t code_point);

/// The width of text in terminal columns: 2 for wide and full-width characters (Unicode Standard Annex 11), 0
/// for combining marks, format and control characters, else 1. Sequences that some terminals draw as one
/// glyph (emoji joined by U+200D) count each part.
int display_width(std::string_view text);
int display_width(char32_t code_point);

}  // namespace heed
