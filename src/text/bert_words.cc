#include "text/bert_words.h"

#include <unicode/locid.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include "base/check.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_ascii(char32_t c) {
  return c < 0x80;
}

/// The general category as a mask, as of Unicode 8, which Hugging Face's tokenizers use. Newer characters
/// have none.
uint32_t category_of(char32_t c) {
  // These have changed their category since.
  if (c == 0x166D || c == 0x111C9) return U_GC_PO_MASK;
  if (c == 0x1734) return U_GC_MN_MASK;
  if (c == 0x1885 || c == 0x1886) return U_GC_LO_MASK;
  constexpr uint8_t kVersion = 8;
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] <= kVersion ? U_GET_GC_MASK(static_cast<UChar32>(c)) : 0;
}

/// Control, format and private-use characters.
bool is_dropped(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c == kReplacement) return true;
  constexpr uint32_t kOther = U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK;
  return (category_of(c) & kOther) != 0;
}

bool is_space(char32_t c) {
  return u_isUWhiteSpace(static_cast<UChar32>(c));
}

/// Unicode punctuation, and all ASCII characters except letters, digits and spaces: "$", "+", "^".
bool is_punctuation(char32_t c) {
  if (is_ascii(c)) return c > ' ' && c < 0x7F && !u_isalnum(static_cast<UChar32>(c));
  return (category_of(c) & U_GC_P_MASK) != 0;
}

/// CJK ideographs, by BERT's list of blocks; neither kana nor Hangul. Like Hugging Face's tokenizers, the
/// list lacks U+2B820 to U+2B91F.
bool is_chinese(char32_t c) {
  struct Block {
    char32_t first, last;
  };
  static constexpr Block kBlocks[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                      {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
                                      {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  for (const Block& block : kBlocks) {
    if (c >= block.first && c <= block.last) return true;
  }
  return false;
}

const icu::Normalizer2& canonical() {
  static const icu::Normalizer2* const normalizer = [] {
    UErrorCode status = U_ZERO_ERROR;
    const icu::Normalizer2* found = icu::Normalizer2::getNFDInstance(status);
    HEED_CHECK(U_SUCCESS(status));
    return found;
  }();
  return *normalizer;
}

/// Calls function(character) for each character of the normalised form of `c`.
template <typename Function>
void fold(char32_t c, const BertWordOptions& options, const Function& function) {
  if (is_ascii(c)) {
    function(options.lowercase && c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    return;
  }
  icu::UnicodeString folded(static_cast<UChar32>(c));
  if (options.strip_accents) {
    icu::UnicodeString decomposed;
    if (canonical().getDecomposition(static_cast<UChar32>(c), decomposed)) folded = decomposed;
  }
  const auto each = [](const icu::UnicodeString& text, const auto& visit) {
    for (int32_t at = 0; at < text.length(); at = text.moveIndex32(at, 1)) visit(text.char32At(at));
  };
  each(folded, [&](UChar32 part) {
    if (options.strip_accents && (category_of(static_cast<char32_t>(part)) & U_GC_MN_MASK) != 0) return;
    icu::UnicodeString cased(part);
    if (options.lowercase) cased.toLower(icu::Locale::getRoot());
    each(cased, [&](UChar32 lower) { function(static_cast<char32_t>(lower)); });
  });
}

}  // namespace

std::vector<BertWord> bert_words(std::string_view text, const BertWordOptions& options) {
  std::vector<BertWord> words;
  bool open = false;  // whether the next character continues the last word
  const auto add = [&](char32_t c, size_t begin, size_t end) {
    if (!open) words.emplace_back();
    words.back().characters.push_back({words.back().text.size(), begin, end});
    append_utf8(words.back().text, c);
    open = true;
  };
  for (size_t offset = 0; offset < text.size();) {
    const size_t begin = offset;
    const char32_t c = next_code_point(text, offset);
    if (is_dropped(c)) continue;
    if (is_space(c)) {
      open = false;
      continue;
    }
    const bool apart = options.chinese_apart && is_chinese(c);
    if (apart) open = false;
    fold(c, options, [&](char32_t folded) {
      const bool alone = is_punctuation(folded);
      if (alone) open = false;
      add(folded, begin, offset);
      if (alone) open = false;
    });
    if (apart) open = false;
  }
  return words;
}

}  // namespace heed
