// Splits a text into words, runs of digits and single marks, for the readers of values.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::translate {

struct TextToken {
  enum class Kind { kWord, kDigits, kSymbol };
  Kind kind = Kind::kSymbol;
  size_t begin = 0, end = 0;  ///< bytes of the text
  std::string lower = {};     ///< in lower case; apostrophes and minus signs as in ASCII
  bool after_space = true;    ///< behind white space or at the beginning of the text
  bool capitalized = false;   ///< begins with a capital letter
  bool in_capitals = false;   ///< has no other letters

  bool is_word() const { return kind == Kind::kWord; }
  bool is_digits() const { return kind == Kind::kDigits; }
  bool is(std::string_view text) const { return lower == text; }
};

using TextTokens = std::span<const TextToken>;

/// Words keep an apostrophe between letters ("o'clock"); digits are ASCII digits.
std::vector<TextToken> tokenize_values(std::string_view text);

/// Whether `tokens` begins with the words and marks of `phrase`, which a space separates each.
bool begins_with(TextTokens tokens, std::string_view phrase);
/// The number of words and marks of a phrase.
size_t phrase_length(std::string_view phrase);
/// Of some phrases, the longest one at the beginning of `tokens`: its number of words and marks, or 0.
size_t length_of_any(std::span<const std::string_view> phrases, TextTokens tokens);

/// The superscripts at the beginning of some tokens, without a space, as ASCII: "-6" of "⁻⁶". Each is one
/// token.
std::string exponent_of(TextTokens tokens);

/// The value of a run of at most nine digits; -1 for any other token.
int small_number(const TextToken& token);

}  // namespace heed::translate
