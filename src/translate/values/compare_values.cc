#include "translate/values/compare_values.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "translate/values/find_values.h"

namespace heed::translate {
namespace {

/// A value, or a part of a date: day and year are numbers, and kDate is a month.
struct Atom {
  const Value* value = nullptr;
  ValueKind kind = ValueKind::kNumber;
  std::string normal = {};
  bool optional = false;
  size_t index = 0;  ///< of the value in its text
  bool matched = false;
  const Value* partner = nullptr;  ///< of a source: what it was matched with
};

using Atoms = std::vector<Atom>;

void add_atoms(const Value& value, size_t index, Atoms& atoms) {
  if (value.broken) return;
  if (value.kind != ValueKind::kDate) {
    atoms.push_back({&value, value.kind, value.normal, value.optional, index});
    return;
  }
  atoms.push_back({&value, ValueKind::kDate, std::to_string(value.month), value.optional, index});
  for (const int number : {value.day, value.year}) {
    if (number != 0) atoms.push_back({&value, ValueKind::kNumber, std::to_string(number), false, index});
  }
}

/// The atoms of a text; the n-th ambiguous value is read in its other way if bit n of `readings` is set.
Atoms atoms_of(const TextValues& text, unsigned readings) {
  Atoms atoms;
  for (size_t n = 0; n < text.values.size(); ++n) {
    const Value& value = text.values[n];
    const bool ambiguous = !value.other_reading.empty();
    if (ambiguous && (readings & 1U) != 0) {
      for (const Value& each : value.other_reading) add_atoms(each, n, atoms);
    } else {
      add_atoms(value, n, atoms);
    }
    if (ambiguous) readings >>= 1U;
  }
  return atoms;
}

/// Whether a time is read in another way.
bool reads_time_otherwise(const TextValues& text, unsigned readings) {
  for (const Value& value : text.values) {
    if (value.other_reading.empty()) continue;
    if (value.kind == ValueKind::kTime && (readings & 1U) != 0) return true;
    readings >>= 1U;
  }
  return false;
}

size_t count_ambiguous(const TextValues& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text.values, [](const Value& value) { return !value.other_reading.empty(); }));
}

using BothTexts = std::array<TextValues, 2>;  ///< source and translation

/// Whether one of the texts names the part of the day of a time.
bool part_is_known(const Value& time, const BothTexts& texts) {
  return std::ranges::any_of(texts, [&](const TextValues& text) {
    return time.on_face ? text.names_part_of_day() : text.names_part_of(time.minute);
  });
}

bool is_same_time(const Value& source, const Value& translation, const BothTexts& texts) {
  if (source.minute == translation.minute && source.half_day == translation.half_day) return true;
  if (source.minute % kHalfDayMinutes != translation.minute % kHalfDayMinutes) return false;
  if (source.half_day)
    return translation.half_day || translation.on_face || part_is_known(translation, texts);
  if (source.on_face && part_is_known(translation, texts)) return true;
  if (!translation.on_face) return source.minute == translation.minute;
  if (!translation.half_day) return texts[1].names_part_of(source.minute);
  // "6:07" alone is not 18:07, and "12:30" not 0:30. But "half past two" is 14:30: few mean the night.
  constexpr int kFirst = kHourMinutes, kLast = 13 * kHourMinutes, kLastInWords = 19 * kHourMinutes;
  const bool usual =
      translation.in_words ? source.minute < kLastInWords : source.minute >= kFirst && source.minute < kLast;
  return usual || part_is_known(source, texts);
}

/// Whether a number is the hour of a full hour: "at six". `twelve_hour`: not 13 and above.
bool is_hour(const Value& number, const Value& time, const BothTexts& texts, bool twelve_hour) {
  if (time.minute % kHourMinutes != 0 || number.determiner || number.of_figures) return false;
  if (number.ordinal || number.unit != Unit::kNone) return false;
  if (twelve_hour && (number.normal == "0" || (number.normal.size() == 2 && number.normal > "12")))
    return false;
  const int hour = time.minute / kHourMinutes;
  const auto is = [&](int h) { return number.normal == std::to_string(h); };
  if (is(hour) || (hour == 0 && is(24))) return true;
  return (time.half_day || part_is_known(time, texts)) && (is(hour % 12) || is(hour % 12 + 12));
}

/// Whether a number is so small that a translation can say it without a number word: "the two of them" are
/// "they". Another number in its place is a difference all the same.
bool can_be_paraphrased(const Value& value) {
  return value.kind == ValueKind::kNumber && value.in_words && (value.normal == "2" || value.normal == "3");
}

bool is_zero_in_words(const Value& value) {
  return value.in_words && value.normal == "0";
}

/// Units that a translation does not add to a number, as it may "degrees".
bool is_percent_or_money(Unit unit) {
  using enum Unit;
  return unit == kPercent || unit == kEuro || unit == kDollar || unit == kPound || unit == kCent;
}

/// Compares atoms of a source and of its translation.
class Matcher {
 public:
  Matcher(const LanguageText& source, const LanguageText& translation)
      : texts_{source, translation},
        values_{find_values(source.text, source.language),
                find_values(translation.text, translation.language)} {}

  ValueDifferences differences() {
    const auto needs_match = [](const TextValues& text) {
      return std::ranges::any_of(
          text.values, [](const Value& value) { return !value.optional || is_zero_in_words(value); });
    };
    if (!needs_match(values_[0]) && !needs_match(values_[1])) return {};
    constexpr size_t kMaxAmbiguous = 6, kMaxCompared = 256;
    const size_t first = count_ambiguous(values_[0]), second = count_ambiguous(values_[1]);
    // Comparing takes quadratic time, in each of the readings.
    const bool all_readings = first + second <= kMaxAmbiguous &&
                              values_[0].values.size() + values_[1].values.size() <= kMaxCompared;
    const size_t bits = all_readings ? first + second : 0;
    ValueDifferences best = differences(0, 0);
    for (unsigned readings = 1; best.count() > 0 && readings < 1U << bits; ++readings) {
      // Times in both texts are hardly numbers in both.
      if (reads_time_otherwise(values_[0], readings) && reads_time_otherwise(values_[1], readings >> first))
        continue;
      ValueDifferences other = differences(readings, readings >> first);
      if (other.count() < best.count()) best = std::move(other);
    }
    best.range = lost_range(best);
    best.compared = values_[0].values.size() + values_[1].values.size();
    return best;
  }

 private:
  ValueDifferences differences(unsigned source_readings, unsigned translation_readings) {
    Atoms source = atoms_of(values_[0], source_readings),
          translation = atoms_of(values_[1], translation_readings);
    // What is in both texts for certain is matched first.
    struct Pass {
      bool optional, with_optional;
    };
    for (const Pass& pass : {Pass{false, false}, Pass{false, true}, Pass{true, true}}) {
      for (Atom& atom : source) {
        if (!atom.matched && atom.optional == pass.optional) match(atom, translation, pass.with_optional);
      }
    }
    match_days(source, translation);
    ValueDifferences result;
    add_unmatched(source, 0, result.missing);
    add_unmatched(translation, 1, result.added);
    if (result.added.empty()) std::erase_if(result.missing, can_be_paraphrased);
    if (result.missing.empty())
      std::erase_if(result.added, [&](const Value& value) {
        return can_be_paraphrased(value) && !is_before_figures(value);
      });
    add_lost_units(source, result.missing);
    add_lost_zeros(source, result.missing);
    add_lost_links(source, result.missing);
    add_changed_periods(source, result);
    add_moved_units(source, result.added);
    add_broken(result.added);
    return result;
  }

  /// Whether a number of the translation is linked with figures behind it: "zwei und 2.500.000".
  bool is_before_figures(const Value& number) const {
    const auto next = std::ranges::upper_bound(values_[1].values, number.begin, {}, &Value::begin);
    return next != values_[1].values.end() && number.linked && next->linked && !next->in_words;
  }

  /// Words of the translation that are no numbers are wrong, even beside the right one: "740. und
  /// fortzigsten". Without a number word in the source they may be a name. A malformed Roman
  /// numeral may be copied.
  void add_broken(std::vector<Value>& added) const {
    const bool words = std::ranges::any_of(values_[0].values, &Value::in_words);
    const auto is_wrong = [&](const Value& value) {
      if (value.roman) return !holds_text(0, value.normal);
      return words || !value.in_words;
    };
    std::ranges::copy_if(values_[1].values, std::back_inserter(added),
                         [&](const Value& value) { return value.broken && is_wrong(value); });
    std::ranges::sort(added, {}, &Value::begin);
  }

  /// Ranges of the source whose two values stand side by side in the translation, "9 6 p.m." for "9–18 Uhr",
  /// or became one: "10:15 Minuten" for "10–15 minutes".
  void add_lost_links(const Atoms& source, std::vector<Value>& missing) const {
    using enum ValueKind;
    const std::string_view translation = texts_[1].text;
    // Neither "18th-century" nor "one-tenth".
    const auto is_certain = [](const Value& value) {
      return (value.kind == kNumber || value.kind == kTime) && !value.in_words && !value.optional;
    };
    for (size_t n = 1; n < source.size(); ++n) {
      const Atom &first = source[n - 1], &last = source[n];
      const Value &from = values_[0].values[first.index], &to = values_[0].values[last.index];
      const bool range = from.linked && to.linked && first.index + 1 == last.index && is_certain(from) &&
                         is_certain(to) && from.normal.size() <= to.normal.size();
      if (!range || first.partner == nullptr || last.partner == nullptr) continue;
      const size_t begin = first.partner->end, end = last.partner->begin;
      const auto is_period = [](const TextToken& token) { return token.is("."); };  // "9 a.m. 6 p.m."
      const bool side_by_side =
          begin < end &&
          std::ranges::all_of(tokenize_values(translation.substr(begin, end - begin)), is_period);
      const bool duration =
          begin == last.partner->end &&
          length_of_any(texts_[1].language.durations, tokenize_values(translation.substr(begin))) > 0;
      if (side_by_side || duration) missing.push_back({.kind = kText, .begin = from.begin, .end = to.end});
    }
  }

  std::optional<LostRange> lost_range(const ValueDifferences& differences) const {
    const auto lost = [&](const Value& value) {
      return std::ranges::any_of(differences.missing,
                                 [&](const Value& each) { return each.begin == value.begin; });
    };
    const auto takes_its_place = [&](const Value& value) {
      const bool added = std::ranges::any_of(differences.added,
                                             [&](const Value& each) { return each.begin == value.begin; });
      return value.kind == ValueKind::kTime ||
             (added && value.unit == Unit::kNone && value.kind != ValueKind::kWeekday);
    };
    const std::vector<Value>& values = values_[0].values;
    const auto place = std::ranges::find_if(values_[1].values, takes_its_place);
    if (place == values_[1].values.end()) return std::nullopt;
    for (size_t n = 1; n < values.size(); ++n) {
      if (values[n].in_range && (lost(values[n - 1]) || lost(values[n])))
        return LostRange{values[n - 1], values[n], place->begin};
    }
    return std::nullopt;
  }

  void match(Atom& source, Atoms& translation, bool with_optional) const {
    for (Atom& other : translation) {
      if (other.matched || (other.optional && !with_optional) || !is_same(source, other)) continue;
      source.matched = other.matched = true;
      source.partner = other.value;
      return;
    }
  }

  /// Whether a number is one in its language: "five hundred seventh" is no 507, no comma is a point in
  /// English, and "Version 2.1" is one in German, but "2.1 %" is not.
  bool is_well_written(const Atom& source, const Value& translation) const {
    constexpr size_t kLong = 3;  // digits; "siglo veinte" is "twentieth century"
    const Value& value = *source.value;
    const bool in_words = value.in_words && translation.in_words && value.normal.size() >= kLong;
    if (in_words && value.ordinal != translation.ordinal) return false;
    if (!translation.ill_written) return true;
    const ValueLanguage& language = texts_[1].language;
    if (language.decimal_mark == '.') return false;
    if (language.other_marks != OtherMarks::kNever) return true;
    return translation.unit == Unit::kNone && !has_unit_of_range(source.index);
  }

  /// Whether a value of the source is the first of a range with a unit: "2.1 to 3.4%".
  bool has_unit_of_range(size_t first) const {
    const std::vector<Value>& values = values_[0].values;
    return first + 1 < values.size() && values[first].linked && values[first + 1].linked &&
           values[first + 1].unit != Unit::kNone;
  }

  bool is_same(const Atom& source, const Atom& translation) const {
    using enum ValueKind;
    const Value &a = *source.value, &b = *translation.value;
    if (b.kind != kNumber && b.ill_written) return false;
    if (source.kind == kTime && translation.kind == kTime) {
      return is_same_time(a, b, values_);
    }
    if (source.kind == kTime && translation.kind == kNumber && a.kind == kTime && b.kind == kNumber) {
      if (texts_[1].language.article_before_times && !b.linked) return false;
      return is_hour(b, a, values_, texts_[1].language.twelve_hour);
    }
    if (source.kind == kNumber && translation.kind == kTime) {
      return a.kind == kNumber && is_hour(a, b, values_, texts_[0].language.twelve_hour && !b.linked);
    }
    if (source.normal != translation.normal) return false;
    // "1. Bundesliga" is no item of a list.
    if (source.kind == kMarker && translation.kind == kNumber) return b.ordinal && b.begin == 0;
    if (source.kind == kNumber && translation.kind == kMarker) return a.ordinal;
    if (source.kind != translation.kind) return false;
    if (source.kind == kNumber && a.kind == kNumber && b.kind == kNumber && !is_well_written(source, b))
      return false;
    if ((a.decade && b.unit != Unit::kNone) || (b.decade && a.unit != Unit::kNone)) return false;
    return a.unit == Unit::kNone || b.unit == Unit::kNone || is_same_unit(a.unit, b.unit);
  }

  /// A month may be said once for two dates, "from August 5 to 19", and a weekday too.
  static void match_days(Atoms& source, Atoms& translation) {
    const auto match = [](Atoms& atoms, const Atoms& others) {
      for (Atom& atom : atoms) {
        if (atom.kind != ValueKind::kDate && atom.kind != ValueKind::kWeekday) continue;
        atom.matched = atom.matched || std::ranges::any_of(others, [&](const Atom& other) {
                         return other.kind == atom.kind && other.normal == atom.normal;
                       });
      }
    };
    match(source, translation);
    match(translation, source);
  }

  /// The other text of an address may write it differently: "Covid-19" for "COVID-19".
  bool holds_text(size_t text, const std::string& normal) const {
    return letters_and_digits(texts_[text].text).find(normal) != std::string::npos;
  }

  void add_unmatched(const Atoms& atoms, size_t text, std::vector<Value>& unmatched) const {
    std::optional<size_t> last;
    for (const Atom& atom : atoms) {
      if (atom.matched || atom.optional || last == atom.index) continue;
      if (atom.kind == ValueKind::kText && holds_text(1 - text, atom.normal)) continue;
      unmatched.push_back(values_[text].values[atom.index]);
      last = atom.index;
    }
  }

  /// Whether a text names a unit apart from its values: "ten extra dollars".
  bool names_unit(size_t text, Unit unit) const {
    const std::vector<TextToken> tokens = tokenize_values(texts_[text].text);
    constexpr size_t kLeast = 3;  // letters: no "m"
    for (size_t n = 0; n < tokens.size(); ++n) {
      const auto holds_token = [&](const Value& value) {
        return value.begin <= tokens[n].begin && tokens[n].end <= value.end;
      };
      const bool word = tokens[n].is_word() && tokens[n].lower.size() >= kLeast;
      if (word && is_same_unit(find_unit(TextTokens(tokens).subspan(n), texts_[text].language).unit, unit) &&
          std::ranges::none_of(values_[text].values, holds_token))
        return true;
    }
    return false;
  }

  /// Whether value n of the source multiplies: "3x", "3-mal", "dreimal".
  bool multiplies(size_t n) const {
    const Value& value = values_[0].values[n];
    const ValueLanguage& language = texts_[0].language;
    const std::string_view text = texts_[0].text;
    const std::vector<TextToken> tokens = tokenize_values(text.substr(value.end));
    const size_t hyphen = !tokens.empty() && tokens[0].is("-") ? 1 : 0;
    if (length_of_any(language.multipliers, TextTokens(tokens).subspan(hyphen)) > 0) return true;
    const std::string_view word = text.substr(value.begin, value.end - value.begin);
    return value.in_words && language.joins_words &&
           std::ranges::any_of(language.multipliers,
                               [&](std::string_view each) { return word.ends_with(each); });
  }

  /// Whether values n and n + 1 of the source may share a unit: "18 bis 20 Euro", "5, 10 oder 20 %", "drei
  /// und Tom vier Dollar".
  bool may_share_unit(size_t n) const {
    const std::vector<Value>& values = values_[0].values;
    if (n + 1 >= values.size() || values[n + 1].begin < values[n].end) return false;
    const auto between =
        tokenize_values(texts_[0].text.substr(values[n].end, values[n + 1].begin - values[n].end));
    if (multiplies(n) || multiplies(n + 1)) return false;
    return between.size() <= 1 || !between[0].is_word() ||
           std::ranges::count(texts_[0].language.ranges, std::string_view(between[0].lower)) > 0;
  }

  /// Whether a value of the source may be of a unit that stands with one beside it.
  bool may_have_unit(size_t number, Unit unit) const {
    const std::vector<Value>& values = values_[0].values;
    for (size_t n = number; may_share_unit(n); ++n) {
      if (is_same_unit(values[n + 1].unit, unit)) return true;
    }
    for (size_t n = number; n > 0 && may_share_unit(n - 1); --n) {
      if (is_same_unit(values[n - 1].unit, unit)) return true;
    }
    return false;
  }

  /// Money and percentages of the translation whose numbers count something else in the source: "€1,250
  /// tickets for €18.50". Without any in the source, words may translate slang: "twenty bucks".
  void add_moved_units(const Atoms& source, std::vector<Value>& added) const {
    for (const Atom& atom : source) {
      if (atom.partner == nullptr || atom.partner->optional || atom.value->kind != ValueKind::kNumber)
        continue;
      const Unit unit = atom.partner->unit;
      if (!is_percent_or_money(unit) || atom.value->unit != Unit::kNone) continue;
      const bool slang =
          atom.partner->in_words && std::ranges::none_of(values_[0].values, [&](const Value& value) {
            return is_same_unit(value.unit, unit);
          });
      if (!slang && !may_have_unit(atom.index, unit) && !names_unit(0, unit)) added.push_back(*atom.partner);
    }
  }

  /// The period that a value of a text counts, "3 days", and where it ends; none for another reading: the 90
  /// of "anderthalb Stunden".
  std::optional<std::pair<Period, size_t>> period_behind(size_t text, const Value& number) const {
    const bool is_main_reading =
        std::ranges::any_of(values_[text].values, [&](const Value& value) { return &value == &number; });
    if (!is_main_reading || number.kind != ValueKind::kNumber || number.ordinal || number.determiner)
      return {};
    const std::vector<TextToken> tokens = tokenize_values(texts_[text].text.substr(number.end));
    const size_t hyphen = !tokens.empty() && tokens[0].is("-") ? 1 : 0;
    if (tokens.size() <= hyphen) return {};
    const auto* period = find_phrase(texts_[text].language.periods, TextTokens(tokens).subspan(hyphen));
    if (period == nullptr) return {};
    return std::pair(period->meaning, number.end + tokens[hyphen].end);
  }

  /// Numbers that count another period: "3 hours" for "3 Tage".
  void add_changed_periods(const Atoms& source, ValueDifferences& differences) const {
    for (const Atom& atom : source) {
      if (atom.partner == nullptr) continue;
      const auto before = period_behind(0, *atom.value), after = period_behind(1, *atom.partner);
      if (!before || !after || before->first == after->first) continue;
      const bool elsewhere = std::ranges::any_of(values_[1].values, [&](const Value& value) {
        const auto period = period_behind(1, value);
        return value.normal == atom.value->normal && period && period->first == before->first;
      });
      if (elsewhere) continue;
      Value missing = *atom.value, added = *atom.partner;
      missing.end = before->second;
      added.end = after->second;
      differences.missing.push_back(std::move(missing));
      differences.added.push_back(std::move(added));
    }
  }

  /// Whether "bar" of the source may be cash.
  bool may_be_cash() const {
    const std::string_view paying = texts_[0].language.paying;
    return !paying.empty() && letters_and_digits(texts_[0].text).find(paying) != std::string::npos;
  }

  /// Values whose unit is nowhere in the translation.
  void add_lost_units(const Atoms& source, std::vector<Value>& missing) const {
    for (const Atom& atom : source) {
      const Unit unit = atom.value->unit;
      const bool lost = unit != Unit::kNone && unit != Unit::kBars &&
                        std::ranges::none_of(values_[1].values, [&](const Value& value) {
                          return is_same_unit(value.unit, unit) ||
                                 std::ranges::any_of(value.other_reading, [&](const Value& other) {
                                   return is_same_unit(other.unit, unit);
                                 });
                        });
      if (unit == Unit::kBar && may_be_cash()) continue;
      if (lost && atom.matched && !atom.optional && !names_unit(1, unit))
        missing.push_back(values_[0].values[atom.index]);
    }
  }

  /// Whether a text says zero: "0", "no", "emissionsfrei".
  bool says_none(size_t text) const {
    const ValueLanguage& language = texts_[text].language;
    const auto is_none = [&](const TextToken& token) {
      const std::string_view word = token.lower;
      return std::ranges::any_of(language.none, [&](std::string_view none) {
        return word == none || (language.joins_words && (word.starts_with(none) || word.ends_with(none)));
      });
    };
    return std::ranges::any_of(values_[text].values,
                               [](const Value& value) { return value.normal == "0"; }) ||
           std::ranges::any_of(tokenize_values(texts_[text].text), is_none);
  }

  /// "Zero goals" may be "no goals" but not "goals". Without a plural behind it, zero has other senses.
  void add_lost_zeros(const Atoms& source, std::vector<Value>& missing) const {
    if (!texts_[0].language.counts_end_in_s) return;
    for (const Atom& atom : source) {
      const Value& value = *atom.value;
      if (atom.matched || !is_zero_in_words(value) || value.unit != Unit::kNone) continue;
      const std::vector<TextToken> behind = tokenize_values(texts_[0].text.substr(value.end));
      const bool plural = !behind.empty() && behind[0].is_word() && behind[0].lower.ends_with('s');
      if (plural && !says_none(1)) missing.push_back(values_[0].values[atom.index]);
    }
  }

  std::array<LanguageText, 2> texts_;
  BothTexts values_;
};

}  // namespace

ValueDifferences compare_values(const LanguageText& source, const LanguageText& translation) {
  return Matcher(source, translation).differences();
}

}  // namespace heed::translate
