#include "data/augment/shared_spans.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

#include "base/text/ascii.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// Removes punctuation around a word.
std::string_view without_marks_around(std::string_view word) {
  static constexpr std::array<std::string_view, 13> before{"(",      "[",      "{",      "\"",     "'",
                                                           "\u201e", "\u201c", "\u201d", "\u00ab", "\u2018",
                                                           "\u00bf", "\u00a1", "\u00bb"};
  static constexpr std::array<std::string_view, 17> behind{
      ".",  ",", ";",      ":",      "!",      "?",      ")",      "]",     "}",
      "\"", "'", "\u201c", "\u201d", "\u00bb", "\u2019", "\u2026", "\u00ab"};
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view mark : before) {
      if (!word.starts_with(mark)) continue;
      word.remove_prefix(mark.size());
      found = true;
    }
    for (const std::string_view mark : behind) {
      if (!word.ends_with(mark)) continue;
      word.remove_suffix(mark.size());
      found = true;
    }
  }
  return word;
}

/// All words, in order.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = without_marks_around(text.substr(begin, end - begin));
    if (!word.empty()) words.push_back(word);
    begin = end + 1;
  }
  return words;
}

bool is_name(std::string_view word) {
  size_t offset = 0, characters = 0;
  while (offset < word.size()) {
    const auto c = static_cast<UChar32>(next_code_point(word, offset));
    if (characters++ == 0 ? u_isupper(c) == 0 : u_islower(c) == 0) return false;
  }
  return characters >= 3;
}

/// Whether a word is a number, address or file name: it contains some of these characters, but not only them.
bool is_literal(std::string_view word) {
  constexpr std::string_view digits = "0123456789", marks = "@/\\_#=.:";
  if (word.find_first_of(digits) != std::string_view::npos) return true;
  return word.size() >= 4 && word.find_first_of(marks) != std::string_view::npos &&
         std::any_of(word.begin(), word.end(), is_ascii_lower);
}

}  // namespace

std::vector<std::string> shared_spans(std::string_view source, std::string_view target) {
  const std::vector<std::string_view> here = words_of(source);
  /// How much more often a word occurs in the source than in the target.
  std::unordered_map<std::string_view, int64_t> surplus;
  for (const std::string_view word : here) ++surplus[word];
  for (const std::string_view word : words_of(target)) {
    if (const auto found = surplus.find(word); found != surplus.end()) --found->second;
  }
  std::vector<std::string> found;
  for (const std::string_view word : here) {
    if (!(is_name(word) || is_literal(word))) continue;
    const auto counted = surplus.extract(word);  // each word once
    if (!counted.empty() && counted.mapped() == 0) found.emplace_back(word);
  }
  return found;
}

std::string replace_span(std::string_view text, std::string_view span, std::string_view other) {
  std::string result;
  size_t copied = 0;
  for (const std::string_view word : words_of(text)) {
    if (word != span) continue;
    const auto begin = static_cast<size_t>(word.data() - text.data());
    result.append(text.substr(copied, begin - copied)).append(other);
    copied = begin + word.size();
  }
  return result.append(text.substr(copied));
}

}  // namespace heed
