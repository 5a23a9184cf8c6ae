#include "text/unicode/word_pattern.h"

#include <unicode/uchar.h>

#include <array>

#include "text/unicode/utf8.h"

namespace heed {
namespace {

enum class CharacterClass { kLetter, kNumber, kSpace, kOther };

CharacterClass class_of(char32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  const uint32_t category = U_GET_GC_MASK(c);
  if (category & U_GC_L_MASK) return CharacterClass::kLetter;
  if (category & U_GC_N_MASK) return CharacterClass::kNumber;
  return u_hasBinaryProperty(c, UCHAR_WHITE_SPACE) ? CharacterClass::kSpace : CharacterClass::kOther;
}

/// The class of the character at `at`; advances `at`.
CharacterClass next_class(std::string_view text, size_t& at) {
  return class_of(next_code_point(text, at));
}

size_t contraction_end(std::string_view text, size_t begin) {
  constexpr std::array<std::string_view, 7> kContractions{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
  for (const std::string_view contraction : kContractions) {
    if (text.substr(begin).starts_with(contraction)) return begin + contraction.size();
  }
  return begin;
}

/// The end of the run of characters of the same class at `at`.
size_t run_end(std::string_view text, size_t at) {
  const CharacterClass kind = next_class(text, at);
  for (size_t next = at; next < text.size(); at = next) {
    if (next_class(text, next) != kind) break;
  }
  return at;
}

/// \s+(?!\S)|\s+: white space without its last character, which belongs to the following word, unless it is
/// the only one or the text ends.
size_t space_end(std::string_view text, size_t begin) {
  size_t last = begin, end = begin;
  for (size_t next = begin; next < text.size() && next_class(text, next) == CharacterClass::kSpace;) {
    last = end;
    end = next;
  }
  return end == text.size() || last == begin ? end : last;
}

}  // namespace

size_t word_end(std::string_view text, size_t begin) {
  const size_t contraction = contraction_end(text, begin);
  if (contraction > begin) return contraction;
  size_t first = begin;
  if (text[begin] == ' ' && begin + 1 < text.size()) ++first;
  size_t behind = first;
  if (next_class(text, behind) != CharacterClass::kSpace) return run_end(text, first);
  return space_end(text, begin);
}

}  // namespace heed
