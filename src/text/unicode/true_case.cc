#include "text/unicode/true_case.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include "base/text/ascii.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {

bool is_all_capitals(std::string_view text) {
  int words = 0, capitals = 0, all = 0, caseless = 0;
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<UChar32>(next_code_point(text, at));
    if (u_islower(c)) return false;
    if (u_isupper(c)) {
      ++all;
      if (++capitals == 2) ++words;
    } else if (u_isalpha(c)) {
      ++caseless;
    } else {
      capitals = 0;
    }
  }
  return words >= 2 && all > caseless;
}

bool is_title_case(std::string_view text) {
  size_t second = text.find(' ');  // the second word decides for most texts
  while (second < text.size() && text[second] == ' ') ++second;
  if (second < text.size() && is_ascii_lower(text[second])) return false;
  int words = 0;
  for (const std::string_view word : split_whitespace(text)) {
    bool first = true;
    for (size_t at = 0; at < word.size();) {
      const auto c = static_cast<UChar32>(next_code_point(word, at));
      if (!u_isalpha(c)) continue;
      if (first ? !u_isupper(c) : u_isupper(c)) return false;
      words += first ? 1 : 0;
      first = false;
    }
  }
  return words >= 4;
}

WordForms forms_of(std::string_view word) {
  WordForms forms;
  for (size_t at = 0; at < word.size();) {
    const bool first = at == 0;
    const auto c = static_cast<UChar32>(next_code_point(word, at));
    const auto lower = static_cast<char32_t>(u_tolower(c));
    append_utf8(forms.lower, lower);
    append_utf8(forms.capitalized, first ? static_cast<char32_t>(c) : lower);
  }
  return forms;
}

std::string to_capitals(std::string_view text) {
  std::string result;
  icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())))
      .toUpper(icu::Locale::getRoot())
      .toUTF8String(result);
  return result;
}

}  // namespace heed
