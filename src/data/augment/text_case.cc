#include "data/augment/text_case.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <set>

#include "text/unicode/utf8.h"

namespace heed {
namespace {

icu::UnicodeString to_icu(std::string_view text) {
  return icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
}

/// The text with its first letter in upper or lower case.
std::string with_first_letter(std::string_view text, bool capital) {
  for (size_t offset = 0; offset < text.size();) {
    const size_t begin = offset;
    const auto c = static_cast<UChar32>(next_code_point(text, offset));
    if (u_isdigit(c) != 0) break;  // "3rd" has no first letter to change
    if (u_isalpha(c) == 0) continue;
    std::string changed(text.substr(0, begin));
    append_utf8(changed, static_cast<char32_t>(capital ? u_totitle(c) : u_tolower(c)));
    return changed.append(text.substr(offset));
  }
  return std::string(text);
}

bool is_lower_case_in_titles(std::string_view word) {
  static const std::set<std::string_view> words{"a",    "an", "and", "as", "at", "but", "by", "for",
                                                "from", "in", "of",  "on", "or", "the", "to", "with"};
  return words.contains(word);
}

}  // namespace

std::string in_capitals(std::string_view text) {
  std::string capitals;
  return to_icu(text).toUpper(icu::Locale::getRoot()).toUTF8String(capitals);
}

std::string in_lower_case(std::string_view text) {
  std::string lower;
  return to_icu(text).toLower(icu::Locale::getRoot()).toUTF8String(lower);
}

std::string without_first_capital(std::string_view text) {
  return with_first_letter(text, false);
}

std::string in_title_case(std::string_view english) {
  std::string title;
  for (size_t begin = 0; begin <= english.size();) {
    const size_t end = std::min(english.find(' ', begin), english.size());
    const std::string_view word = english.substr(begin, end - begin);
    const bool inside = begin > 0 && end < english.size();
    title += inside && is_lower_case_in_titles(word) ? std::string(word) : with_first_letter(word, true);
    if (end < english.size()) title += ' ';
    begin = end + 1;
  }
  return title;
}

}  // namespace heed
