#include "translate/parts/part_text.h"

#include <algorithm>
#include <string_view>

#include "text/unicode/true_case.h"
#include "text/unicode/whitespace.h"
#include "translate/words/word_alignment.h"

namespace heed::translate {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// Replaces placeholders by their texts, in one pass, so that the texts may contain placeholders. With
/// `capitals` the rest is converted to capitals, except for texts that must be preserved.
std::string restore_spans(const LinePart& part, std::string_view text) {
  std::string result;
  const auto add = [&](std::string_view between) {
    result += part.capitals ? to_capitals(between) : std::string(between);
  };
  for (size_t at = 0; at < text.size();) {
    size_t next = text.size(), which = 0, size = 0;
    for (size_t n = 0; n < part.required.size(); ++n) {
      const bool marked = n < part.marks.size();
      if (!marked && (!part.capitals || !is_verbatim(part.required[n].kind))) continue;
      const std::string& wanted = marked ? part.marks[n] : part.required[n].text;
      const size_t found = text.find(wanted, at);
      if (found < next) {
        next = found;
        which = n;
        size = wanted.size();
      }
    }
    add(text.substr(at, next - at));
    if (next < text.size()) result += part.required[which].text;
    at = next + size;
  }
  return result;
}

}  // namespace

std::string_view source_of_part(const LinePart& part, std::string_view line) {
  size_t begin = line.size(), end = 0;
  for (const auto& [first, last] : part.spans) {
    if (first == last) continue;
    begin = std::min(begin, first);
    end = std::max(end, last);
  }
  return begin < end ? line.substr(begin, end - begin) : std::string_view();
}

std::string part_text(const LinePart& part, const std::string& source, const std::string& decoded) {
  if (!part.literal.empty()) return part.literal;
  std::string text = decoded;
  if (!part.marks.empty() || part.capitals) text = restore_spans(part, text);
  const std::string_view own = source_of_part(part, source);
  for (size_t n = part.marks.size(); n < part.required.size(); ++n) {
    // Required words begin with a space, which is wrong after a bracket.
    const std::string& required = part.required[n].text;
    for (const char* bracket : {"(", "["}) {
      if (own.find(bracket + required) != std::string_view::npos) {
        replace_all(text, std::string(bracket) + " " + required, bracket + required);
      }
    }
  }
  return text;
}

std::vector<std::pair<int, int>> words_with_spans(const LinePart& part, const std::string& decoded) {
  std::vector<std::pair<int, int>> ranges;
  int position = 0;
  for (const std::string_view word : split_whitespace(decoded)) {
    const int first = position++;
    for (size_t n = 0; n < part.marks.size(); ++n) {
      if (word.find(part.marks[n]) == std::string_view::npos) continue;
      position += static_cast<int>(word_ends(part.required[n].text).size()) - 1;
    }
    ranges.emplace_back(first, position);
  }
  return ranges;
}

}  // namespace heed::translate
