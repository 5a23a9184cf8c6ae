// What is different about values that are the same numbers: units, ranges, periods.
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/stop.h"
#include "text/unicode/utf8.h"
#include "translate/values/compared_texts.h"
#include "translate/values/languages/text_tokens.h"
#include "translate/values/reading/figures.h"
#include "translate/values/reading/find_values.h"

namespace heed::translate {
namespace {

/// Units that a translation does not add to a number, as it may "degrees".
bool is_percent_or_money(Unit unit) {
  return unit == Unit::kPercent || is_money(unit);
}

/// The first words and marks behind a position: a few, so that texts of many numbers take linear time.
std::vector<TextToken> tokens_behind(std::string_view text, size_t position) {
  constexpr size_t kBytes = 64;
  return tokenize_values(text.substr(position, kBytes));
}

/// Adds the differences of add_changes().
class Changes {
 public:
  Changes(const ComparedTexts& compared, const Atoms& source)
      : compared_(compared),
        texts_(compared.texts),
        values_(compared.values),
        source_(source),
        partners_(values_[0].values.size()) {
    for (auto atom = source_.rbegin(); atom != source_.rend(); ++atom) {  // of several, the first
      if (atom->kind != ValueKind::kDate) partners_[atom->index] = atom->partner;
    }
  }

  void add_to(ValueDifferences& differences) const {
    add_lost_units(differences.missing);
    add_lost_zeros(differences.missing);
    add_lost_links(differences.missing);
    add_changed_periods(differences);
    add_invented_periods(differences.added);
    add_moved_units(differences.added);
    add_moved_days(differences.added);
    add_broken(differences.added);
  }

 private:
  /// Words of the translation that are no numbers are wrong, even beside the right one: "740. und
  /// fortzigsten". Without a number word in the source they may be a name. A malformed Roman
  /// numeral may be copied. Half of a number is wrong where the number is already half: "die Hälfte von
  /// 500.000" for half a million.
  void add_broken(std::vector<Value>& added) const {
    const bool words = std::ranges::any_of(values_[0].values, &Value::in_words);
    const auto is_wrong = [&](const Value& value, size_t index) {
      if (value.normal == kReplacementCharacter) return lacks_sign();
      if (value.part) return is_part_in_source(index + 1);
      if (value.roman) return !compared_.holds_text(0, value.normal);
      return words || !value.in_words;
    };
    bool replacement = false;  // once: texts of bytes that are none have many
    for (size_t n = 0; n < values_[1].values.size(); ++n) {
      const Value& value = values_[1].values[n];
      if (!value.broken) continue;
      if (value.normal == kReplacementCharacter && std::exchange(replacement, true)) continue;
      if (!is_wrong(value, n)) continue;
      added.push_back(value);
    }
    std::ranges::sort(added, {}, &Value::begin);
  }

  /// Whether the source has a sign that the translation does not have, such as a dagger or an arrow, which
  /// models spell in bytes. Quotation marks, brackets and dashes of the languages differ.
  bool lacks_sign() const {
    constexpr uint32_t kOthers = U_GC_L_MASK | U_GC_N_MASK | U_GC_Z_MASK | U_GC_PI_MASK | U_GC_PF_MASK |
                                 U_GC_PS_MASK | U_GC_PE_MASK | U_GC_PD_MASK;
    constexpr char32_t kFirst = 0x2000, kEllipsis = 0x2026;
    const std::string_view source = texts_[0].text, translation = texts_[1].text;
    for (size_t at = 0; at < source.size();) {
      const size_t begin = at;
      const char32_t c = next_code_point(source, at);
      const bool sign = c >= kFirst && c != kEllipsis && c != 0xFFFD &&
                        (U_GET_GC_MASK(static_cast<UChar32>(c)) & kOthers) == 0;
      if (sign && translation.find(source.substr(begin, at - begin)) == std::string_view::npos) return true;
    }
    return false;
  }

  /// Whether value n of the translation is a part of something in the source, such as half a million.
  bool is_part_in_source(size_t n) const {
    return n < values_[1].values.size() && std::ranges::any_of(values_[0].values, [&](const Value& value) {
             return value.part && !value.broken && value.normal == values_[1].values[n].normal;
           });
  }

  /// Whether a number in front of a date may be its day: no "1.250 € bis zum 15. März".
  static bool may_be_day(const Value& number) {
    constexpr int64_t kLast = 31;
    const auto day = parse_integer(number.normal, 2);
    return number.unit == Unit::kNone && !number.counts && day && *day <= kLast;
  }

  /// Whether two values of the source are a range, for certain. Neither "18th-century" nor "one-tenth"; and
  /// ranges ascend: no "3 million and 600 thousand".
  bool is_range(const Value& from, const Value& to) const {
    using enum ValueKind;
    const auto is_certain = [](const Value& value) {
      const bool written = (value.kind == kNumber || value.kind == kDate) && !value.in_words;
      return (written || value.kind == kTime) && value.linked && !value.optional;
    };
    if (!is_certain(from) || !is_certain(to) || from.end > to.begin) return false;
    if ((from.kind == kTime) != (to.kind == kTime)) return false;  // "12 de noviembre a las 6:00"
    if (from.kind != to.kind && !may_be_day(from)) return false;
    if (from.kind == kNumber && to.kind == kNumber && from.normal.size() > to.normal.size()) return false;
    return holds_range_word(0, from.end, to.begin) || is_between(from, to);
  }

  /// "Zwischen halb acht und halb neun" is a range, too.
  bool is_between(const Value& from, const Value& to) const {
    const auto& [text, language] = texts_[0];
    constexpr size_t kBytes = 16;  // of the word and spaces
    const std::string_view before = text.substr(0, from.begin);
    const std::vector<TextToken> words =
        tokenize_values(before.substr(before.size() - std::min(before.size(), kBytes)));
    const std::vector<TextToken> between = tokenize_values(text.substr(from.end, to.begin - from.end));
    return !words.empty() && words.back().is(language.before_conjunction) && !between.empty() &&
           between[0].is(language.conjunction);
  }

  bool is_range_word(size_t text, const TextToken& token) const {
    return std::ranges::count(texts_[text].language.ranges, std::string_view(token.lower)) > 0;
  }

  /// What stands between values n and n + 1 of the source.
  std::vector<TextToken> tokens_after_value(size_t n) const {
    const std::vector<Value>& values = values_[0].values;
    return tokenize_values(texts_[0].text.substr(values[n].end, values[n + 1].begin - values[n].end));
  }

  /// Whether a word of ranges stands between two positions of a text: in the source, no "and".
  bool holds_range_word(size_t text, size_t begin, size_t end) const {
    constexpr size_t kFarthest = 1000;  // bytes; what is farther apart is taken for a range, unread
    if (end - begin > kFarthest) return true;
    const std::vector<TextToken> tokens = tokenize_values(texts_[text].text.substr(begin, end - begin));
    return std::ranges::any_of(tokens, [&](const TextToken& token) {
      return is_range_word(text, token) && !(text == 0 && token.is(texts_[text].language.conjunction));
    });
  }

  static bool is_number_range(const Value& from, const Value& to) {
    return from.kind == ValueKind::kNumber && to.kind == ValueKind::kNumber;
  }

  /// Whether nothing stands between two values of the translation: "9 6", "5-Dollar10 $".
  bool are_side_by_side(const Value& first, const Value& last) const {
    if (first.end > last.begin) return last.end <= first.begin && are_side_by_side(last, first);
    const std::string_view between = texts_[1].text.substr(first.end, last.begin - first.end);
    return between.find_first_not_of(". ") == std::string_view::npos;
  }

  /// Whether another time or date stands between the two values of a range in the translation: "from April 14
  /// on April 7 and April 18 April 11".
  bool holds_another(const Value& first, const Value& last) const {
    return std::ranges::any_of(values_[1].values, [&](const Value& value) {
      return value.kind == first.kind && value.kind == last.kind && !value.optional &&
             value.begin >= first.end && value.end <= last.begin;
    });
  }

  /// Ranges of the source whose two values are none in the translation, "9 6 p.m." for "9–18 Uhr", or became
  /// one: "10:15 Minuten" for "10–15 minutes".
  void add_lost_links(std::vector<Value>& missing) const {
    const std::vector<Value>& values = values_[0].values;
    for (size_t n = 1; n < values.size(); ++n) {
      const Value &from = values[n - 1], &to = values[n];
      if (!is_range(from, to)) continue;
      const Value *first = partners_[n - 1], *last = partners_[n];
      if (first == nullptr || last == nullptr) continue;
      const bool one = first->end == last->end, ascends = first->end <= last->begin;
      const bool duration =
          one && length_of_any(texts_[1].language.durations, tokens_behind(texts_[1].text, first->end)) > 0;
      const bool apart =
          !one && (is_number_range(from, to) ? are_side_by_side(*first, *last)
                                             : !ascends || !holds_range_word(1, first->end, last->begin) ||
                                                   holds_another(*first, *last));
      if (duration || apart)
        missing.push_back({.kind = ValueKind::kText, .begin = from.begin, .end = to.end, .linked = true});
    }
  }

  /// The units that a text names apart from its values: "ten extra dollars".
  std::set<Unit> find_units_apart(size_t text) const {
    const std::vector<TextToken> tokens = tokenize_values(texts_[text].text);
    constexpr size_t kLeast = 3;  // letters: no "m"
    const std::vector<Value>& values = values_[text].values;
    std::set<Unit> units;
    size_t value = 0;  // the first that ends behind the token's beginning
    for (size_t n = 0; n < tokens.size(); ++n) {
      while (value < values.size() && values[value].end <= tokens[n].begin) ++value;
      const bool inside = value < values.size() && values[value].begin <= tokens[n].begin;
      if (inside || !tokens[n].is_word() || tokens[n].lower.size() < kLeast) continue;
      const FoundUnit unit = find_unit(TextTokens(tokens).subspan(n), texts_[text].language);
      if (unit.unit != Unit::kNone) units.insert(unit.unit);
    }
    return units;
  }

  /// Whether a text names a unit apart from its values.
  bool names_unit(size_t text, Unit unit) const {
    if (!units_apart_[text]) units_apart_[text] = find_units_apart(text);
    return holds_same(*units_apart_[text], unit);
  }

  static bool holds_same(const std::set<Unit>& units, Unit unit) {
    return std::ranges::any_of(units, [&](Unit each) { return is_same_unit(each, unit); });
  }

  /// The units of the values of a text, with those of `other_readings` too.
  std::set<Unit> units_of(size_t text, bool other_readings) const {
    std::set<Unit> units;
    for (const Value& value : values_[text].values) {
      units.insert(value.unit);
      if (!other_readings) continue;
      for (const Value& other : value.other_reading) units.insert(other.unit);
    }
    return units;
  }

  /// Whether value n of the source multiplies: "3x", "3-mal", "dreimal".
  bool multiplies(size_t n) const {
    const Value& value = values_[0].values[n];
    const ValueLanguage& language = texts_[0].language;
    const std::string_view text = texts_[0].text;
    const std::vector<TextToken> tokens = tokens_behind(text, value.end);
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
    if (multiplies(n) || multiplies(n + 1)) return false;
    const std::vector<TextToken> between = tokens_after_value(n);
    return between.empty() || !between[0].is_word() || is_range_word(0, between[0]) ||
           length_of_any(texts_[0].language.unit_links, between) > 0;
  }

  /// Whether a value of the source may be of a unit that stands with one beside it.
  bool may_have_unit(size_t number, Unit unit) const {
    const std::vector<Value>& values = values_[0].values;
    constexpr size_t kFarthest = 20;  // values of a list
    const size_t end = number + kFarthest, begin = number - std::min(number, kFarthest);
    for (size_t n = number; n < end && may_share_unit(n); ++n) {
      if (is_same_unit(values[n + 1].unit, unit)) return true;
    }
    for (size_t n = number; n > begin && may_share_unit(n - 1); --n) {
      if (is_same_unit(values[n - 1].unit, unit)) return true;
    }
    return false;
  }

  /// Money and percentages of the translation whose numbers count something else in the source, "€1,250
  /// tickets for €18.50", and other units where that is a period: "20 °C" for "20 min". Without any in the
  /// source, words may translate slang: "twenty bucks".
  void add_moved_units(std::vector<Value>& added) const {
    const std::set<Unit> units = units_of(0, false);
    for (const Atom& atom : source_) {
      if (atom.partner == nullptr || atom.partner->optional || atom.value->kind != ValueKind::kNumber)
        continue;
      const Unit unit = atom.partner->unit;
      if (unit == Unit::kNone || atom.value->unit != Unit::kNone) continue;
      const bool counts_time = atom.value->of_duration || period_of(0, *atom.value).has_value();
      if (!is_percent_or_money(unit) && !counts_time) continue;
      const bool slang = atom.partner->in_words && !holds_same(units, unit);
      const bool other = !slang && !may_have_unit(atom.index, unit) && !names_unit(0, unit);
      if (counts_time || other) added.push_back(*atom.partner);
    }
  }

  /// Whether an ordinal of the source has a noun behind it: "the 21st century".
  bool is_of_noun(const Value& ordinal) const {
    const std::vector<TextToken> behind = tokens_behind(texts_[0].text, ordinal.end);
    constexpr size_t kLeast = 4;  // letters; no "of", "and", "was"
    const bool noun = !behind.empty() && behind[0].is_word() && behind[0].lower.size() >= kLeast;
    return ordinal.counts || (noun && !texts_[0].language.capital_nouns);
  }

  /// Whether a number of the source may be a day of the month of a date beside it: "the 3rd", "3 and 4 May".
  bool may_be_day_of(size_t number, int month) const {
    const std::vector<Value>& values = values_[0].values;
    if (values[number].linked || (values[number].ordinal && !is_of_noun(values[number]))) return true;
    const bool weekday = number > 0 && values[number - 1].kind == ValueKind::kWeekday;
    if (weekday && values[number].begin <= values[number - 1].end + 1) return true;
    constexpr size_t kMost = 3;  // tokens of a list: "3 y el 4 de mayo"
    for (size_t n = number; n + 1 < values.size() && values[n].end <= values[n + 1].begin; ++n) {
      const std::vector<TextToken> between = tokens_after_value(n);
      const bool list = between.empty() || !between[0].is_word() || is_range_word(0, between[0]);
      if (!list || between.size() > kMost) return false;
      if (values[n + 1].kind == ValueKind::kDate) return values[n + 1].month == month;
    }
    return false;
  }

  /// Whether value n of the source says a day of a month, which a date of the translation has.
  bool says_day(size_t n, const Value& date) const {
    const Value& value = values_[0].values[n];
    const auto says = [&](const Value& each) {
      if (each.kind == ValueKind::kDate) {
        const bool same_year = each.year == 0 || date.year == 0 || each.year == date.year;
        return each.month == date.month && (each.day == 0 || each.day == date.day) && same_year;
      }
      return each.kind == ValueKind::kNumber && each.normal == std::to_string(date.day) &&
             may_be_day_of(n, date.month);
    };
    return says(value) || std::ranges::any_of(value.other_reading, says);
  }

  /// Dates of the translation whose day is another number of the source, or of another date: "24 people from
  /// December 2" for "2 people from December 24".
  void add_moved_days(std::vector<Value>& added) const {
    std::vector<bool> said(values_[0].values.size());
    std::set<int> months;  // of dates of the source that have a day
    for (const Value& value : values_[0].values) {
      if (value.kind == ValueKind::kDate && value.day != 0) months.insert(value.month);
    }
    for (size_t d = 0; d < values_[1].values.size(); ++d) {
      StopScope::check();
      const Value& date = values_[1].values[d];
      if (date.kind != ValueKind::kDate || date.day == 0 || !date.other_reading.empty()) continue;
      if (!months.contains(date.month)) continue;
      constexpr size_t kFarthest = 1000;  // values: in longer texts, those at about its place
      const size_t place = d * said.size() / values_[1].values.size();
      const size_t end = std::min(place + kFarthest, said.size());
      size_t n = place - std::min(place, kFarthest);
      while (n < end && (said[n] || !says_day(n, date))) ++n;
      if (n < end) {
        said[n] = true;
      } else if (std::ranges::none_of(added, [&](const Value& value) { return value.begin == date.begin; })) {
        added.push_back(date);
      }
    }
  }

  struct CountedPeriod {
    Period period;
    size_t end;              ///< of its word in the text
    bool symbol = false;     ///< "h", "min" or "s"
    bool shortened = false;  ///< an abbreviation of `short_periods`
  };

  /// "7h", "45 min" and "30 s"; neither "90s" nor "s. a.".
  static std::optional<CountedPeriod> read_symbol(TextTokens tokens, bool joined) {
    const TextToken& token = tokens[0];
    if (token.capitalized) return {};
    if (token.is("h")) return CountedPeriod{Period::kHour, token.end, true};
    if (token.is("min")) return CountedPeriod{Period::kMinute, token.end, true};
    const bool abbreviates = tokens.size() > 2 && tokens[1].is(".");
    if (!token.is("s") || joined || abbreviates) return {};
    return CountedPeriod{Period::kSecond, token.end, true};
  }

  /// The period that a number of a text counts: "3 days", "an hour and a half".
  std::optional<CountedPeriod> period_of(size_t text, const Value& number) const {
    if (number.kind != ValueKind::kNumber || number.ordinal || number.determiner) return {};
    const auto behind = period_behind_number(text, number);
    return behind || !number.in_words ? behind : period_within(text, number);
  }

  std::optional<CountedPeriod> period_within(size_t text, const Value& number) const {
    const std::vector<TextToken> tokens =
        tokenize_values(texts_[text].text.substr(number.begin, number.end - number.begin));
    for (TextTokens left = tokens; !left.empty(); left = left.subspan(1)) {
      const auto* period = find_phrase(texts_[text].language.periods, left);
      if (period != nullptr) return CountedPeriod{period->meaning, number.end};
    }
    return {};
  }

  std::optional<CountedPeriod> period_behind_number(size_t text, const Value& number) const {
    const std::vector<TextToken> tokens = tokens_behind(texts_[text].text, number.end);
    const size_t hyphen = !tokens.empty() && tokens[0].is("-") ? 1 : 0;
    if (tokens.size() <= hyphen) return {};
    const TextTokens behind = TextTokens(tokens).subspan(hyphen);
    auto counted = read_symbol(behind, behind[0].begin == 0);
    const auto* period = find_phrase(texts_[text].language.periods, behind);
    if (!counted && period != nullptr) counted = CountedPeriod{period->meaning, behind[0].end};
    if (counted) {
      counted->shortened = find_phrase(texts_[text].language.short_periods, behind) != nullptr;
      counted->end += number.end;
    }
    return counted;
  }

  /// Whether a number of the translation has no word behind it, nor a sign such as that of minutes. One of
  /// clocks belongs to hours only: "um 17 Uhr" may be "a las 17 h".
  bool stands_alone(const Value& number, bool hours) const {
    constexpr std::string_view kMarks = ".,;:!?)";
    const std::vector<TextToken> tokens = tokens_behind(texts_[1].text, number.end);
    return tokens.empty() || tokens[0].is_digits() ||
           kMarks.find(tokens[0].lower) != std::string_view::npos ||
           (!hours && length_of_any(texts_[1].language.time_marks, tokens) > 0);
  }

  /// Whether a word that begins as those of a period stands behind a number of the translation:
  /// "10-minütig".
  bool is_before_stem(const Value& number) const {
    const std::vector<TextToken> tokens = tokens_behind(texts_[1].text, number.end);
    const size_t hyphen = !tokens.empty() && tokens[0].is("-") ? 1 : 0;
    if (tokens.size() <= hyphen) return false;
    const std::string_view word = tokens[hyphen].lower;
    return std::ranges::any_of(texts_[1].language.period_stems,
                               [&](std::string_view stem) { return word.starts_with(stem); });
  }

  /// Durations with the symbol of a unit whose numbers lost it, "7h 30." for "7h 30m"; and those with an
  /// abbreviation that have no period behind them, "10 mineros" for "10 mins".
  bool is_lost_duration(const Atom& atom, const std::optional<CountedPeriod>& before) const {
    const Value &from = *atom.value, &to = *atom.partner;
    constexpr size_t kHours = 2;  // digits: "20.45 hrs" and "1800 hrs" are times
    const bool hours = before && before->period == Period::kHour;
    const bool duration = !hours || from.normal.size() <= kHours || from.normal.ends_with(".5");
    const bool shortened = before && before->shortened && duration;
    if (!from.of_duration && !shortened && !(before && before->symbol)) return false;
    const bool main = &from == &values_[0].values[atom.index] &&
                      &to == &values_[1].values[atom.partner_index] && to.kind == ValueKind::kNumber;
    if (!main || atom.optional || to.in_words || to.of_duration || to.unit != Unit::kNone) return false;
    return shortened ? !is_before_stem(to) : stands_alone(to, hours);
  }

  /// Whether quotation marks before a position of a text are not closed there.
  static bool is_quoted(std::string_view text, size_t position) {
    constexpr size_t kFarthest = 1000;  // bytes: texts of many numbers take linear time
    const size_t begin = position - std::min(position, kFarthest);
    const std::string_view before = text.substr(begin, position - begin);
    const auto count = [&](std::string_view mark) {
      size_t found = 0;
      for (size_t at = before.find(mark); at != std::string_view::npos;
           at = before.find(mark, at + mark.size()))
        ++found;
      return found;
    };
    return count("\"") % 2 == 1 || count("“") + count("„") > count("”");
  }

  /// Whether a number of the source is an ordinal or followed by the sign of inches, and counts no period:
  /// "23rd", "27\"", but not "the 3rd year" and "her 18th birthday".
  bool counts_no_period(const Value& number) const {
    const auto& [text, language] = texts_[0];
    if (number.kind != ValueKind::kNumber || number.optional) return false;
    const std::string_view behind = text.substr(number.end);
    const bool sign = behind.starts_with('"') || behind.starts_with("”");
    if (behind.starts_with("″") || (sign && !is_quoted(text, number.end))) return true;
    if (!number.ordinal || period_behind_number(0, number)) return false;
    std::vector<TextToken> tokens = tokens_behind(text, number.end);
    if (!tokens.empty() && tokens[0].is("-")) tokens.erase(tokens.begin());
    return length_of_any(language.anniversaries, tokens) == 0;
  }

  /// Periods behind numbers of the translation that count none in the source: "23 años" for "23rd".
  void add_invented_periods(std::vector<Value>& added) const {
    for (const Atom& atom : source_) {
      if (atom.partner == nullptr || atom.kind != ValueKind::kNumber) continue;
      const Value &from = values_[0].values[atom.index], &to = values_[1].values[atom.partner_index];
      if (atom.value != &from || atom.partner != &to) continue;
      const auto period = period_behind_number(1, to);
      if (!period || !counts_no_period(from)) continue;
      const size_t begin = texts_[1].text.find_first_not_of(" -", to.end);
      added.push_back({.kind = ValueKind::kText, .begin = begin, .end = period->end});
    }
  }

  /// Numbers that count another period, "3 hours" for "3 Tage", or lost theirs to a time: "llega a una y
  /// media" for "kommt in anderthalb Stunden an"; and years for a decade: "the ninety years" for
  /// "Neunzigerjahre".
  void add_changed_periods(ValueDifferences& differences) const {
    std::set<std::pair<std::string_view, Period>> said;
    for (const Value& value : values_[1].values) {
      if (const auto period = period_of(1, value)) said.emplace(value.normal, period->period);
    }
    for (const Atom& atom : source_) {
      if (atom.partner == nullptr) continue;
      const Value &from = *atom.value, &to = *atom.partner;
      const auto before = period_of(0, from), after = period_of(1, to);
      // Neither is another reading, such as the 90 of "anderthalb Stunden" or the 1.5 of "una y media".
      const Value& whole = values_[1].values[atom.partner_index];
      const bool main = &from == &values_[0].values[atom.index] && &to == &whole;
      const bool other = before && after && !said.contains({from.normal, before->period}) && main;
      const bool lost =
          before && !after && from.normal.ends_with(".5") && &to != &whole && whole.kind == ValueKind::kTime;
      // "In his 40s" may be "de unos 40 años".
      const bool decade = from.decade && !from.optional;
      const bool no_decade = decade && !to.decade && after && after->period == Period::kYear;
      const bool year = decade && !to.decade && to.normal.size() == kYearDigits && !to.in_words;  // "in 1950"
      const Period counted = before ? before->period : Period::kMinute;
      if (!after && is_lost_duration(atom, before) && !said.contains({from.normal, counted})) {
        const size_t end = before ? before->end : from.end;
        differences.missing.push_back({.kind = ValueKind::kText, .begin = from.begin, .end = end});
        continue;
      }
      if (!other && !lost && !no_decade && !year) continue;
      Value missing = from, added = to;
      if (before) missing.end = before->end;
      if (after) added.end = after->end;
      differences.missing.push_back(std::move(missing));
      differences.added.push_back(std::move(added));
    }
  }

  /// Whether "bar" of the source may be cash.
  bool may_be_cash() const {
    const std::string_view paying = texts_[0].language.paying;
    return !paying.empty() && compared_.holds_letters(0, paying);
  }

  /// Values whose unit is nowhere in the translation.
  void add_lost_units(std::vector<Value>& missing) const {
    const std::set<Unit> units = units_of(1, true);
    for (const Atom& atom : source_) {
      const Unit unit = atom.value->unit;
      const bool lost = unit != Unit::kNone && unit != Unit::kBars && !holds_same(units, unit);
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
  void add_lost_zeros(std::vector<Value>& missing) const {
    if (!texts_[0].language.counts_end_in_s) return;
    std::optional<bool> none;  // whether the translation says it, once that counts
    for (const Atom& atom : source_) {
      const Value& value = *atom.value;
      if (atom.matched || !is_zero_in_words(value) || value.unit != Unit::kNone) continue;
      const std::vector<TextToken> behind = tokens_behind(texts_[0].text, value.end);
      const bool plural = !behind.empty() && behind[0].is_word() && behind[0].lower.ends_with('s');
      if (!plural) continue;
      if (!none) none = says_none(1);
      if (!*none) missing.push_back(values_[0].values[atom.index]);
    }
  }

  const ComparedTexts& compared_;
  const std::array<LanguageText, 2>& texts_;
  const std::array<TextValues, 2>& values_;
  const Atoms& source_;
  std::vector<const Value*> partners_;  // of each value of the source; of a date that of its day; null: none
  mutable std::array<std::optional<std::set<Unit>>, 2> units_apart_;  // of names_unit(), once needed
};

}  // namespace

const Phrase<Period>* period_behind(const LanguageText& text, size_t position) {
  return find_phrase(text.language.periods, tokens_behind(text.text, position));
}

void add_changes(const ComparedTexts& compared, const Atoms& source, ValueDifferences& differences) {
  Changes(compared, source).add_to(differences);
}

}  // namespace heed::translate
