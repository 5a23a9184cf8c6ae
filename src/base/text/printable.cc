#include "base/text/printable.h"

#include <fmt/format.h>

#include <limits>

#include "base/text/utf8_length.h"

namespace heed {

size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xC0) != 0x80) return 0;
  }
  // The second byte tells overlong forms, surrogates and values above U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

namespace {

/// Decodes a valid UTF-8 sequence.
char32_t code_point(std::string_view sequence) {
  if (sequence.size() == 1) return static_cast<unsigned char>(sequence[0]);
  char32_t value = static_cast<unsigned char>(sequence[0]) & (0xFF >> (sequence.size() + 1));
  for (const char byte : sequence.substr(1)) value = value << 6 | (static_cast<unsigned char>(byte) & 0x3F);
  return value;
}

/// Whether a character controls the terminal or the display of surrounding text.
bool is_control(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range kRanges[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x061C, 0x061C}, {0x200E, 0x200F},
                                      {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}};
  for (const Range& range : kRanges) {
    if (c >= range.first && c <= range.last) return true;
  }
  return false;
}

}  // namespace

std::string shown(std::string_view text, size_t max_length) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (result.size() >= max_length) return result + "...";
    const size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at++]));
      continue;
    }
    const std::string_view sequence = text.substr(at, length);
    const char32_t c = code_point(sequence);
    if (!is_control(c)) {
      result += sequence;
    } else if (length == 1) {
      result += fmt::format("\\x{:02x}", static_cast<uint32_t>(c));
    } else {
      result += fmt::format("\\u{{{:04x}}}", static_cast<uint32_t>(c));
    }
    at += length;
  }
  return result;
}

std::string printable(std::string_view text) {
  return shown(text, std::numeric_limits<size_t>::max());
}

}  // namespace heed
