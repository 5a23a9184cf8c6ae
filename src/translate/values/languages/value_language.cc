#include "translate/values/languages/value_language.h"

#include <algorithm>
#include <utility>

#include "text/sentences/language_codes.h"

namespace heed::translate {

bool is_money(Unit unit) {
  using enum Unit;
  return unit == kEuro || unit == kDollar || unit == kPound || unit == kCent || unit == kPeso;
}

bool is_same_unit(Unit a, Unit b) {
  using enum Unit;
  constexpr std::array<std::pair<Unit, Unit>, 7> kSame{{{kDegree, kCelsius},
                                                        {kDegree, kFahrenheit},
                                                        {kPounds, kPound},
                                                        {kKilometre, kKilometresPerHour},
                                                        {kMile, kMilesPerHour},
                                                        {kMile, kMilesPerGallon},
                                                        {kBar, kBars}}};
  return a == b || std::ranges::any_of(kSame, [&](const auto& same) {
           return same == std::pair(a, b) || same == std::pair(b, a);
         });
}

const ValueLanguage* value_language(std::string_view code) {
  const std::string tag = code.empty() ? "" : language_tag(std::string(code));
  for (const ValueLanguage* language : {&german_values(), &english_values(), &spanish_values()}) {
    if (language->code == tag) return language;
  }
  return nullptr;
}

FoundUnit find_unit(TextTokens tokens, const ValueLanguage& language) {
  if (tokens.empty()) return {};
  if (!tokens[0].after_space) {
    if (const Phrase<Unit>* joined = find_phrase(language.units_joined, tokens)) return {joined->meaning, 1};
  }
  const std::string_view first = tokens[0].lower;
  FoundUnit found;
  for (const UnitWords& unit : language.units) {
    for (const std::string_view phrase : unit.phrases) {
      if (phrase.empty()) break;
      if (!phrase.starts_with(first) || !begins_with(tokens, phrase)) continue;
      if (phrase.size() == 1 && tokens[0].in_capitals) continue;  // "5G" are no grams
      if (const size_t length = phrase_length(phrase); length > found.tokens) found = {unit.unit, length};
    }
  }
  return found;
}

}  // namespace heed::translate
