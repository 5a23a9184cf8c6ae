#include "text/unicode/whitespace.h"

#include <unicode/uchar.h>

#include "text/unicode/utf8.h"

namespace heed {

bool is_whitespace(char32_t code_point) {
  if (code_point < 0x80) {
    return code_point == ' ' || (code_point >= 0x09 && code_point <= 0x0D) ||
           (code_point >= 0x1C && code_point <= 0x1F);
  }
  return u_isUWhiteSpace(static_cast<UChar32>(code_point));
}

std::vector<std::string_view> split_whitespace(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  for (size_t offset = 0; offset < text.size();) {
    const size_t start = offset;
    if (!is_whitespace(next_code_point(text, offset))) continue;
    if (start > begin) words.push_back(text.substr(begin, start - begin));
    begin = offset;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

std::string_view strip_right(std::string_view text) {
  // From the end, so that what is left of a long text can be stripped again and again.
  while (!text.empty()) {
    const size_t begin = character_start(text, text.size() - 1);
    size_t end = begin;
    if (!is_whitespace(next_code_point(text, end)) || end != text.size()) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string_view strip(std::string_view text) {
  text = strip_right(text);
  for (size_t offset = 0; offset < text.size();) {
    const size_t start = offset;
    if (!is_whitespace(next_code_point(text, offset))) return text.substr(start);
  }
  return {};
}

}  // namespace heed
