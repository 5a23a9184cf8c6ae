#include "text/words.h"

#include <unicode/uchar.h>

#include "base/check.h"
#include "text/utf8.h"
#include "text/whitespace.h"

namespace heed {
namespace {

/// The first non-space byte at or after `offset`; the end of the text if there is none.
size_t skip_whitespace(std::string_view text, size_t offset) {
  while (offset < text.size()) {
    const size_t start = offset;
    if (!is_whitespace(next_code_point(text, offset))) return start;
  }
  return text.size();
}

}  // namespace

Words group_into_words(std::string_view text, const Encoding& encoding) {
  const std::vector<std::string_view> words = split_whitespace(text);
  Words result;
  size_t word = 0, last_word = words.size();  // words.size() stands for none
  for (size_t n = 0; n < encoding.pieces.size(); ++n) {
    const bool is_end = n + 1 == encoding.pieces.size();  // encode always appends the end token
    const size_t begin = skip_whitespace(text, encoding.spans[n].first);
    const auto end_of = [&](size_t w) {
      return static_cast<size_t>(words[w].data() - text.data()) + words[w].size();
    };
    while (word + 1 < words.size() && end_of(word) <= begin) ++word;
    if (is_end || words.empty()) {
      result.texts.push_back(encoding.pieces[n]);
    } else if (word != last_word) {
      result.texts.emplace_back(words[word]);
      last_word = word;
    }
    result.of_piece.push_back(static_cast<int>(result.texts.size()) - 1);
  }
  return result;
}

bool has_letter_or_digit(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (u_isalnum(static_cast<UChar32>(next_code_point(text, at)))) return true;
  }
  return false;
}

}  // namespace heed
