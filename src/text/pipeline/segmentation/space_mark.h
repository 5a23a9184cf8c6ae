// The mark that SentencePiece writes for a space.
#pragma once

#include <string>
#include <string_view>

namespace heed {

inline constexpr std::string_view kSpaceMark = "\u2581";

/// The text with a space for each mark.
std::string marks_to_spaces(std::string_view text);

/// Whether a mark follows another character.
inline bool has_inner_mark(std::string_view text) {
  size_t inner = 0;
  while (text.substr(inner).starts_with(kSpaceMark)) inner += kSpaceMark.size();
  return text.find(kSpaceMark, inner) != std::string_view::npos;
}

/// The end of the first word: before the first mark that follows another character.
inline size_t first_word_end(std::string_view text) {
  size_t at = 0;
  while (text.substr(at).starts_with(kSpaceMark)) at += kSpaceMark.size();
  const size_t mark = text.find(kSpaceMark, at);
  return mark == std::string_view::npos ? text.size() : mark;
}

}  // namespace heed
