#include "text/terms/required_forms.h"

#include <unicode/uchar.h>

#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

bool is_any_digit(char32_t c) {
  return u_isdigit(static_cast<UChar32>(c)) != 0;
}
bool joins_digits(char32_t c) {
  return c == '.' || c == ',' || c == ':';
}

/// Whether a form that ends in `own` continues with the characters `next` and `after_next` (0: end of text).
bool continues(char32_t own, char32_t next, char32_t after_next) {
  if (!is_letter_digit_or_mark(own)) return false;
  return is_letter_digit_or_mark(next) ||
         (is_any_digit(own) && joins_digits(next) && is_any_digit(after_next));
}

}  // namespace

std::vector<std::string> split_forms(std::string_view text) {
  std::vector<std::string> forms;
  while (true) {
    const size_t bar = text.find('|');
    const std::string_view form = strip(text.substr(0, bar));
    if (!form.empty()) forms.emplace_back(form);
    if (bar == std::string_view::npos) return forms;
    text.remove_prefix(bar + 1);
  }
}

bool contains_form(std::string_view text, std::string_view form) {
  const std::u32string all = utf8_to_utf32(text), wanted = utf8_to_utf32(form);
  if (wanted.empty()) return false;
  const auto at = [&](size_t n) { return n < all.size() ? all[n] : char32_t{0}; };
  for (size_t begin = all.find(wanted); begin != std::u32string::npos; begin = all.find(wanted, begin + 1)) {
    const size_t end = begin + wanted.size();
    const char32_t before = begin > 0 ? all[begin - 1] : 0, before_that = begin > 1 ? all[begin - 2] : 0;
    if (!continues(wanted.front(), before, before_that) && !continues(wanted.back(), at(end), at(end + 1))) {
      return true;
    }
  }
  return false;
}

}  // namespace heed
