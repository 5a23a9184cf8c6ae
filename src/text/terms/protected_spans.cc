// The patterns are a table of ICU regular expressions with possessive quantifiers, so that matching takes
// linear time. A check of the bytes first skips most sentences, which cannot match.
#include "text/terms/protected_spans.h"

#include <unicode/regex.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "base/check.h"
#include "base/text/ascii.h"
#include "text/unicode/close_text.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

struct SpanPattern {
  SpanKind kind;
  const char* expression;
};

/// At each position, the first match counts. URLs do not end with punctuation.
constexpr std::array kPatterns{
    SpanPattern{SpanKind::kExact, R"(⟦[0-9]++⟧)"},  // placeholders
    SpanPattern{SpanKind::kExact, R"(``[^`]++``|`[^`]++`)"},
    SpanPattern{
        SpanKind::kExact,  // URLs
        R"((?<![\p{L}\p{N}])(?:(?i:https?|ftp|file)://|(?i:www)\.|(?i:mailto):)[^\s<>"“”«»„]{0,2000}[^\s<>"“”«»„.,;:!?)\]}'’…])"},
    SpanPattern{
        SpanKind::kExact,  // e-mail addresses
        R"((?<![\p{L}\p{N}])[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,5})"},
    SpanPattern{
        SpanKind::kExact,  // bare domains
        R"((?<![\p{L}\p{N}@.])(?:[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,4}\.(?:com|org|net|de|es|io|eu|at|ch|info|edu|gov|uk)|[A-Z0-9-]{1,63}(?:\.[A-Z0-9-]{1,63}){0,4}\.(?:COM|ORG|NET|INFO|EDU|GOV))(?:/[^\s<>"“”«»„]{0,2000}[^\s<>"“”«»„.,;:!?)\]}'’…])?(?![\p{L}\p{N}]))"},
    SpanPattern{SpanKind::kExact, R"(&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});)"},
    SpanPattern{
        SpanKind::kExact,  // format strings and templates
        R"(\{\{[^{}]{1,80}\}\}|\$\{[^{}]{1,80}\}|\{[A-Za-z0-9_.:,%-]{0,40}\}|%\([A-Za-z_][A-Za-z0-9_]{0,40}\)[sdif])"},
    SpanPattern{
        SpanKind::kExact,
        R"((?<![0-9%])%(?:[0-9]{1,2}\$)?[-+0#]{0,3}[0-9]{0,3}(?:\.[0-9]{1,2})?l{0,2}[sdifuxXcgGeE@](?![\p{L}\p{N}]))"},
    SpanPattern{SpanKind::kExact, R"((?<![\p{L}\p{N}$])\$[A-Za-z_][A-Za-z0-9_]{0,60})"},
    SpanPattern{SpanKind::kExact, R"((?<![\p{L}\p{N}@])@[A-Za-z0-9_]{2,40})"},
    SpanPattern{
        SpanKind::kExact,  // paths and file names
        R"((?<![^\s("„“«'])(?:~|\.{1,2})?/[\w.-]{1,80}(?:/[\w.-]{1,80}){1,20}|(?<![\p{L}\p{N}])[A-Z]:\\[^\s"<>|]{1,200}[\w])"},
    SpanPattern{
        SpanKind::kExact,
        R"((?<![\p{L}\p{N}])[\w-]{1,80}\.(?:txt|pdf|py|cc|cpp|h|json|yaml|yml|xml|html|csv|tsv|jpe?g|png|gif|svg|zip|exe|md|js|ts|toml|docx?|xlsx?|mp3|mp4|sh)(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact,  // flags; emojis with modifiers and joined sequences
        R"([\x{1F1E6}-\x{1F1FF}]{2}|[[\p{Extended_Pictographic}]&&[^\x{0}-\x{203B}\x{2122}\x{2139}]][\x{1F3FB}-\x{1F3FF}\x{FE0F}]?(?:\x{200D}[\p{Extended_Pictographic}][\x{1F3FB}-\x{1F3FF}\x{FE0F}]?){0,6})"},
    SpanPattern{SpanKind::kExact, R"((?<![^\s])[:;]-?[()DP](?![^\s.,!?]))"},
    SpanPattern{
        SpanKind::kExact,  // UUIDs, dates and codes with hyphens, IP addresses, versions, phone numbers
        R"((?<![\p{L}\p{N}])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact,
        R"((?<![\p{L}\p{N}])[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?Z?)?(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kNumber,  // dates such as 17-05-2022, which not all languages write so
        R"((?<![\p{L}\p{N}.,-])(?:0?[1-9]|[12][0-9]|3[01])-(?:0?[1-9]|1[0-2])-(?:19|20)[0-9]{2}(?![\p{L}\p{N}-]|[.,][0-9]))"},
    SpanPattern{SpanKind::kExact,
                R"((?<![\p{L}\p{N}.,-])[0-9]{1,12}(?:-[0-9]{1,12}){2,6}(?![\p{L}\p{N}-]|[.,][0-9]))"},
    SpanPattern{
        SpanKind::kExact,  // four numbers up to 255
        R"((?<![\p{L}\p{N}.])(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}(?::[0-9]{1,5})?(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact,  // four other numbers, but not 1.500.000.000
        R"((?<![\p{L}\p{N}.])(?![0-9]{1,3}(?:\.[0-9]{3}){3}(?![0-9]))[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact,
        R"((?<![\p{L}\p{N}.])(?:v[0-9]{1,4}(?:\.[0-9]{1,4}){1,4}|[0-9]{1,2}(?:\.[0-9]{1,2}){2})(?:-[A-Za-z0-9.]{1,20})?(?![\p{L}\p{N}]|\.[0-9]))"},
    SpanPattern{
        SpanKind::kExact,
        R"((?<![\p{L}\p{N}])(?:\+[0-9]{1,3}[ /-]?\(?[0-9]{1,9}(?:[ )/-]{1,2}[0-9]{2,8}){1,5}|0[0-9]{1,4}[ /-][0-9]{2,9}(?:[ -][0-9]{2,8}){0,4})(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact,  // feet and inches, minutes and seconds: 5'10"
        R"((?<![\p{L}\p{N}.,'’′])[0-9]{1,3} ?['’′] ?[0-9]{1,2}(?:[.,][0-9]{1,2}| ?[¼½¾])?(?:["”″]|''|’’|′′))"},
    SpanPattern{
        SpanKind::kFraction,
        R"((?<![\p{L}\p{N}.,])(?:[0-9]{1,3}[ \x{A0}]?)?[¼½¾⅓⅔⅛⅜⅝⅞](?!\p{N})|(?<![\p{L}\p{N}.,/])[1-9][0-9]{0,2} [1-9]/(?:[2-9]|1[0-6])(?![\p{L}\p{N}/]|[.,][0-9]))"},
    SpanPattern{
        SpanKind::kExact,  // codes that mix cases and digits: aB3xY, iPhone15
        R"((?<![\p{L}\p{N}-])(?=[A-Za-z0-9]{0,40}[0-9])(?=[A-Za-z0-9]{0,40}[a-z][A-Z])[A-Za-z][A-Za-z0-9]{2,40}(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact,  // identifiers: capitals and digits, or many digits
        R"((?<![\p{L}\p{N}-])(?=[A-Z0-9-]{0,40}[0-9])[A-Z][A-Z0-9]{0,40}(?:-[A-Z0-9]{1,40}){0,5}(?![\p{L}\p{N}])|(?<![\p{L}\p{N}.,])[0-9]{7,40}(?![\p{L}\p{N}]|[.,][0-9]))"},
    SpanPattern{
        SpanKind::kNumber,
        R"((?<![\p{L}\p{N}])(?:[€$£] ?[0-9]{1,15}(?:[.,][0-9]{1,15}){0,5}|[0-9]{1,15}(?:[.,][0-9]{1,15}){0,5}[ \x{A0}]?(?:[%‰€$£](?!\p{L})|(?:km/h|km|kg|mg|cm|mm|ml|°C|°F|kWh|kW|MB|GB|TB|GHz|MHz|Hz|EUR|USD|m²|km²|m|g|l)(?![\p{L}\p{N}]))))"},
    SpanPattern{
        SpanKind::kNumber,
        R"((?<![\p{L}\p{N}.,])(?:[0-9]{4,6}|[0-9]{1,15}(?:[.,][0-9]{1,15}){1,5})(?![\p{L}\p{N}]|[.,:][0-9]))"},
};

/// Dates with periods or slashes are not protected, since their format depends on the language.
constexpr const char* kDate =
    R"((?<![\p{L}\p{N}])[0-9]{1,2}[./][0-9]{1,2}[./](?:[0-9]{4}|[0-9]{2})(?![\p{L}\p{N}]|\.[0-9]))";

/// All patterns as alternatives with one group each: group 1 is the date, group n + 2 is pattern n.
const icu::RegexPattern& combined_pattern() {
  static const std::unique_ptr<icu::RegexPattern> pattern = [] {
    std::string all = "(" + std::string(kDate) + ")";
    for (const SpanPattern& each : kPatterns) all += "|(" + std::string(each.expression) + ")";
    UErrorCode code = U_ZERO_ERROR;
    UParseError where{};
    std::unique_ptr<icu::RegexPattern> made(
        icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(all), where, code));
    if (U_FAILURE(code)) {
      fail(ErrorKind::kFile, "ICU cannot compile the patterns of protected spans: {} at {}",
           u_errorName(code), where.offset);
    }
    return made;
  }();
  return *pattern;
}

/// Whether any pattern could match: requires a digit, certain punctuation, or a non-Latin character.
bool may_hold_spans(std::string_view text) {
  size_t dots = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (is_ascii_digit(byte)) return true;
    if (std::string_view("@`%${&/\\").find(text[at]) != std::string_view::npos) return true;
    if ((byte == ':' || byte == ';') && at + 1 < text.size() && text[at + 1] != ' ') return true;
    if (byte == '.' && at + 1 < text.size() && text[at + 1] != ' ' && text[at + 1] != '.') ++dots;
    if (byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xBC) return true;
    if (byte == 0xE2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) != 0x80) return true;
    if (byte > 0xE2) return true;
  }
  return dots > 0;
}

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

/// Adds the long words, instead of what was found in parts of them. A URL keeps what is inside.
std::vector<ProtectedSpan> with_long_words(std::vector<ProtectedSpan> spans,
                                           const std::vector<ProtectedSpan>& long_words) {
  for (const ProtectedSpan& word : long_words) {
    const auto holds_word = [&](const ProtectedSpan& span) {
      return span.kind == SpanKind::kExact && span.begin <= word.begin && word.end <= span.end;
    };
    if (std::any_of(spans.begin(), spans.end(), holds_word)) continue;
    std::erase_if(spans,
                  [&](const ProtectedSpan& span) { return span.begin < word.end && word.begin < span.end; });
    spans.push_back(word);
  }
  std::sort(spans.begin(), spans.end(),
            [](const ProtectedSpan& a, const ProtectedSpan& b) { return a.begin < b.begin; });
  return spans;
}

/// The matches of the patterns.
std::vector<ProtectedSpan> find_patterns(std::string_view text) {
  if (!may_hold_spans(text)) return {};
  UErrorCode code = U_ZERO_ERROR;
  const std::unique_ptr<UText, CloseText> view(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &code));
  const std::unique_ptr<icu::RegexMatcher> matcher(combined_pattern().matcher(code));
  if (U_FAILURE(code))
    fail(ErrorKind::kText, "cannot find protected spans: ICU reports {}", u_errorName(code));
  matcher->reset(view.get());
  std::vector<ProtectedSpan> spans;
  while (matcher->find(code) && U_SUCCESS(code)) {
    if (matcher->start64(1, code) >= 0) continue;  // a date
    for (int32_t group = 2; group <= matcher->groupCount(); ++group) {
      if (matcher->start64(group, code) < 0) continue;
      spans.push_back({static_cast<size_t>(matcher->start64(group, code)),
                       static_cast<size_t>(matcher->end64(group, code)),
                       kPatterns[static_cast<size_t>(group) - 2].kind});
      break;
    }
  }
  return spans;
}

}  // namespace

std::vector<ProtectedSpan> find_protected_spans(std::string_view text) {
  const std::vector<ProtectedSpan> long_words = find_long_words(text);
  std::vector<ProtectedSpan> spans = find_patterns(text);
  return long_words.empty() ? spans : with_long_words(std::move(spans), long_words);
}

size_t count_phrase(std::string_view text, std::string_view phrase) {
  if (phrase.empty()) return 0;
  size_t first = 0, count = 0;
  const bool word_begins = is_letter_or_digit(next_code_point(phrase, first));
  size_t last = character_start(phrase, phrase.size() - 1);
  const bool word_ends = is_letter_or_digit(next_code_point(phrase, last));
  for (size_t at = 0; (at = text.find(phrase, at)) != std::string_view::npos; at += phrase.size()) {
    size_t before = at > 0 ? character_start(text, at - 1) : 0, behind = at + phrase.size();
    const bool joined =
        (word_begins && at > 0 && is_letter_or_digit(next_code_point(text, before))) ||
        (word_ends && behind < text.size() && is_letter_or_digit(next_code_point(text, behind)));
    if (!joined) ++count;
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
