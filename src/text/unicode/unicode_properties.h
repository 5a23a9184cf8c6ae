// Properties of characters from the Unicode Character Database.
#pragma once

#include <string_view>

namespace heed {

/// Where a script has spaces.
enum class Spacing {
  kWords,      ///< between words: Latin, Hangul
  kSentences,  ///< between sentences and clauses only: Thai, Lao, Khmer, Myanmar, Tibetan
  kNone,       ///< nowhere: Han, Hiragana, Katakana
};

/// The spacing of the script of a character.
Spacing spacing_of(char32_t c);

/// Whether a character belongs to a script that is written without spaces between words.
inline bool is_unspaced_script(char32_t c) {
  return spacing_of(c) != Spacing::kWords;
}

/// Whether a character is one of Unicode's default ignorable code points that stand inside words: a soft
/// hyphen, a word joiner, or a zero width no-break space, which is a byte order mark too.
constexpr bool is_ignorable(char32_t c) {
  return c == 0xAD || c == 0x2060 || c == 0xFEFF;
}

/// The digit of a superscript, 6 of "⁶", and "+" and "-" of their signs; 0 for other characters.
constexpr char ascii_of_superscript(char32_t c) {
  if (c == 0xB2 || c == 0xB3) return static_cast<char>('0' + (c - 0xB0));
  if (c == 0xB9) return '1';
  if (c == 0x2070 || (c >= 0x2074 && c <= 0x2079)) return static_cast<char>('0' + (c - 0x2070));
  return c == 0x207A ? '+' : c == 0x207B ? '-' : '\0';
}

/// Whether a character is a letter or digit of any script.
bool is_letter_or_digit(char32_t c);

/// The same, or a combining mark, which belongs to the letter before it.
bool is_letter_digit_or_mark(char32_t c);

/// Whether any character is a letter of any script.
bool has_letter(std::string_view text);

/// Whether any character is a letter or digit of any script: "dog.", "19", but not "..." or "–".
bool has_letter_or_digit(std::string_view text);

}  // namespace heed
