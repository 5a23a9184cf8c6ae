#include "text/unicode/unicode_properties.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include "text/unicode/utf8.h"

namespace heed {

Spacing spacing_of(char32_t c) {
  UErrorCode status = U_ZERO_ERROR;
  switch (uscript_getScript(static_cast<UChar32>(c), &status)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
      return Spacing::kNone;
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
    case USCRIPT_TIBETAN:
      return Spacing::kSentences;
    default:
      return Spacing::kWords;
  }
}

bool is_letter_or_digit(char32_t c) {
  return u_isalnum(static_cast<UChar32>(c)) != 0;
}

bool is_letter_digit_or_mark(char32_t c) {
  return is_letter_or_digit(c) || (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0;
}

namespace {

template <typename Property>
bool has_any(std::string_view text, const Property& property) {
  for (size_t at = 0; at < text.size();) {
    if (property(next_code_point(text, at))) return true;
  }
  return false;
}

}  // namespace

bool has_letter(std::string_view text) {
  return has_any(text, [](char32_t c) { return u_isalpha(static_cast<UChar32>(c)) != 0; });
}

bool has_letter_or_digit(std::string_view text) {
  return has_any(text, is_letter_or_digit);
}

}  // namespace heed
