#include "text/word_pattern.h"

#include <unicode/uchar.h>

#include <array>

#include "text/utf8.h"

namespace heed {
namespace {

enum class Sign { kLetter, kNumber, kSpace, kOther };

Sign sign_of(char32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  const uint32_t category = U_GET_GC_MASK(c);
  if (category & U_GC_L_MASK) return Sign::kLetter;
  if (category & U_GC_N_MASK) return Sign::kNumber;
  return u_hasBinaryProperty(c, UCHAR_WHITE_SPACE) ? Sign::kSpace : Sign::kOther;
}

/// The sign at `at`, which moves behind it.
Sign next_sign(std::string_view text, size_t& at) {
  return sign_of(next_code_point(text, at));
}

size_t contraction_end(std::string_view text, size_t begin) {
  constexpr std::array<std::string_view, 7> kContractions{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
  for (const std::string_view contraction : kContractions) {
    if (text.substr(begin).starts_with(contraction)) return begin + contraction.size();
  }
  return begin;
}

/// Behind the last sign of the kind that stands at `at`.
size_t run_end(std::string_view text, size_t at) {
  const Sign kind = next_sign(text, at);
  for (size_t next = at; next < text.size(); at = next) {
    if (next_sign(text, next) != kind) break;
  }
  return at;
}

/// \s+(?!\S)|\s+: white space but its last character, which belongs to the word behind it, unless it is all
/// there is or the text ends with it.
size_t space_end(std::string_view text, size_t begin) {
  size_t last = begin, end = begin;
  for (size_t next = begin; next < text.size() && next_sign(text, next) == Sign::kSpace;) {
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
  if (next_sign(text, behind) != Sign::kSpace) return run_end(text, first);
  return space_end(text, begin);
}

}  // namespace heed
