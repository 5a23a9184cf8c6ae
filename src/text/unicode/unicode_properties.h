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

/// Whether a character is a letter or digit of any script.
bool is_letter_or_digit(char32_t c);

/// Whether any character is a letter of any script.
bool has_letter(std::string_view text);

/// Whether any character is a letter or digit of any script: "dog.", "19", but not "..." or "–".
bool has_letter_or_digit(std::string_view text);

}  // namespace heed
