#include "text/unicode/utf8.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace heed {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

/// The first byte at or after `offset` that is not ASCII, eight at a time.
size_t skip_ascii(std::string_view text, size_t offset) {
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  while (offset + sizeof(uint64_t) <= text.size()) {
    uint64_t eight;
    std::memcpy(&eight, text.data() + offset, sizeof eight);
    if (eight & kHighBits) break;
    offset += sizeof eight;
  }
  while (offset < text.size() && static_cast<unsigned char>(text[offset]) < 0x80) ++offset;
  return offset;
}

/// Decodes one code point, or one maximal subpart of an ill-formed sequence as a negative number.
UChar32 decode(std::string_view text, size_t& offset) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  UChar32 code_point;
  U8_NEXT(bytes, offset, text.size(), code_point);
  return code_point;
}

}  // namespace

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  for (size_t offset = skip_ascii(text, 0); offset < text.size(); offset = skip_ascii(text, offset)) {
    const size_t start = offset;
    if (decode(text, offset) < 0) return start;
  }
  return std::nullopt;
}

std::string replace_invalid_utf8(std::string_view text) {
  const std::optional<size_t> first = find_invalid_utf8(text);
  if (!first) return std::string(text);
  std::string valid(text.substr(0, *first));
  for (size_t offset = *first; offset < text.size();) {
    const size_t start = offset;
    if (decode(text, offset) < 0) {
      append_utf8(valid, kReplacement);
    } else {
      valid.append(text, start, offset - start);
    }
  }
  return valid;
}

size_t incomplete_utf8(std::string_view text) {
  for (size_t length = 1; length <= 3 && length <= text.size(); ++length) {
    const auto lead = static_cast<uint8_t>(text[text.size() - length]);
    if (U8_IS_TRAIL(lead)) continue;
    // decode() stops at the first invalid byte; a sequence that reaches the end is incomplete.
    size_t offset = text.size() - length;
    if (!U8_IS_LEAD(lead)) return 0;
    return decode(text, offset) < 0 && offset == text.size() ? length : 0;
  }
  return 0;
}

size_t character_start(std::string_view text, size_t offset) {
  if (offset >= text.size()) return text.size();
  // No further back than a character is long, or invalid text would take time for each of its bytes.
  const size_t earliest = offset - std::min<size_t>(offset, U8_MAX_LENGTH - 1);
  while (offset > earliest && is_continuation_byte(text[offset])) --offset;
  return offset;
}

size_t count_characters(std::string_view text) {
  return text.size() - static_cast<size_t>(std::ranges::count_if(text, is_continuation_byte));
}

char32_t next_code_point(std::string_view text, size_t& offset) {
  const UChar32 code_point = decode(text, offset);
  return code_point < 0 ? kReplacement : static_cast<char32_t>(code_point);
}

std::u32string utf8_to_utf32(std::string_view text) {
  std::u32string code_points;
  code_points.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) code_points.push_back(next_code_point(text, offset));
  return code_points;
}

size_t length_of_valid_character(std::string_view text, size_t offset) {
  size_t end = offset;
  return decode(text, end) < 0 ? 0 : end - offset;
}

void append_utf8(std::string& text, char32_t code_point) {
  uint8_t bytes[U8_MAX_LENGTH];
  size_t length = 0;
  UBool failed = false;
  U8_APPEND(bytes, length, U8_MAX_LENGTH, static_cast<UChar32>(code_point), failed);
  if (failed) return append_utf8(text, kReplacement);
  text.append(reinterpret_cast<const char*>(bytes), length);
}

int display_width(char32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  if (c >= 0x20 && c < 0x7F) return 1;
  constexpr uint32_t kNoWidth = U_GC_MN_MASK | U_GC_ME_MASK | U_GC_CF_MASK | U_GC_CC_MASK;
  constexpr UChar32 kSoftHyphen = 0xAD;  // a format character that terminals display
  if (c == kSoftHyphen) return 1;
  if (U_GET_GC_MASK(c) & kNoWidth) return 0;
  // Vowels and final consonants of Hangul syllables combine with the preceding consonant.
  const int hangul = u_getIntPropertyValue(c, UCHAR_HANGUL_SYLLABLE_TYPE);
  if (hangul == U_HST_VOWEL_JAMO || hangul == U_HST_TRAILING_JAMO) return 0;
  const int width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

int display_width(std::string_view text) {
  int columns = 0;
  for (size_t offset = 0; offset < text.size();) columns += display_width(next_code_point(text, offset));
  return columns;
}

}  // namespace heed
