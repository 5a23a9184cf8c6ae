#include "metrics/invented_words.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr size_t kMinPartLetters = 4;  // with shorter parts, nearly every word would be a compound
constexpr std::array<std::u32string_view, 6> kLinks{U"s", U"es", U"n", U"en", U"er", U"e"};

std::string composed(std::string_view text) {
  if (find_invalid_utf8(text)) fail(ErrorKind::kText, "the text is not valid UTF-8");
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* nfc = icu::Normalizer2::getNFCInstance(error);
  HEED_CHECK(U_SUCCESS(error));
  std::string result;
  nfc->normalize(icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())}), error)
      .toUTF8String(result);
  HEED_CHECK(U_SUCCESS(error));
  return result;
}

bool is_of(uint32_t categories, char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & categories) != 0;
}

std::string to_utf8(std::u32string_view text) {
  std::string result;
  for (const char32_t c : text) append_utf8(result, c);
  return result;
}

}  // namespace

std::vector<std::string> letter_words(std::string_view text) {
  const std::string normal = composed(text);
  std::vector<std::string> words;
  size_t begin = 0;
  bool in_word = false, touches_number = false;
  char32_t before = U' ';
  const auto end_word = [&](size_t end, bool number_follows) {
    if (in_word && !touches_number && !number_follows) words.push_back(normal.substr(begin, end - begin));
    in_word = false;
  };
  for (size_t offset = 0; offset < normal.size();) {
    const size_t start = offset;
    const char32_t c = next_code_point(normal, offset);
    if (is_of(U_GC_M_MASK, c)) continue;  // part of what it follows: of a word, or of an emoji
    if (!is_of(U_GC_L_MASK, c)) {
      end_word(start, is_of(U_GC_N_MASK, c));
    } else if (!in_word) {
      in_word = true;
      begin = start;
      touches_number = is_of(U_GC_N_MASK, before);
    }
    before = c;
  }
  end_word(normal.size(), false);
  return words;
}

std::string folded_word(const std::string& word) {
  std::string folded;
  icu::UnicodeString::fromUTF8(word).foldCase().toUTF8String(folded);
  return folded;
}

void KnownWords::add(std::string_view text) {
  for (const std::string& word : letter_words(text)) {
    std::string folded = folded_word(word);
    if (folded.size() > longest_) longest_ = std::max(longest_, utf8_to_utf32(folded).size());
    words_.insert(std::move(folded));
  }
}

bool KnownWords::contains_compound(const std::string& word) const {
  const std::u32string letters = utf8_to_utf32(folded_word(word));
  const std::u32string_view all = letters;
  // Whether a part may begin here: at the start, or after a known part with or without a linking element.
  std::vector<bool> part_begins(all.size() + 1, false);
  part_begins[0] = true;
  for (size_t begin = 0; begin < all.size(); ++begin) {
    if (!part_begins[begin]) continue;
    const size_t last = begin + std::min(longest_, all.size() - begin);
    for (size_t end = begin + kMinPartLetters; end <= last; ++end) {
      const bool whole = begin == 0 && end == all.size();
      if (whole || !words_.contains(to_utf8(all.substr(begin, end - begin)))) continue;
      if (end == all.size()) return true;
      part_begins[end] = true;
      for (const std::u32string_view link : kLinks) {
        if (all.substr(end, link.size()) == link) part_begins[end + link.size()] = true;
      }
    }
  }
  return false;
}

std::vector<std::string> invented_words(std::string_view output, const std::vector<std::string_view>& copied,
                                        const KnownWords& known, const InventedWordsOptions& options) {
  KnownWords copies;
  for (const std::string_view text : copied) copies.add(text);
  std::vector<std::string> invented;
  for (std::string& word : letter_words(output)) {
    if (known.contains(word) || copies.contains(word)) continue;
    if (options.compounds && known.contains_compound(word)) continue;
    if (std::ranges::find(invented, word) == invented.end()) invented.push_back(std::move(word));
  }
  return invented;
}

}  // namespace heed
