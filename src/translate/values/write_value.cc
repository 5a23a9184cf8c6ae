#include "translate/values/write_value.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/ascii.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"
#include "translate/values/reading/figures.h"
#include "translate/values/reading/find_values.h"

namespace heed::translate {
namespace {

std::string with_number(std::string_view form, const std::string& number) {
  return std::string(form).replace(form.find("{}"), 2, number);
}

/// "1600000000000" as "1.6 trillion"; none for numbers of many figures, and for one million.
std::optional<std::string> write_scaled(const std::string& number, const ValueLanguage& language) {
  constexpr size_t kMostDecimals = 2;
  if (number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  for (const Phrase<int>& scale : language.written_scales) {
    const auto zeros = static_cast<size_t>(scale.meaning);
    if (number.size() <= zeros) continue;
    const size_t point = number.size() - zeros;
    const std::string scaled = decimal_number(number.substr(0, point), number.substr(point));
    if (scaled == "1" || scaled.size() > point + 1 + kMostDecimals) return std::nullopt;
    return fmt::format("{} {}", write_figures(scaled, language), scale.words);
  }
  return std::nullopt;
}

constexpr size_t kMostInWords = 6;  // digits

/// A number with its unit; `scaled`: "1.6 trillion", if it is written so.
std::vector<std::string> write_amount(const Value& number, const std::string& figures,
                                      const std::optional<std::string>& scaled,
                                      const ValueLanguage& language) {
  const auto unit = std::ranges::find(language.units, number.unit, &UnitWords::unit);
  if (scaled) {
    const bool before = !unit->usual.starts_with("{}");  // "€1.5 million"
    const std::string_view link = before ? std::string_view() : language.scale_link;
    return {with_number(unit->usual, *scaled + std::string(link)), with_number(unit->otherwise, figures)};
  }
  constexpr size_t kLongestSymbol = 4;  // bytes, with a space
  const bool has_symbol = unit->usual.size() <= kLongestSymbol + std::string_view("{}").size();
  const std::optional<int64_t> integer = parse_integer(number.normal, kMostInWords);
  if (number.in_words && has_symbol && integer)
    return {with_number(unit->otherwise, language.write_words(*integer)), with_number(unit->usual, figures)};
  return {with_number(unit->usual, figures), with_number(unit->otherwise, figures)};
}

/// "Half a million" of a unit or of anything else; empty for other numbers.
std::string write_part(const Value& number, const ValueLanguage& language) {
  const auto part = std::ranges::find(language.written_parts, number.normal, &WrittenPart::number);
  const bool counts = number.unit == Unit::kNone || is_money(number.unit);
  if (!number.part || !counts || part == language.written_parts.end()) return "";
  if (number.unit == Unit::kNone) return std::string(part->words);
  const auto unit = std::ranges::find(language.units, number.unit, &UnitWords::unit);
  const bool first = unit->usual.starts_with("{}") && unit->usual.size() > unit->otherwise.size();
  return with_number(first ? unit->usual : unit->otherwise,
                     std::string(part->words).append(language.scale_link));
}

/// `scaled`: the source writes the number with a word such as "million". Then money, and a number without a
/// unit, is written with one too.
std::vector<std::string> write_number(const Value& number, const ValueLanguage& language, bool scaled) {
  const std::string figures = write_figures(number.normal, language, number.decimals);
  if (const std::string part = write_part(number, language); !part.empty()) return {part, figures};
  const bool may_scale = scaled && (number.unit == Unit::kNone || is_money(number.unit));
  const std::optional<std::string> with_scale =
      may_scale ? write_scaled(number.normal, language) : std::nullopt;
  if (number.unit != Unit::kNone) return write_amount(number, figures, with_scale, language);
  if (with_scale) return {*with_scale, figures};
  if (number.normal.starts_with('-')) {
    if (!number.in_words) return {figures};
    Value amount = number;
    amount.normal.erase(0, 1);
    return {fmt::format("{} {}", language.minus[0], write_number(amount, language, scaled)[0]), figures};
  }
  if (number.decade) return {with_number(language.written_decade, number.normal)};
  if (number.in_words && !number.other_reading.empty()) {
    if (number.normal == "0.25") return {std::string(language.written_quarter_hours[0])};
    if (number.normal == "0.75") return {std::string(language.written_quarter_hours[1])};
  }
  constexpr std::string_view kHalf = ".5";
  if (number.in_words && number.normal.ends_with(kHalf)) {
    const std::string_view before =
        std::string_view(number.normal).substr(0, number.normal.size() - kHalf.size());
    const auto halved = parse_integer(before, kMostInWords);
    const std::string half = halved ? language.write_half(*halved) : "";
    if (!half.empty()) return {half, figures};
  }
  const std::optional<int64_t> integer = parse_integer(number.normal, kMostInWords);
  if (!integer) return {figures};
  if (number.ordinal) return {language.write_ordinal(figures), figures};
  const std::string words = language.write_words(*integer);
  if (number.in_words) return {words, figures};
  return {figures, words};
}

size_t count_digits(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return is_ascii_digit(static_cast<unsigned char>(c)); }));
}

/// Whether figures have neither a unit nor marks in the source: a year, for example.
bool is_plain(const Value& number, std::string_view written) {
  return number.unit == Unit::kNone && !number.decade && count_digits(written) == written.size();
}

/// Whether a number has white space between its digits with which its language does not group thousands: that
/// of two columns, or of a list in English.
bool joins_columns(std::string_view written, const ValueLanguage& language) {
  for (size_t at = 0, digit = 0; at < written.size();) {  // `digit`: behind the last one
    const size_t begin = at;
    const char32_t c = next_code_point(written, at);
    if (!is_ascii_digit(c)) continue;
    const std::string_view between = written.substr(digit, begin - digit);
    if (digit > 0 && !between.empty() && strip(between).empty()) {
      size_t one = 0;
      const char32_t space = next_code_point(between, one);
      if (!language.spaced_thousands || one < between.size() || space < U' ') return true;
    }
    digit = at;
  }
  return false;
}

/// Whether a mark between the figures of two numbers, [end, begin), makes them parts of something else, such
/// as a version or a list: "10.0.19045", "1,2,3".
bool joins_numbers(std::string_view text, size_t end, size_t begin) {
  return end > 0 && begin == end + 1 && std::string_view(".,'").find(text[end]) != std::string_view::npos &&
         is_ascii_digit(text[end - 1]) && is_ascii_digit(text[begin]);
}

std::string write_weekday(const Value& weekday, const ValueLanguage& language) {
  const int day = std::stoi(weekday.normal);
  const auto relative = std::ranges::find(language.relative_days, day, &Phrase<int>::meaning);
  if (relative != language.relative_days.end()) return std::string(relative->words);
  const auto name = std::ranges::find(language.weekdays, day, &Phrase<int>::meaning);
  std::string written(name->words);
  if (language.capital_weekdays) written[0] = ascii_upper(written[0]);
  return written;
}

}  // namespace

std::vector<std::string> write_value(const Value& value, std::string_view text,
                                     const ValueLanguage& language) {
  const auto written = [&] { return std::string(text.substr(value.begin, value.end - value.begin)); };
  switch (value.kind) {
    case ValueKind::kNumber:
      if (value.roman || (written().size() == kYearDigits && is_plain(value, written()))) return {written()};
      return write_number(value, language, count_digits(written()) < count_digits(value.normal));
    case ValueKind::kTime:
      return language.write_time(value);
    case ValueKind::kDate:
      return language.write_date(value);
    case ValueKind::kWeekday:
      return {write_weekday(value, language)};
    case ValueKind::kMarker:
    case ValueKind::kText:
      return {written()};
  }
  return {};
}

std::optional<std::string> rewrite_numbers(std::string_view text, const ValueLanguage& from,
                                           const ValueLanguage& to) {
  const auto has_word = [](std::string_view between) {
    return std::ranges::any_of(tokenize_values(between),
                               [](const TextToken& token) { return token.kind != TextToken::Kind::kSymbol; });
  };
  std::string result;
  size_t at = 0;
  bool certain = true, stays = false;
  const std::vector<Value> values = find_values(text, from).values;
  for (size_t n = 0; n < values.size(); ++n) {
    const Value& number = values[n];
    const std::string_view between = text.substr(at, number.begin - at),
                           written = text.substr(number.begin, number.end - number.begin);
    at = number.end;
    const bool marker = number.kind == ValueKind::kMarker;
    const bool figures = number.kind == ValueKind::kNumber && !number.in_words && !number.decade &&
                         !number.broken && !number.optional;
    const bool joined = n + 1 < values.size() && joins_numbers(text, at, values[n + 1].begin);
    if (!(figures || marker) || (number.ordinal && !joined) || has_word(between)) return std::nullopt;
    stays = stays || joined || joins_columns(written, from);
    certain = certain && !number.ill_written && number.other_reading.empty();
    const bool same = marker || is_plain(number, written);
    result += between;
    result += same ? std::string(written) : write_number(number, to, false).front();
  }
  if (values.empty() || has_word(text.substr(at))) return std::nullopt;
  if (stays) return std::string(text);
  return certain ? std::optional(result.append(text.substr(at))) : std::nullopt;
}

}  // namespace heed::translate
