#include "text/mt_tokenizers.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "text/utf8.h"
#include "text/whitespace.h"

namespace heed {
namespace {

constexpr std::array<std::pair<BleuTokenizer, std::string_view>, 4> kNames{{{BleuTokenizer::k13a, "13a"},
                                                                            {BleuTokenizer::kNone, "none"},
                                                                            {BleuTokenizer::kChar, "char"},
                                                                            {BleuTokenizer::kIntl, "intl"}}};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool is_digit(char32_t c) {
  return c >= '0' && c <= '9';
}
bool is_period_or_comma(char32_t c) {
  return c == '.' || c == ',';
}
bool is_not_digit(char32_t c) {
  return !is_digit(c);
}
bool is_dash(char32_t c) {
  return c == '-';
}

/// ASCII punctuation and symbols, except those that need their neighbours (period, comma, dash) and the
/// apostrophe.
bool is_separate_mark(char32_t c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= '!' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/// Puts spaces around each character that `test` picks.
template <typename Text, typename Test>
Text separate(const Text& text, Test test) {
  Text spaced;
  spaced.reserve(text.size() * 2);
  for (const auto c : text) {
    const bool apart = test(static_cast<char32_t>(c));
    if (apart) spaced.push_back(' ');
    spaced.push_back(c);
    if (apart) spaced.push_back(' ');
  }
  return spaced;
}

/// What stands in place of a pair ab that a rule matches.
enum class Pair { kFirstApart, kSecondApart };  // " a b" or "a b "

/// Applies a rule to pairs of neighbours from left to right; a character belongs to one match only.
template <typename Text, typename First, typename Second>
Text separate_pairs(const Text& text, First first, Second second, Pair result) {
  Text spaced;
  spaced.reserve(text.size() * 2);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool match = i + 1 < text.size() && first(static_cast<char32_t>(text[i])) &&
                       second(static_cast<char32_t>(text[i + 1]));
    if (!match) {
      spaced.push_back(text[i]);
      continue;
    }
    if (result == Pair::kFirstApart) spaced.push_back(' ');
    spaced.push_back(text[i]);
    spaced.push_back(' ');
    spaced.push_back(text[++i]);
    if (result == Pair::kSecondApart) spaced.push_back(' ');
  }
  return spaced;
}

// All characters that these rules name are ASCII, so they work on bytes: a byte of a longer UTF-8 sequence is
// to them what its character is, something that is neither digit nor mark.
std::string separate_13a(std::string_view text) {
  std::string line(text);
  replace_all(line, "<skipped>", "");
  replace_all(line, "-\n", "");
  replace_all(line, "\n", " ");
  replace_all(line, "&quot;", "\"");
  replace_all(line, "&amp;", "&");
  replace_all(line, "&lt;", "<");
  replace_all(line, "&gt;", ">");
  line = separate(" " + line + " ", is_separate_mark);
  line = separate_pairs(line, is_not_digit, is_period_or_comma, Pair::kSecondApart);
  line = separate_pairs(line, is_period_or_comma, is_not_digit, Pair::kFirstApart);
  return separate_pairs(line, is_digit, is_dash, Pair::kSecondApart);
}

bool in_category(char32_t c, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0;
}
bool is_not_number(char32_t c) {
  return !in_category(c, U_GC_N_MASK);
}
bool is_punctuation(char32_t c) {
  return in_category(c, U_GC_P_MASK);
}
bool is_symbol(char32_t c) {
  return in_category(c, U_GC_S_MASK);
}

std::string separate_intl(std::string_view text) {
  std::u32string line = utf8_to_utf32(text);
  line = separate_pairs(line, is_not_number, is_punctuation, Pair::kSecondApart);
  line = separate_pairs(line, is_punctuation, is_not_number, Pair::kFirstApart);
  std::string spaced;
  for (const char32_t c : separate(line, is_symbol)) append_utf8(spaced, c);
  return spaced;
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> tokens;
  for (size_t offset = 0; offset < text.size();) {
    const size_t start = offset;
    if (!is_whitespace(next_code_point(text, offset)))
      tokens.emplace_back(text.substr(start, offset - start));
  }
  return tokens;
}

std::vector<std::string> words(std::string_view text) {
  const std::vector<std::string_view> parts = split_whitespace(text);
  return {parts.begin(), parts.end()};
}

}  // namespace

std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer) {
  for (const auto& [value, name] : kNames) {
    if (value == tokenizer) return name;
  }
  HEED_CHECK(false);
  return {};
}

BleuTokenizer parse_bleu_tokenizer(std::string_view name) {
  for (const auto& [value, known] : kNames) {
    if (known == name) return value;
  }
  fail(ErrorKind::kUsage, "there is no BLEU tokenizer \"{}\"; choose 13a, none, char or intl", name);
}

std::vector<std::string> tokenize_for_bleu(std::string_view text, BleuTokenizer tokenizer) {
  // Trailing white space matters to "intl" alone, where a mark at the very end has no neighbour.
  text = strip_right(text);
  switch (tokenizer) {
    case BleuTokenizer::k13a:
      return words(separate_13a(text));
    case BleuTokenizer::kNone:
      return words(text);
    case BleuTokenizer::kChar:
      return characters(text);
    case BleuTokenizer::kIntl:
      return words(separate_intl(text));
  }
  HEED_CHECK(false);
  return {};
}

std::string lower_case(std::string_view text) {
  auto unicode = icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
  std::string lowered;
  unicode.toLower(icu::Locale::getRoot()).toUTF8String(lowered);
  return lowered;
}

}  // namespace heed
