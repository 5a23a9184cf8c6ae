// Codes, telephone numbers, scores and Roman numerals, and where a text has addresses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/ascii.h"
#include "text/terms/protected_spans.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "translate/values/reading/figures.h"
#include "translate/values/reading/value_readers.h"

namespace heed::translate {
namespace {

/// Whether a protected span is an address or a code, rather than an emoji or a format string.
bool is_text_value(std::string_view span) {
  const auto has = [&](std::string_view part) { return span.find(part) != std::string_view::npos; };
  const bool digits =
      std::ranges::any_of(span, [](char c) { return is_ascii_digit(static_cast<unsigned char>(c)); });
  const bool letters = std::ranges::any_of(span, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return is_ascii_letter(byte) || byte >= 0x80;
  });
  const bool address = has("@") || has("://") || has("www.");
  const bool parts = has(" ") || has("-") || has("/") || has("+") || has(".") || has("'");
  constexpr size_t kShortest = 5;  // "d.h" is no file
  if (!digits && span.size() < kShortest) return false;
  if (span.starts_with("⟦") || span.starts_with('&') || span.starts_with('%')) return false;
  if (address) return true;
  size_t last = character_start(span, span.size() - 1);
  if (ascii_of_superscript(next_code_point(span, last)) != '\0') return false;  // a power: read_code()
  return (digits && (letters || parts)) || (letters && has("."));
}

/// Whether to look for addresses and codes, which takes longer than everything else.
bool may_hold_addresses_or_codes(TextTokens tokens) {
  for (size_t n = 0; n < tokens.size(); ++n) {
    const TextToken& token = tokens[n];
    if (token.is("@") || token.is("www")) return true;
    if (token.is_digits() && token.lower[0] == '0' && token.lower.size() > 1 && token.after_space)
      return true;
    if (n + 1 == tokens.size() || tokens[n + 1].after_space) continue;
    const TextToken& next = tokens[n + 1];
    const bool code = (token.is_word() && next.is_digits()) || (token.is_digits() && next.in_capitals);
    if (code || (token.is("+") && next.is_digits()) || (token.is("/") && next.is("/"))) return true;
    if (token.is("arxiv") && next.is(":")) return true;
    if (token.is_digits() && next.is("'")) return true;  // 5'10"
    const bool joins = n > 0 && !token.after_space && (token.is(".") || token.is("-") || token.is("/"));
    const TextToken* before = joins ? &tokens[n - 1] : nullptr;
    if (before == nullptr) continue;
    if (token.is(".") && next.is_word() && next.lower.size() > 1) return true;                // heed.de
    if (token.is("/") && before->is_digits() && n > 2 && tokens[n - 2].is(".")) return true;  // 10.1000/182
    if (!token.is(".") && before->in_capitals && next.is_digits()) return true;               // LH-4713
    const bool more = n + 2 < tokens.size() && tokens[n + 2].is(token.lower) && !tokens[n + 2].after_space;
    if (before->is_digits() && next.is_digits() && more) return true;  // 192.168.0.1, 2024-03-12
  }
  return false;
}

/// The first `count` tokens.
ReadValue text_value(TextTokens tokens, size_t count, std::string normal) {
  Value value{.kind = ValueKind::kText, .begin = tokens[0].begin, .end = tokens[count - 1].end};
  value.normal = std::move(normal);
  return ReadValue{std::move(value), count};
}

/// A flight or a train: "LH 6887". A number that may be a year is none: "WM 2022".
std::optional<ReadValue> read_spaced_code(TextTokens tokens, const ValueLanguage& language) {
  const TextToken& letters = tokens[0];
  if (!letters.in_capitals || letters.lower.size() != 2 || tokens.size() < 2) return {};
  const TextToken& digits = tokens[1];
  const size_t length = digits.lower.size();
  const bool year = length == 4 && (digits.lower.starts_with("19") || digits.lower.starts_with("20"));
  if (!digits.is_digits() || !digits.after_space || length < 3 || length > 4 || year) return {};
  if (find_phrase(language.units_before, tokens) != nullptr) return {};
  return text_value(tokens, 2, letters.lower + digits.lower);
}

/// A power, "10⁶", which is none of its digits; or a number with the mark of a footnote, "1990¹", which can
/// be the number.
std::optional<ReadValue> read_power(TextTokens tokens, const ValueLanguage& language) {
  const auto base = read_figures(tokens, language);
  const std::string exponent = base ? exponent_of(tokens.subspan(base->tokens)) : "";
  if (exponent.find_first_of("0123456789") == std::string::npos) return {};
  ReadValue power =
      text_value(tokens, base->tokens + exponent.size(), fmt::format("{}^{}", base->normal, exponent));
  constexpr size_t kLargestMark = 2;  // digits
  if (base->normal.size() == kYearDigits && exponent.size() <= kLargestMark) {
    Value number{.begin = power.value.begin, .end = power.value.end};
    number.normal = base->normal;
    power.value.other_reading = {std::move(number)};
  }
  return power;
}

/// A number before a hyphen and capitals or a slash and another: "7664-DA", "2025/2517".
std::optional<ReadValue> read_joined_code(TextTokens tokens) {
  constexpr size_t kLeastDigits = 4, kMostLetters = 4;
  if (tokens.size() < 3 || !tokens[0].is_digits() || tokens[0].lower.size() < kLeastDigits) return {};
  if (tokens[1].after_space || tokens[2].after_space) return {};
  constexpr size_t kLeastBehind = 3;  // "2023/24" is a season
  if (tokens[1].is("/") && tokens[2].is_digits() && tokens[2].lower.size() >= kLeastBehind)
    return text_value(tokens, 3, tokens[0].lower + "/" + tokens[2].lower);
  if (!tokens[1].is("-")) return {};
  const size_t letters = tokens[2].lower.size();
  const bool ends = tokens.size() == 3 || tokens[3].after_space || !tokens[3].is("-");
  if (!tokens[2].in_capitals || letters < 2 || letters > kMostLetters || !ends) return {};
  return text_value(tokens, 3, tokens[0].lower + "-" + tokens[2].lower);
}

/// A telephone number in Spain, "612 345 678", rather than millions.
std::optional<ReadValue> read_spaced_telephone(TextTokens tokens) {
  constexpr size_t kGroups = 3, kDigits = 3;
  if (tokens.size() < kGroups || tokens[0].lower[0] < '6') return {};
  std::string normal;
  for (const TextToken& group : tokens.first(kGroups)) {
    if (!group.is_digits() || group.lower.size() != kDigits || !group.after_space) return {};
    normal += (normal.empty() ? "" : " ") + group.lower;
  }
  if (tokens.size() > kGroups && tokens[kGroups].is_digits()) return {};
  return text_value(tokens, kGroups, std::move(normal));
}

/// A house number or a part with a letter, "17a", "12B"; neither "9a.m." nor "16C".
std::optional<ReadValue> read_number_with_letter(TextTokens tokens) {
  constexpr size_t kMostDigits = 3;
  constexpr std::string_view kLetters = "abc";
  if (tokens.size() > 1 && tokens[1].capitalized && tokens[1].is("c")) return {};
  if (tokens.size() < 2 || tokens[0].lower.size() > kMostDigits || tokens[1].after_space) return {};
  if (tokens[1].lower.size() != 1 || kLetters.find(tokens[1].lower) == std::string_view::npos) return {};
  const bool goes_on = tokens.size() > 3 && tokens[2].is(".") && !tokens[3].after_space;
  const bool joined =
      tokens.size() > 2 && !tokens[2].after_space && (tokens[2].is_word() || tokens[2].is_digits());
  if (goes_on || joined) return {};
  return text_value(tokens, 2, tokens[0].lower + tokens[1].lower);
}

/// A score or a ratio, "2:1", and a duration, "3:45 min" or "1:02:45". A word of the clock behind it, which
/// is wrong there, is part of it, and so is a unit behind a time: "20:30 $".
std::optional<ReadValue> read_ratio(TextTokens tokens, const ValueLanguage& language, bool behind_duration) {
  size_t count = 1;
  while (count + 1 < tokens.size() && tokens[count].is(":") && !tokens[count].after_space &&
         tokens[count + 1].is_digits() && !tokens[count + 1].after_space) {
    count += 2;
  }
  if (count == 1 || !tokens[0].is_digits()) return {};
  const TextTokens behind = tokens.subspan(count);
  const bool lasts = behind_duration || length_of_any(language.durations, behind) > 0;
  const auto within = [](const TextToken& token, int most) {
    return token.lower.size() <= 2 && small_number(token) <= most;
  };
  const bool time = count == 3 && within(tokens[0], kLastHour) && within(tokens[2], kLastMinute) &&
                    tokens[2].lower.size() == 2;
  std::string normal;
  for (const TextToken& token : tokens.first(count)) normal += token.lower;
  const size_t clock = length_of_any(language.clock_words, behind);
  if (time && !lasts) {
    const size_t unit = clock == 0 ? unit_length(behind, language) : 0;
    if (unit == 0 || length_of_any(language.time_marks, behind) > 0) return {};
    return text_value(tokens, count + unit, normal + behind[0].lower);
  }
  ReadValue ratio = text_value(tokens, count + clock, normal + (clock > 0 ? " o'clock" : ""));
  if (clock > 0) return ratio;
  for (size_t n = 0; n < count; n += 2) {
    const auto number = read_number(tokens.subspan(n, 1), language);
    ratio.value.other_reading.push_back(number->value);
    ratio.value.other_reading.back().begin = ratio.value.begin;
    ratio.value.other_reading.back().end = ratio.value.end;
  }
  return ratio;
}

/// Digits in words, one by one: "nine one one".
std::optional<ReadValue> read_spoken_digits(TextTokens tokens, const ValueLanguage& language) {
  constexpr size_t kLeast = 3;
  Value value{.begin = tokens[0].begin};
  size_t count = 0;
  for (; count < tokens.size() && tokens[count].is_word(); ++count) {
    const auto digit = language.read_words(tokens.subspan(count, 1));
    if (!digit || digit->ordinal || digit->determiner || digit->half || digit->value > 9) break;
    if (count == 0 && digit->value == 0) return {};
    value.normal += std::to_string(digit->value);
    Value number{.begin = value.begin, .normal = value.normal.substr(count), .in_words = true};
    value.other_reading.push_back(std::move(number));
  }
  if (count < kLeast) return {};
  value.end = tokens[count - 1].end;
  for (Value& number : value.other_reading) number.end = value.end;
  return ReadValue{std::move(value), count};
}

std::string roman_numeral(int number) {
  constexpr std::array<std::pair<int, std::string_view>, 9> kParts{
      {{100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}}};
  std::string numeral;
  for (const auto& [worth, letters] : kParts) {
    for (; number >= worth; number -= worth) numeral += letters;
  }
  return numeral;
}

/// What may be a Roman numeral, in lower case: "xiv", also of "XIV's"; empty for other words.
std::string_view roman_letters(const TextToken& token) {
  constexpr std::string_view kGenitive = "'s";
  std::string_view letters = token.lower;
  if (token.in_capitals) return letters;
  if (!token.capitalized || !letters.ends_with(kGenitive)) return {};
  letters.remove_suffix(kGenitive.size());
  return letters.find_first_not_of("ivxlc") == std::string_view::npos ? letters : std::string_view();
}

/// "XIV" is 14; 0 for what is no Roman number.
int roman_number(const TextToken& token) {
  const std::string_view letters = roman_letters(token);
  if (letters.empty() || letters.size() > 8) return 0;
  if (letters == "i" || letters == "c" || letters == "l") return 0;
  int total = 0, last = 0;
  for (auto letter = letters.rbegin(); letter != letters.rend(); ++letter) {
    constexpr std::string_view kLetters = "ivxlc";
    constexpr std::array kWorth{1, 5, 10, 50, 100};
    const size_t index = kLetters.find(*letter);
    if (index == std::string_view::npos) return 0;
    total += kWorth[index] < last ? -kWorth[index] : kWorth[index];
    last = std::max(last, kWorth[index]);
  }
  return total;
}

}  // namespace

std::vector<ProtectedSpan> find_addresses_and_codes(std::string_view text, TextTokens tokens) {
  if (!may_hold_addresses_or_codes(tokens)) return {};
  std::vector<ProtectedSpan> spans = find_protected_spans(text);
  std::erase_if(spans, [&](const ProtectedSpan& span) {
    return span.kind != SpanKind::kExact || !is_text_value(text.substr(span.begin, span.end - span.begin));
  });
  return spans;
}

std::optional<ReadValue> read_code(TextTokens tokens, const ValueLanguage& language, bool lasts) {
  if (tokens[0].is_digits()) {
    if (auto power = read_power(tokens, language)) return power;
    if (auto code = read_joined_code(tokens)) return code;
    if (auto telephone = read_spaced_telephone(tokens)) return telephone;
    if (auto number = read_number_with_letter(tokens)) return number;
    return read_ratio(tokens, language, lasts);
  }
  if (auto code = read_spaced_code(tokens, language)) return code;
  return tokens[0].is_word() ? read_spoken_digits(tokens, language) : std::nullopt;
}

std::optional<ReadValue> read_roman(const TextToken& token) {
  const int number = roman_number(token);
  if (number == 0) return std::nullopt;
  Value value{.begin = token.begin, .end = token.end};
  value.normal = std::to_string(number);
  value.ordinal = value.roman = true;
  // "I", "XL" and "LIX" may be something else.
  constexpr size_t kCertain = 3;
  const std::string_view letters = roman_letters(token);
  value.optional = letters.size() < kCertain || letters.find_first_not_of("ivx") != std::string::npos;
  if (roman_numeral(number) != letters) {
    if (value.optional) return std::nullopt;
    value.normal = letters;
    value.broken = true;
  }
  return ReadValue{std::move(value), 1};
}

size_t unit_length(TextTokens tokens, const ValueLanguage& language) {
  const Phrase<Unit>* before = find_phrase(language.units_before, tokens);
  const size_t length = before == nullptr ? 0 : phrase_length(before->words);
  const bool is_amount = length > 0 && length < tokens.size() && tokens[length].is_digits();
  return is_amount ? 0 : find_unit(tokens, language).tokens;
}

}  // namespace heed::translate
