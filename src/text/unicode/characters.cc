#include "text/unicode/characters.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <cstdint>

#include "base/text/ascii.h"

namespace heed {
namespace {

bool is_in_version(char32_t c, uint8_t version) {
  UVersionInfo age;
  u_charAge(static_cast<UChar32>(c), age);
  return age[0] <= version;
}

uint32_t category_in_unicode_8(char32_t c) {
  // These have changed their category since.
  if (c == 0x166D || c == 0x111C9) return U_GC_PO_MASK;
  if (c == 0x1734) return U_GC_MN_MASK;
  if (c == 0x1885 || c == 0x1886) return U_GC_LO_MASK;
  return is_in_version(c, 8) ? U_GET_GC_MASK(static_cast<UChar32>(c)) : 0;
}

}  // namespace

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return u_isUWhiteSpace(static_cast<UChar32>(c));
}

bool is_numeric(char32_t c) {
  if (c < 0x80) return is_ascii_digit(c);
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_N_MASK) != 0;
}

bool is_word_character(char32_t c) {
  if (c < 0x80) return c == '_' || is_ascii_alphanumeric(c);
  const auto code_point = static_cast<UChar32>(c);
  constexpr uint32_t kWord = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
  return u_isUAlphabetic(code_point) || (U_GET_GC_MASK(code_point) & kWord) != 0 ||
         u_hasBinaryProperty(code_point, UCHAR_JOIN_CONTROL);
}

bool is_mark(char32_t c) {
  return c >= 0x80 && is_in_unicode_9(c) && (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0;
}

bool is_in_unicode_9(char32_t c) {
  return c < 0x80 || is_in_version(c, 9);  // unassigned characters have the age 0
}

int joined_script(char32_t c) {
  if (c == ' ' || !is_in_unicode_9(c)) return -1;
  // These have changed their script since.
  if (c == 0x0589 || c == 0x061C) return USCRIPT_COMMON;
  if (c == 0x0953 || c == 0x0954) return USCRIPT_DEVANAGARI;
  if (c == 0x30FC) return USCRIPT_HAN;  // the mark of a long vowel, which is common to two of them
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &error);
  if (U_FAILURE(error) || script == USCRIPT_UNKNOWN) return -1;
  return script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA ? USCRIPT_HAN : script;
}

bool is_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c < 0x80) return c < 0x20 || c == 0x7F;
  constexpr uint32_t kOther = U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK;
  return (category_in_unicode_8(c) & kOther) != 0;
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return c > ' ' && c < 0x7F && (c == '_' || !is_word_character(c));
  return (category_in_unicode_8(c) & U_GC_P_MASK) != 0;
}

bool is_nonspacing_mark(char32_t c) {
  return c >= 0x80 && (category_in_unicode_8(c) & U_GC_MN_MASK) != 0;
}

bool is_cjk_ideograph(char32_t c) {
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

}  // namespace heed
