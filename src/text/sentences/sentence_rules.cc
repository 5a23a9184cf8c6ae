#include "text/sentences/sentence_rules.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

constexpr std::string_view kEllipsis = "…";

char32_t first_of(std::string_view text) {
  size_t offset = 0;
  return text.empty() ? U'\0' : next_code_point(text, offset);
}
bool is_one_of(char32_t c, std::u32string_view list) {
  return list.find(c) != std::u32string_view::npos;
}
bool is_opening(char32_t c) {
  return is_one_of(c, U"¿¡\"'“„‚‘«‹([{»›*_");
}
bool is_closing(char32_t c) {
  return is_one_of(c, U"\"'”“’‘»«›‹)]}*_");
}
bool is_dash(char32_t c) {
  return is_one_of(c, U"-–—―");
}
bool is_upper(char32_t c) {
  return u_isupper(static_cast<UChar32>(c)) != 0;
}
bool is_lower(char32_t c) {
  return u_islower(static_cast<UChar32>(c)) != 0;
}
bool is_letter(char32_t c) {
  return u_isalpha(static_cast<UChar32>(c)) != 0;
}

/// The text without leading characters for which `skip` is true.
template <typename Predicate>
std::string_view without_leading(std::string_view text, Predicate skip) {
  for (size_t offset = 0; offset < text.size();) {
    const size_t start = offset;
    if (!skip(next_code_point(text, offset))) return text.substr(start);
  }
  return {};
}

/// Leading letters and apostrophes; empty if a period follows, as after an initial.
std::string_view first_word(std::string_view text) {
  size_t end = 0;
  for (size_t offset = 0; offset < text.size(); end = offset) {
    const char32_t c = next_code_point(text, offset);
    if (!is_letter(c) && c != U'\'' && c != U'’') break;
  }
  const bool period = end < text.size() && text[end] == '.';
  return period ? std::string_view{} : text.substr(0, end);
}

/// How far back a sentence is read at each place where it might end, in bytes. It has many such places.
constexpr size_t kLongestWord = 1000, kLongestBracket = 4000;

/// The end of a sentence, of at most so many bytes.
std::string_view end_of(std::string_view sentence, size_t most) {
  return sentence.size() <= most ? sentence
                                 : sentence.substr(character_start(sentence, sentence.size() - most));
}

/// The last word without preceding marks, such as an opening bracket or "Dipl.-" in "Dipl.-Ing.".
std::string_view last_word(std::string_view sentence) {
  sentence = end_of(sentence, kLongestWord);
  size_t begin = sentence.size();
  while (begin > 0) {
    const size_t at = character_start(sentence, begin - 1);
    const char32_t c = first_of(sentence.substr(at));
    if (is_whitespace(c) || is_dash(c)) break;
    begin = at;
  }
  return without_leading(sentence.substr(begin),
                         [](char32_t c) { return !is_letter(c) && !is_ascii_digit(c); });
}

/// Single letters with periods: "J.", "z.B.", "U.S.A.".
bool is_letters_with_periods(std::string_view word) {
  size_t offset = 0;
  while (offset < word.size()) {
    if (!is_letter(next_code_point(word, offset))) return false;
    if (offset == word.size() || word[offset++] != '.') return false;
  }
  return !word.empty();
}

/// "1." to "99.", and dates such as "15.3."; larger numbers are usually years at the end of a sentence.
bool is_small_ordinal(std::string_view word) {
  size_t digits = 0;
  for (const char c : word) {
    if (c == '.') {
      if (digits == 0 || digits > 2) return false;
      digits = 0;
    } else if (is_ascii_digit(static_cast<unsigned char>(c))) {
      ++digits;
    } else {
      return false;
    }
  }
  return word.ends_with('.');
}

bool is_roman_numeral(std::string_view word) {
  return word.size() > 2 && word.ends_with('.') &&
         word.substr(0, word.size() - 1).find_first_not_of("IVXLC") == std::string_view::npos;
}

/// A list number such as "1." alone.
bool is_list_number(std::string_view sentence) {
  const size_t digits = sentence.substr(0, kLongestWord).find_first_not_of("0123456789");
  return digits != 0 && digits != std::string_view::npos && sentence.substr(digits) == ".";
}

/// Words such as iPhone and eBay, which begin in lower case even at the start of a sentence.
bool has_inner_capital(std::string_view text) {
  const std::string_view word = first_word(text);
  if (word.empty()) return false;
  size_t offset = 0;
  next_code_point(word, offset);
  return offset < word.size() && is_upper(first_of(word.substr(offset)));
}

bool begins_in_lower_case(std::string_view text) {
  const std::string_view word =
      without_leading(text, [](char32_t c) { return is_dash(c) || is_whitespace(c); });
  return is_lower(first_of(word)) && !has_inner_capital(word);
}

/// Whether a sentence ends with a closing bracket that was opened inside it: "He is (really?)".
bool ends_in_bracket_within(std::string_view sentence) {
  if (sentence.empty() || (sentence.back() != ')' && sentence.back() != ']')) return false;
  const char open = sentence.back() == ')' ? '(' : '[';
  const std::string_view end = end_of(sentence, kLongestBracket);
  int depth = 0;
  for (size_t at = end.size(); at-- > 0;) {
    if (end[at] == end.back()) ++depth;
    if (end[at] == open && --depth == 0) return at > 0 || end.size() < sentence.size();
  }
  return false;
}

/// Whether two adjacent segments without white space between them look like an address.
bool is_within_address(std::string_view sentence, std::string_view next) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  sentence = end_of(sentence, kLongestWord);
  const auto begin = std::find_if(sentence.rbegin(), sentence.rend(), is_space).base();
  const auto end = std::find_if(next.begin(), next.end(), is_space);
  const auto has_sign = [](std::string_view text) {
    return text.find_first_of(":/@=&#%") != std::string_view::npos;
  };
  return has_sign({begin, sentence.end()}) || has_sign({next.begin(), end});
}

/// "9 a.m. Monday", "5 p.m. EST".
bool belongs_to_time(std::string_view next) {
  static constexpr std::array<std::string_view, 7> kWeekdays{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                             "Friday", "Saturday", "Sunday"};
  const std::string_view word = first_word(next);
  const bool capitals =
      word.size() > 1 && word.size() < 5 && std::all_of(word.begin(), word.end(), is_ascii_upper);
  return capitals || std::find(kWeekdays.begin(), kWeekdays.end(), word) != kWeekdays.end();
}

}  // namespace

bool SentenceRules::begins_sentence(std::string_view next) const {
  if (is_one_of(first_of(next), U"¿¡")) return true;
  const std::string_view word = without_leading(next, is_opening);
  return abbreviations_.begins_sentences(first_word(word));
}

/// For a sentence that ends with a period.
bool SentenceRules::joined_by_period(std::string_view sentence, std::string_view next) const {
  if (is_list_number(sentence)) return true;
  const std::string_view word = last_word(sentence);
  if (word.size() < 2) return false;
  switch (abbreviations_.find(word.substr(0, word.size() - 1))) {
    case Abbreviation::kBeforeName:
      return true;
    case Abbreviation::kBeforeNumber:
      return is_ascii_digit(first_of(next));
    case Abbreviation::kMayEnd:
      return !begins_sentence(next);
    case Abbreviation::kTimeOfDay:
      return belongs_to_time(next);
    case Abbreviation::kNone:
      break;
  }
  if (is_letters_with_periods(word)) {
    // In German, a single lower-case letter is part of an abbreviation, "z. B.", "d. h.", or a unit, "2 m.".
    const std::string_view before =
        strip(sentence.substr(0, static_cast<size_t>(word.data() - sentence.data())));
    const std::string_view pair = last_word(before);
    if (abbreviations_.capitalizes_nouns() && is_lower(first_of(word)) && !word.starts_with("f.")) {
      return pair.empty() || !is_ascii_digit(first_of(pair)) || !begins_sentence(next);
    }
    if (pair == "z." || pair == "d.") return true;
    if ((word == "m." || word == "M.") && (pair == "a." || pair == "p.")) return belongs_to_time(next);
    return !begins_sentence(next);
  }
  const bool ordinal =
      abbreviations_.ordinals_with_period() && (is_small_ordinal(word) || is_roman_numeral(word));
  return ordinal && !begins_sentence(next);
}

bool SentenceRules::belong_together(const Neighbours& neighbours) const {
  const auto& [sentence, separator, next] = neighbours;
  if (separator.find_first_of("\n\r") != std::string_view::npos) return false;
  if (begins_in_lower_case(next)) return true;
  if (separator.empty() && is_within_address(sentence, next)) return true;
  if (ends_in_bracket_within(sentence)) return true;
  if (sentence.ends_with("...")) return begins_in_lower_case(without_leading(next, is_opening));
  return sentence.ends_with('.') && joined_by_period(sentence, next);
}

size_t SentenceRules::after_ellipsis(std::string_view sentence, size_t from) const {
  for (size_t at = from; (at = sentence.find(kEllipsis, at)) != std::string_view::npos;) {
    at += kEllipsis.size();
    const std::string_view rest = without_leading(sentence.substr(at), is_closing);
    const std::string_view next = without_leading(rest, is_whitespace);
    if (next.empty()) break;
    if (next.size() == rest.size()) continue;  // no white space
    const std::string_view word = without_leading(next, is_opening);
    if (!is_upper(first_of(word))) continue;
    if (abbreviations_.capitalizes_nouns() && !begins_sentence(next)) continue;
    return static_cast<size_t>(next.data() - sentence.data());
  }
  return sentence.size();
}

size_t leading_emojis(std::string_view text) {
  static constexpr std::array<std::string_view, 14> kSmileys{":-)", ":-(", ";-)", ":-D", ":-P", ":)", ":(",
                                                             ";)",  ":D",  ":P",  ":-/", "<3",  "^^", "XD"};
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    const auto smiley = std::find_if(kSmileys.begin(), kSmileys.end(), [&](std::string_view s) {
      const std::string_view rest = text.substr(at);
      return rest.starts_with(s) &&
             (rest.size() == s.size() || is_whitespace(first_of(rest.substr(s.size()))));
    });
    if (smiley != kSmileys.end()) {
      end = at += smiley->size();
      continue;
    }
    const auto c = static_cast<UChar32>(next_code_point(text, at));
    const bool emoji = (c > 0x2000 && u_hasBinaryProperty(c, UCHAR_EXTENDED_PICTOGRAPHIC)) ||
                       (c > 0x2000 && u_hasBinaryProperty(c, UCHAR_EMOJI_MODIFIER)) ||
                       u_hasBinaryProperty(c, UCHAR_REGIONAL_INDICATOR);
    if (emoji) {
      end = at;
    } else if (end > 0 && (c == 0xFE0F || c == 0x200D)) {  // emoji presentation; zero-width joiner
      end = at;
    } else if (!is_whitespace(static_cast<char32_t>(c))) {
      break;
    }
  }
  return end;
}

bool is_one_sentence(std::string_view text) {
  const auto is_mark = [](char32_t c) { return is_one_of(c, U".!?…"); };
  bool at_end = false;
  for (size_t offset = 0; offset < text.size();) {
    const char32_t c = next_code_point(text, offset);
    if (c < U' ' || c == 0x85 || (c >= 0x250 && (c < 0x2010 || c > 0x2026) && c != 0x20AC)) return false;
    if (is_mark(c)) {
      at_end = true;
    } else if (at_end && !is_closing(c) && c != U' ') {
      return false;
    }
  }
  return true;
}

}  // namespace heed
