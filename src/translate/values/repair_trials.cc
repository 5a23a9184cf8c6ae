#include "translate/values/repair_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text/ascii.h"
#include "text/unicode/unicode_properties.h"
#include "translate/values/languages/text_tokens.h"
#include "translate/values/reading/figures.h"
#include "translate/values/reading/find_values.h"
#include "translate/values/reading/halves.h"
#include "translate/values/write_value.h"

namespace heed::translate {
namespace {

std::string form_of(const Value& value, std::string_view source, const ValueLanguage& language,
                    size_t attempt) {
  const std::vector<std::string> forms = write_value(value, source, language);
  return forms[std::min(attempt, forms.size() - 1)];
}

std::string_view text_of(const Value& value, std::string_view text) {
  return text.substr(value.begin, value.end - value.begin);
}

/// The missing value that a wrong one probably stands for: of the same kind, if there is one.
const Value& counterpart(const Value& wrong, const std::vector<Value>& missing) {
  const auto same = std::ranges::find(missing, wrong.kind, &Value::kind);
  return same == missing.end() ? missing.front() : *same;
}

/// A lost range such as "3.8. bis 21.8.", which is written otherwise in another language, unlike "10–15".
bool is_range_in_words(const Value& missing, std::string_view source) {
  const bool range = missing.kind == ValueKind::kText && missing.linked && missing.normal.empty();
  return range && has_letter(text_of(missing, source));
}

/// The end of a translation's beginning without the characters `left_out` at its end.
size_t without_end(std::string_view translation, size_t begin, std::string_view left_out) {
  while (begin > 0 && left_out.find(translation[begin - 1]) != std::string_view::npos) {
    --begin;
  }
  return begin;
}

/// The end of a translation's beginning without words such as "from" at its end.
size_t without_words(std::string_view translation, size_t begin, std::span<const std::string_view> words) {
  const auto without_spaces = [&](size_t end) { return without_end(translation, end, " "); };
  size_t end = without_spaces(begin);
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (const std::string_view word : words) {
      const std::string_view before = translation.substr(0, end);
      if (before.size() < word.size()) continue;
      const size_t first = end - word.size();
      if (ascii_lower(before.substr(first)) != word || (first > 0 && before[first - 1] != ' ')) continue;
      end = without_spaces(end - word.size());
      shorter = true;
    }
  }
  return end;
}

/// Whether a text begins with a unit that a hyphen keeps apart from the number before it: "- Liter", but not
/// "-litermaschine".
bool is_unit_apart(Unit unit, std::string_view text, const ValueLanguage& language) {
  constexpr size_t kBytes = 64;  // of the unit
  const std::vector<TextToken> tokens = tokenize_values(text.substr(0, kBytes));
  const size_t hyphen = !tokens.empty() && tokens[0].is("-") ? 1 : 0;
  return is_same_unit(find_unit(TextTokens(tokens).subspan(hyphen), language).unit, unit);
}

/// The whole range in place of what the translation makes of it.
RepairTrial range_trial(const LostRange& range, const RepairedTexts& texts, const ValueLanguage& language) {
  const auto form = [&](const Value& time) { return language.write_time(time).front(); };
  RepairTrial trial;
  if (range.listed) {
    trial.kept_bytes = without_end(texts.translation, range.begin, " ");
    trial.inserted = fmt::format("{} {} {}", form(range.first), language.conjunction, form(range.last));
  } else {
    trial.kept_bytes = without_words(texts.translation, range.begin, language.before_ranges);
    trial.inserted = fmt::format(fmt::runtime(language.written_range), form(range.first), form(range.last));
  }
  if (trial.kept_bytes == 0) trial.inserted[0] = ascii_upper(trial.inserted[0]);
  return trial;
}

/// Whether figures do not stand for all that a value in words says: "half an hour", "Neunzigerjahre",
/// "vierjährig".
bool says_more_than_figures(const Value& value) {
  const std::string_view normal = value.normal;
  const bool part = normal == "0.25" || normal == "0.5" || normal == "0.75";
  return value.decade || value.determiner || (part && !value.other_reading.empty());
}

/// What follows a period in singular to make its plural: "s" of "hours"; empty for other words. The table has
/// both, one after the other.
std::string_view ending_of_several(std::string_view period, const ValueLanguage& language) {
  const std::vector<TextToken> tokens = tokenize_values(period);
  const auto* one = find_phrase(language.periods, tokens);
  if (one == nullptr || tokens.size() > 1 || one + 1 == std::to_address(language.periods.end())) return {};
  const std::string_view several = (one + 1)->words;
  if ((one + 1)->meaning != one->meaning || !several.starts_with(one->words)) return {};
  return several.substr(one->words.size());
}

/// The unit of a value in words, with a space before it, and periods in plural: " meses" of "dos meses y
/// medio".
std::string unit_within(std::string_view value, const ValueLanguage& language) {
  const std::vector<TextToken> tokens = tokenize_values(value);
  for (TextTokens left = tokens; !left.empty(); left = left.subspan(1)) {
    const HalvedUnit unit = find_halved_unit(left, language);
    if (unit.tokens == 0 || unit.zeros > 0) continue;
    const std::string_view written = value.substr(left[0].begin, left[0].end - left[0].begin);
    return fmt::format(" {}{}", written, ending_of_several(written, language));
  }
  return "";
}

/// A duration with the word in place of its abbreviation: "2 Stunden" for "2 Std."; empty for other values.
std::string with_whole_period(std::string_view value, const ValueLanguage& language) {
  const std::vector<TextToken> tokens = tokenize_values(value);
  if (tokens.size() < 2 || !tokens.back().is_word()) return "";
  const auto* period = find_phrase(language.short_periods, TextTokens(tokens).last(1));
  if (period == nullptr) return "";
  std::string whole(value.substr(0, tokens.back().begin));
  if (!whole.ends_with(' ')) whole += ' ';
  const bool one = tokens.size() == 2 && tokens[0].is("1");
  return whole.append(one ? period->meaning.one : period->meaning.several);
}

/// The source with the numbers that the translation lacks in figures, and their periods in words; empty if
/// nothing changes.
std::string with_figures(std::string_view source, const std::vector<Value>& missing,
                         const ValueLanguage& language) {
  std::string text(source);
  bool changed = false;
  for (auto value = missing.rbegin(); value != missing.rend(); ++value) {  // from the end: positions stay
    size_t length = value->end - value->begin;
    if (value->kind == ValueKind::kText) {
      const std::string whole = with_whole_period(text_of(*value, source), language);
      if (whole.empty()) continue;
      if (source.substr(value->end).starts_with('.') && value->end + 1 < source.size()) ++length;
      text.replace(value->begin, length, whole);
      changed = true;
      continue;
    }
    const std::vector<TextToken> words = tokenize_values(text_of(*value, source));
    if (const auto* phrase = find_phrase(language.said_otherwise, words)) {
      text.replace(value->begin, length, phrase->meaning);
      changed = true;
      continue;
    }
    if (value->kind != ValueKind::kNumber || !value->in_words || says_more_than_figures(*value)) continue;
    const std::string figures = write_figures(value->normal, language);
    const std::string unit = value->ordinal ? "" : unit_within(text_of(*value, source), language);
    if (value->unit != Unit::kNone && unit.empty()) continue;  // in one word with the number: "fünfprozentig"
    text.replace(value->begin, length, value->ordinal ? language.write_ordinal(figures) : figures + unit);
    changed = true;
  }
  return changed ? text : "";
}

/// Whether a date of the source is a month in figures, "24.12.", or has the abbreviation of a month, or is
/// one of a weekday.
bool is_short(const Value& value, std::string_view source, const ValueLanguage& language) {
  const std::string_view written = text_of(value, source);
  const std::vector<TextToken> tokens = tokenize_values(written);
  const auto holds_any = [&](std::span<const Phrase<int>> words) {
    return std::ranges::any_of(
        tokens, [&](const TextToken& token) { return find_phrase(words, TextTokens(&token, 1)) != nullptr; });
  };
  if (value.kind == ValueKind::kWeekday) return holds_any(language.short_weekdays);
  if (value.kind != ValueKind::kDate || (value.day == 0 && value.year != 0)) return false;
  const bool figures =
      value.day != 0 && value.year == 0 && written.find_first_not_of("0123456789.") == std::string_view::npos;
  return figures || holds_any(language.short_months);
}

/// Whether two values are weekdays with only a dash between them, which models hardly know between names.
bool is_range_of_weekdays(const Value& first, const Value& last, std::string_view source,
                          const ValueLanguage& language) {
  if (first.kind != ValueKind::kWeekday || last.kind != ValueKind::kWeekday || last.begin < first.end)
    return false;
  const std::string_view between = source.substr(first.end, last.begin - first.end);
  const std::vector<TextToken> tokens = tokenize_values(between);
  return !tokens.empty() && !has_letter(between) && length_of_any(language.ranges, tokens) == tokens.size();
}

/// What stands between the ends of a range in words: " to ".
std::string_view range_link(const ValueLanguage& language) {
  constexpr std::string_view kPlace = "{}";
  const size_t begin = language.written_range.find(kPlace) + kPlace.size();
  return language.written_range.substr(begin, language.written_range.rfind(kPlace) - begin);
}

/// The source with months and weekdays by name, "24. Dezember" for "24.12." and "Monday to Friday" for
/// "Mon–Fri", if the translation lacks such a date, alone or in a range; else empty.
RepairTrial with_names(std::string_view source, const std::vector<Value>& missing,
                       const ValueLanguage& language) {
  const std::vector<Value> values = find_values(source, language).values;
  const auto is_lost = [&](const Value& date) {
    return std::ranges::any_of(
        missing, [&](const Value& value) { return value.begin < date.end && date.begin < value.end; });
  };
  RepairTrial trial{.source = std::string(source)};
  bool lost = false;
  for (size_t n = values.size(); n-- > 0;) {  // from the end: positions stay
    const Value& date = values[n];
    const bool short_date = is_short(date, source, language);
    const Value* next = n + 1 < values.size() ? &values[n + 1] : nullptr;
    if (next != nullptr && (short_date || is_short(*next, source, language)) &&
        is_range_of_weekdays(date, *next, source, language))
      trial.source.replace(date.end, next->begin - date.end, range_link(language));
    if (!short_date) continue;
    lost |= is_lost(date);
    if (date.kind == ValueKind::kWeekday) trial.named.push_back(date.begin);
    const bool ends_sentence = date.end == source.size() && source.ends_with('.');
    trial.source.replace(date.begin, date.end - date.begin,
                         write_value(date, source, language).front() + (ends_sentence ? "." : ""));
  }
  return lost ? trial : RepairTrial();
}

/// The figures of both numbers if one of them is a missing value: "3-0"; empty for others.
std::string joined_pair(const Value& missing, std::string_view source) {
  constexpr std::string_view kFigures = "0123456789-";
  if (missing.kind != ValueKind::kNumber || !missing.linked || missing.unit != Unit::kNone) return "";
  const size_t before = source.substr(0, missing.begin).find_last_not_of(kFigures);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const size_t end = std::min(source.find_first_not_of(kFigures, missing.end), source.size());
  const std::string_view pair = source.substr(begin, end - begin);
  const size_t hyphen = pair.find('-');
  if (hyphen == std::string_view::npos || hyphen != pair.rfind('-')) return "";
  return hyphen > 0 && hyphen + 1 < pair.size() ? std::string(pair) : "";
}

/// `form` behind the first bytes of the translation. What it is joined to stays so: the "9–" of "9–41".
RepairTrial insertion(std::string_view translation, size_t kept, const std::string& form) {
  const size_t word = kept - std::min(kept, translation.substr(0, kept).rfind(' ') + 1);
  return {.kept_bytes = kept - word, .inserted = std::string(translation.substr(kept - word, word)) + form};
}

}  // namespace

std::vector<RepairTrial> repair_trials(const ValueDifferences& differences, const RepairedTexts& texts,
                                       const ValueLanguage& source_language,
                                       const ValueLanguage& target_language, size_t attempt) {
  constexpr size_t kMaxCompared = 64;  // ordinary sentences have a tenth of it
  if (differences.compared > kMaxCompared) return {};
  const std::string_view source = texts.source;
  const std::vector<Value>& added = differences.added;
  // A weekday behind its abbreviation, which models copy, would say it twice: it is searched again by name.
  std::vector<Value> missing = differences.missing;
  std::erase_if(missing, [&](const Value& value) {
    return value.kind == ValueKind::kWeekday && is_short(value, source, source_language);
  });
  constexpr std::string_view kMarks = ".,:/-", kFigures = "0123456789.,:/-";
  const size_t wrong = added.empty() ? 0 : added.front().begin;
  std::vector<RepairTrial> trials;
  if (std::string figures = with_figures(source, missing, source_language); !figures.empty())
    trials.push_back({.source = std::move(figures)});
  RepairTrial names = with_names(source, differences.missing, source_language);
  if (!names.source.empty()) trials.push_back(names);
  if (differences.range) trials.push_back(range_trial(*differences.range, texts, target_language));
  const auto marker = std::ranges::find(missing, ValueKind::kMarker, &Value::kind);
  if (marker != missing.end()) {
    trials.push_back({.inserted = form_of(*marker, source, target_language, attempt)});
  } else if (!added.empty() && missing.empty()) {
    // Of "October 24,10" only ",10" is wrong.
    const size_t kept = without_end(texts.translation, wrong, kMarks);
    trials.push_back({.kept_bytes = kept});
    // Of "€1,250 tickets" only the unit is wrong.
    if (added.front().unit != Unit::kNone)
      trials.push_back(
          {.kept_bytes = kept, .inserted = write_figures(added.front().normal, target_language)});
    // "March 25, 25" and "370 seventy-seven" say a value and more of it, which is left out.
    const size_t before = without_end(texts.translation, wrong, ".,:/- ");
    if (before > 0 && is_ascii_digit(static_cast<unsigned char>(texts.translation[before - 1])))
      trials.push_back({.kept_bytes = before, .resumed_bytes = added.front().end});
  } else if (!added.empty()) {
    Value right = counterpart(added.front(), missing);
    if (right.kind == ValueKind::kNumber && added.front().ordinal) right.ordinal = true;  // "21th"
    // Of "24,10,2022" only "10" may be wrong, but all of it is replaced.
    const size_t kept = without_end(texts.translation, wrong, kFigures);
    std::string form = form_of(right, source, target_language, attempt);
    if (kept == 0) form[0] = ascii_upper(form[0]);  // begins the sentence
    // Of "3:45 Uhr", a duration, only "Uhr" is wrong, where a sentence does not end with it.
    const bool is_more = right.kind == ValueKind::kText &&
                         text_of(added.front(), texts.translation).starts_with(form + " ") &&
                         added.front().end < texts.translation.size();
    const bool ill_written = right.kind == ValueKind::kNumber && added.front().ill_written &&
                             !added.front().ordinal && added.front().unit == Unit::kNone &&
                             right.normal == added.front().normal;
    if (ill_written &&
        (right.unit == Unit::kNone ||
         is_unit_apart(right.unit, texts.translation.substr(added.front().end), target_language))) {
      // Of "2.5- Liter", only the point is wrong.
      trials.push_back({.kept_bytes = kept,
                        .inserted = write_figures(right.normal, target_language, right.decimals),
                        .resumed_bytes = added.front().end});
    } else if (ill_written) {
      // Behind "2.5-litermaschine", which has the unit's word, its sign may be said twice: "2,5 l Liter".
      trials.push_back(
          insertion(texts.translation, kept, form_of(right, source, target_language, attempt + 1)));
    }
    trials.push_back(is_more
                         ? RepairTrial{.kept_bytes = wrong + form.size(), .resumed_bytes = added.front().end}
                         : insertion(texts.translation, kept, form));
  }
  RepairTrial constrained;
  for (const Value& value : missing) {
    if (value.kind == ValueKind::kMarker || is_range_in_words(value, source)) continue;
    constrained.required.push_back(form_of(value, source, target_language, attempt));
  }
  if (!missing.empty()) {
    if (std::string pair = joined_pair(missing.front(), source); !pair.empty())
      trials.push_back({.required = {std::move(pair)}});
  }
  constexpr size_t kMaxRequired = 4;
  if (!constrained.required.empty() && constrained.required.size() <= kMaxRequired) {
    trials.push_back(constrained);
    names.required = constrained.required;
    if (!names.source.empty()) trials.push_back(std::move(names));
  }
  return trials;
}

std::vector<std::string> value_warnings(const ValueDifferences& differences, const RepairedTexts& texts) {
  std::vector<std::string> warnings;
  for (const Value& value : differences.missing) {
    warnings.push_back(fmt::format("the translation lacks \"{}\"", text_of(value, texts.source)));
  }
  for (const Value& value : differences.added) {
    warnings.push_back(fmt::format("the source does not say \"{}\"", text_of(value, texts.translation)));
  }
  return warnings;
}

std::vector<std::string> value_warnings(const RepairedTexts& texts, const std::string& source_language,
                                        const std::string& target_language,
                                        const std::vector<std::string>& given) {
  const ValueLanguage *source = value_language(source_language), *target = value_language(target_language);
  if (source == nullptr || target == nullptr) return {};
  ValueDifferences differences = compare_values({texts.source, *source}, {texts.translation, *target});
  leave_out_given(given, texts.translation, differences);
  return value_warnings(differences, texts);
}

}  // namespace heed::translate
