#include "text/terms/protected_spans.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text/ascii.h"
#include "text/terms/span_patterns.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

std::string with_capital(std::string_view text) {
  size_t offset = 0;
  std::string result;
  const char32_t first = next_code_point(text, offset);
  append_utf8(result, static_cast<char32_t>(u_totitle(static_cast<UChar32>(first))));
  return result.append(text.substr(offset));
}

/// The numbers of a text, independent of their format: "1.500,50" and "1,500.50" both as "1500|50". A final
/// group of three digits counts as thousands.
std::map<std::string, int> numbers_of(std::string_view text) {
  std::map<std::string, int> numbers;
  std::vector<std::string> groups;
  const auto is_digit = [&](size_t at) { return at < text.size() && is_ascii_digit(text[at]); };
  for (size_t at = 0; at <= text.size(); ++at) {
    if (is_digit(at)) {
      if (groups.empty()) groups.emplace_back();
      groups.back() += text[at];
      continue;
    }
    if (groups.empty()) continue;
    if (at < text.size() && std::string_view(".,:").find(text[at]) != std::string_view::npos &&
        is_digit(at + 1)) {
      groups.emplace_back();
      continue;
    }
    std::string number = groups[0];
    for (size_t n = 1; n < groups.size(); ++n) number += (groups[n].size() == 3 ? "" : "|") + groups[n];
    ++numbers[number];
    groups.clear();
  }
  return numbers;
}

/// Words that may replace a unit: "euros" for "€".
struct UnitWord {
  std::string_view unit, word;
};
constexpr std::array kUnitWords{
    UnitWord{"€", "euro"},        UnitWord{"EUR", "euro"},     UnitWord{"$", "dollar"},
    UnitWord{"$", "dólar"},       UnitWord{"USD", "dollar"},   UnitWord{"£", "pound"},
    UnitWord{"£", "libra"},       UnitWord{"%", "percent"},    UnitWord{"%", "per cent"},
    UnitWord{"%", "por ciento"},  UnitWord{"%", "Prozent"},    UnitWord{"kg", "kilo"},
    UnitWord{"km", "kilom"},      UnitWord{"km", "kilóm"},     UnitWord{"m", "met"},
    UnitWord{"m", "Meter"},       UnitWord{"cm", "cent"},      UnitWord{"g", "gram"},
    UnitWord{"l", "lit"},         UnitWord{"°C", "degree"},    UnitWord{"°C", "grado"},
    UnitWord{"km/h", "per hour"}, UnitWord{"km/h", "por hora"}};

/// The unit next to the digits of a number, without white space.
std::string_view unit_of(std::string_view number) {
  size_t begin = 0, end = number.size();
  const auto is_digit = [&](size_t at) { return is_ascii_digit(number[at]); };
  const size_t last = number.find_last_of("0123456789"), first = number.find_first_of("0123456789");
  if (last == std::string_view::npos) return {};
  if (!is_digit(0)) {
    end = first;
    while (end > 0 && number[end - 1] == ' ') --end;
  } else {
    begin = last + 1;
    if (number.substr(begin).starts_with("\u00A0")) begin += 2;
    while (begin < end && number[begin] == ' ') ++begin;
  }
  return number.substr(begin, end - begin);
}

bool holds_unit(std::string_view translation, std::string_view number) {
  const std::string_view unit = unit_of(number);
  if (unit.empty() || translation.find(unit) != std::string_view::npos) return true;
  return std::any_of(kUnitWords.begin(), kUnitWords.end(), [&](const UnitWord& each) {
    return each.unit == unit && translation.find(each.word) != std::string_view::npos;
  });
}

/// Whether a character can be part of a word of a language that separates words by spaces, or of base64.
bool is_in_long_word(char32_t c) {
  if (c < 0x80)
    return is_letter_or_digit(c) || std::u32string_view(U"_+/=-").find(c) != std::u32string_view::npos;
  const auto code = static_cast<UChar32>(c);
  if (!u_isalnum(code) && u_charType(code) != U_NON_SPACING_MARK) return false;
  return !is_unspaced_script(c);
}

/// Words that are too long to be any: a model would repeat letters up to its maximum length.
std::vector<ProtectedSpan> find_long_words(std::string_view text) {
  constexpr size_t kLongWord = 200;  // characters
  std::vector<ProtectedSpan> found;
  size_t begin = 0, characters = 0;
  const auto end_word = [&](size_t end) {
    if (characters >= kLongWord) found.push_back({begin, end, SpanKind::kExact});
    characters = 0;
  };
  for (size_t at = 0; text.size() >= kLongWord && at < text.size();) {
    const size_t here = at;
    if (!is_in_long_word(next_code_point(text, at))) {
      end_word(here);
    } else if (characters++ == 0) {
      begin = here;
    }
  }
  end_word(text.size());
  return found;
}

/// Adds the long words, instead of what was found in parts of them. A URL keeps what is inside. Both are in
/// order.
std::vector<ProtectedSpan> with_long_words(const std::vector<ProtectedSpan>& spans,
                                           const std::vector<ProtectedSpan>& long_words) {
  std::vector<ProtectedSpan> all;
  auto span = spans.begin();
  for (const ProtectedSpan& word : long_words) {
    while (span != spans.end() && span->end <= word.begin) all.push_back(*span++);
    const bool is_held = span != spans.end() && span->kind == SpanKind::kExact && span->begin <= word.begin &&
                         word.end <= span->end;
    if (is_held) continue;
    while (span != spans.end() && span->begin < word.end) ++span;
    all.push_back(word);
  }
  all.insert(all.end(), span, spans.end());
  return all;
}

}  // namespace

std::vector<ProtectedSpan> find_protected_spans(std::string_view text) {
  const std::vector<ProtectedSpan> long_words = find_long_words(text);
  std::vector<ProtectedSpan> spans = find_span_patterns(text);
  return long_words.empty() ? spans : with_long_words(spans, long_words);
}

size_t count_phrase(std::string_view text, std::string_view phrase) {
  if (phrase.empty()) return 0;
  size_t first = 0, count = 0;
  const bool word_begins = is_letter_or_digit(next_code_point(phrase, first));
  size_t last = character_start(phrase, phrase.size() - 1);
  const bool word_ends = is_letter_digit_or_mark(next_code_point(phrase, last));
  for (size_t at = 0; (at = text.find(phrase, at)) != std::string_view::npos;) {
    const size_t end = at + phrase.size();
    size_t before = at > 0 ? character_start(text, at - 1) : 0, behind = end;
    const bool joined =
        (word_begins && at > 0 && is_letter_digit_or_mark(next_code_point(text, before))) ||
        (word_ends && behind < text.size() && is_letter_digit_or_mark(next_code_point(text, behind)));
    if (!joined) ++count;
    at = joined ? at + 1 : end;
  }
  return count;
}

std::vector<size_t> missing_texts(std::string_view translation, const std::vector<RequiredText>& required) {
  std::vector<size_t> missing;
  std::map<std::string_view, size_t> left;  // occurrences not yet assigned to one of `required`
  std::map<std::string, int> numbers;
  bool numbers_read = false;
  for (size_t n = 0; n < required.size(); ++n) {
    const RequiredText& each = required[n];
    bool found = true;
    if (each.kind == SpanKind::kNumber) {
      if (!numbers_read) numbers = numbers_of(translation);
      numbers_read = true;
      found = holds_unit(translation, each.text);
      for (const auto& [digits, count] : numbers_of(each.text)) {
        const auto same = numbers.find(digits);
        found = found && same != numbers.end() && (same->second -= count) >= 0;
      }
    } else {
      const auto [entry, first] = left.emplace(each.text, 0);
      if (first) {
        entry->second = count_phrase(translation, each.text);
        if (each.kind == SpanKind::kTerm) {
          const std::string capital = with_capital(each.text);
          if (capital != each.text) entry->second += count_phrase(translation, capital);
        }
      }
      found = entry->second > 0;
      if (found) --entry->second;
    }
    if (!found) missing.push_back(n);
  }
  return missing;
}

}  // namespace heed
