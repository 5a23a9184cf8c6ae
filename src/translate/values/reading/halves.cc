#include "translate/values/reading/halves.h"

#include <algorithm>

#include "translate/values/reading/figures.h"

namespace heed::translate {
namespace {

/// The whole number before a half.
struct Whole {
  std::string normal = "1";
  size_t tokens = 0;
};

Whole read_whole(TextTokens tokens, const ValueLanguage& language) {
  if (const auto figures = read_figures(tokens, language)) {
    const bool integer = figures->normal.find('.') == std::string::npos;
    return integer ? Whole{figures->normal, figures->tokens} : Whole{};
  }
  const auto words = language.read_words(tokens);
  if (!words || words->ordinal || words->half || (words->determiner && words->value != 1)) return {};
  return {std::to_string(words->value), words->tokens};
}

/// With a hyphen before it: "-hour" of "two-and-a-half-hour".
HalvedUnit unit_at(TextTokens tokens, const ValueLanguage& language) {
  const bool hyphen = tokens.size() > 1 && tokens[0].is("-") && !tokens[0].after_space;
  HalvedUnit unit = find_halved_unit(tokens.subspan(hyphen ? 1 : 0), language);
  if (hyphen && unit.tokens > 0) ++unit.tokens;
  return unit;
}

/// Whether "and a half" is behind a unit, whichever that is: cheaper to see, and rare.
bool is_half_near(TextTokens tokens, const ValueLanguage& language) {
  constexpr size_t kLongestUnit = 4;  // tokens, with a hyphen
  for (size_t n = 1; n <= kLongestUnit && n < tokens.size(); ++n) {
    if (length_of_any(language.half_behind, tokens.subspan(n)) > 0) return true;
  }
  return false;
}

/// A number and a half of a unit, which is not multiplied with it.
Half half_of(const Whole& whole, const HalvedUnit& unit, size_t tokens) {
  Half half{whole.normal + ".5", "", tokens};
  constexpr size_t kMaxDigits = 6;
  const auto number = parse_integer(whole.normal, kMaxDigits);
  if (unit.count > 0 && number) half.otherwise = std::to_string(*number * unit.count + unit.count / 2);
  return half;
}

/// "A quarter of a million", "a quarter of an hour"
std::optional<Half> read_quarters(TextTokens tokens, const ValueLanguage& language) {
  if (const Phrase<int>* hours = find_phrase(language.quarter_hours, tokens)) {
    const int minutes = hours->meaning * kHourMinutes / 4;
    return Half{.normal = hours->meaning == 1 ? "0.25" : "0.75",
                .otherwise = std::to_string(minutes),
                .tokens = phrase_length(hours->words),
                .part = true};
  }
  const Phrase<int>* quarters = find_phrase(language.quarters, tokens);
  if (quarters == nullptr) return std::nullopt;
  const size_t before = phrase_length(quarters->words);
  const Phrase<int>* scale = find_phrase(language.scales, tokens.subspan(before));
  if (scale == nullptr) return std::nullopt;
  return Half{.normal = with_zeros(quarters->meaning == 1 ? "0.25" : "0.75", scale->meaning),
              .tokens = before + phrase_length(scale->words),
              .part = true};
}

}  // namespace

HalvedUnit find_halved_unit(TextTokens tokens, const ValueLanguage& language) {
  if (const Phrase<int>* unit = find_phrase(language.halved_units, tokens))
    return {.count = unit->meaning, .tokens = phrase_length(unit->words)};
  if (const Phrase<int>* scale = find_phrase(language.scales, tokens))
    return {.zeros = scale->meaning, .tokens = phrase_length(scale->words)};
  if (const Phrase<Period>* period = find_phrase(language.periods, tokens))
    return {.tokens = phrase_length(period->words)};
  const FoundUnit unit = find_unit(tokens, language);
  return {.unit = unit.unit, .tokens = unit.tokens};
}

std::optional<Half> read_half(TextTokens tokens, const ValueLanguage& language) {
  if (auto quarters = read_quarters(tokens, language)) return quarters;
  if (const size_t before = length_of_any(language.half_before, tokens); before > 0) {
    const HalvedUnit unit = unit_at(tokens.subspan(before), language);
    if (unit.tokens > 0) {
      Half half = half_of({"0"}, unit, before + (unit.count > 0 ? unit.tokens : 0));
      half.part = true;
      return half;
    }
  }
  const auto joined = tokens[0].is_word() ? language.read_words(tokens) : std::nullopt;
  if (joined && joined->half) {
    const HalvedUnit unit = unit_at(tokens.subspan(joined->tokens), language);
    return half_of({std::to_string(joined->value)}, unit, joined->tokens);
  }
  const Whole whole = read_whole(tokens, language);
  const TextTokens behind = tokens.subspan(whole.tokens);
  if (whole.tokens > 0) {
    if (const size_t half = length_of_any(language.half_behind, behind); half > 0)
      return half_of(whole, unit_at(behind.subspan(half), language), whole.tokens + half);
  }
  // "An hour and a half", "hora y media", "dos millones y medio"
  if (!is_half_near(behind, language)) return std::nullopt;
  const HalvedUnit unit = unit_at(behind, language);
  if (unit.tokens == 0) return std::nullopt;
  const size_t half = length_of_any(language.half_behind, behind.subspan(unit.tokens));
  if (half == 0) return std::nullopt;
  Half result = half_of(whole, unit, whole.tokens + unit.tokens + half);
  result.unit = unit.unit;
  result.normal = with_zeros(result.normal, unit.zeros);
  return result;
}

}  // namespace heed::translate
