#include "translate/values/languages/text_tokens.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "base/text/ascii.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::translate {
namespace {

bool is_letter(char32_t c) {
  if (c < 0x80) return is_ascii_letter(c);
  const auto type = u_charType(static_cast<UChar32>(c));
  return u_isalpha(static_cast<UChar32>(c)) != 0 || type == U_NON_SPACING_MARK;
}

/// "₂" of CO₂ is the digit 2.
bool is_subscript_digit(char32_t c) {
  return c >= 0x2080 && c <= 0x2089;
}

char32_t in_lower_case(char32_t c) {
  if (c < 0x80) return is_ascii_upper(c) ? c - U'A' + U'a' : c;
  constexpr char32_t kApostrophe = 0x2019, kMinus = 0x2212, kNarrowHyphen = 0x2011;
  if (c == kApostrophe) return U'\'';
  if (c == kMinus || c == kNarrowHyphen) return U'-';
  return static_cast<char32_t>(u_tolower(static_cast<UChar32>(c)));
}

bool is_capital(char32_t c) {
  return c < 0x80 ? is_ascii_upper(c) : u_isupper(static_cast<UChar32>(c)) != 0;
}

/// Whether the apostrophe at `at` is inside a word, given that a letter is before it.
bool joins_letters(std::string_view text, size_t at, char32_t c) {
  if (c != U'\'' && c != 0x2019) return false;
  next_code_point(text, at);
  return at < text.size() && is_letter(next_code_point(text, at));
}

}  // namespace

std::vector<TextToken> tokenize_values(std::string_view text) {
  using Kind = TextToken::Kind;
  std::vector<TextToken> tokens;
  bool after_space = true, inside = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    char32_t c = next_code_point(text, at);
    if (is_ignorable(c)) continue;
    if (is_subscript_digit(c)) c = c - 0x2080 + U'0';
    if (is_whitespace(c)) {
      after_space = true;
      inside = false;
      continue;
    }
    Kind kind = is_ascii_digit(c) ? Kind::kDigits : is_letter(c) ? Kind::kWord : Kind::kSymbol;
    if (inside && tokens.back().is_word() && joins_letters(text, begin, c)) kind = Kind::kWord;
    const bool continues = inside && kind != Kind::kSymbol && tokens.back().kind == kind;
    if (!continues) {
      tokens.push_back({.kind = kind, .begin = begin, .after_space = after_space});
      tokens.back().capitalized = tokens.back().in_capitals = kind == Kind::kWord;
      tokens.back().capitalized &= is_capital(c);
    }
    tokens.back().in_capitals &= is_capital(c);
    append_utf8(tokens.back().lower, in_lower_case(c));
    tokens.back().end = at;
    inside = true;
    after_space = false;
  }
  return tokens;
}

bool begins_with(TextTokens tokens, std::string_view phrase) {
  for (size_t n = 0; !phrase.empty(); ++n) {
    const size_t end = std::min(phrase.find(' '), phrase.size());
    if (n == tokens.size() || !tokens[n].is(phrase.substr(0, end))) return false;
    phrase.remove_prefix(std::min(end + 1, phrase.size()));
  }
  return true;
}

size_t phrase_length(std::string_view phrase) {
  return static_cast<size_t>(std::ranges::count(phrase, ' ')) + 1;
}

size_t length_of_any(std::span<const std::string_view> phrases, TextTokens tokens) {
  size_t longest = 0;
  for (const std::string_view phrase : phrases) {
    if (begins_with(tokens, phrase)) longest = std::max(longest, phrase_length(phrase));
  }
  return longest;
}

std::string exponent_of(TextTokens tokens) {
  std::string exponent;
  for (const TextToken& token : tokens) {
    if (token.kind != TextToken::Kind::kSymbol || token.after_space) break;
    size_t at = 0;
    const char c = ascii_of_superscript(next_code_point(token.lower, at));
    if (c == '\0') break;
    exponent += c;
  }
  return exponent;
}

int small_number(const TextToken& token) {
  constexpr size_t kMaxDigits = 9;
  return token.is_digits() && token.lower.size() <= kMaxDigits ? std::stoi(token.lower) : -1;
}

}  // namespace heed::translate
