// Whether two values are the same, in their languages.
#include <algorithm>

#include "base/text/ascii.h"
#include "translate/values/compared_texts.h"

namespace heed::translate {
namespace {

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
  if (time.minute % kHourMinutes != 0 || number.determiner || number.of_figures || number.counts)
    return false;
  if (number.ordinal || number.unit != Unit::kNone) return false;
  if (twelve_hour && (number.normal == "0" || (number.normal.size() == 2 && number.normal > "12")))
    return false;
  const int hour = time.minute / kHourMinutes;
  const auto is = [&](int h) { return number.normal == std::to_string(h); };
  if (is(hour) || (hour == 0 && is(24))) return true;
  return (time.half_day || part_is_known(time, texts)) && (is(hour % 12) || is(hour % 12 + 12));
}

/// Compares values of both texts in their languages.
class Comparison {
 public:
  explicit Comparison(const ComparedTexts& compared) : texts_(compared.texts), values_(compared.values) {}

  bool is_same(const Atom& source, const Atom& translation) const {
    using enum ValueKind;
    const Value &a = *source.value, &b = *translation.value;
    if (b.kind != kNumber && b.ill_written) return false;
    if (has_year(a) && is_short_without_year(b)) return false;
    if (source.kind == kTime && translation.kind == kTime) {
      return is_same_time(a, b, values_);
    }
    if (source.kind == kTime && translation.kind == kNumber && a.kind == kTime && b.kind == kNumber) {
      if ((texts_[1].language.article_before_times && !b.linked) || counts_hours(b)) return false;
      return is_hour(b, a, values_, texts_[1].language.twelve_hour);
    }
    if (source.kind == kNumber && translation.kind == kTime) {
      // "Dos por la noche" is no time; the 2 of "a las dos" is its other reading.
      const Value& whole = values_[0].values[source.index];
      const bool alone = whole.kind == kNumber && !a.linked;
      // "Las 4" in the afternoon is not 4 a.m. either.
      const bool hour = whole.kind == kTime && whole.other_reading.size() == 1;
      if (hour && !is_same_time(whole, b, values_)) return false;
      if (whole.kind == kNumber && is_of_score(source, translation)) return false;
      if (texts_[0].language.article_before_times && alone) return false;
      if (alone && !a.may_be_hour && invents_part(b)) return false;
      if (alone && a.behind_for && values_[0].has_time) return false;
      return a.kind == kNumber && is_hour(a, b, values_, texts_[0].language.twelve_hour && !b.linked);
    }
    if (source.normal != translation.normal) return false;
    // "1. Bundesliga" is no item of a list.
    if (source.kind == kMarker && translation.kind == kNumber) return b.ordinal && b.begin == 0;
    if (source.kind == kNumber && translation.kind == kMarker) return a.ordinal;
    if (source.kind != translation.kind) return false;
    if (source.kind == kNumber && a.kind == kNumber && b.kind == kNumber && !is_well_written(source, b))
      return false;
    if (source.kind == kNumber && is_in_code(0, source) && is_in_code(1, translation)) return false;
    if ((a.linked && is_of_padded_minutes(translation, 1)) || (b.linked && is_of_padded_minutes(source, 0)))
      return false;
    if ((a.decade && b.unit != Unit::kNone) || (b.decade && a.unit != Unit::kNone)) return false;
    // "1. März" says no "€1".
    if ((a.kind == kDate && is_money(b.unit)) || (b.kind == kDate && is_money(a.unit))) return false;
    return a.unit == Unit::kNone || b.unit == Unit::kNone || is_same_unit(a.unit, b.unit);
  }

 private:
  /// Whether a time of the translation says "a.m.", and no text names that part of the day otherwise: "three
  /// a.m." for "drei".
  bool invents_part(const Value& time) const {
    return texts_[1].language.twelve_hour && time.minute < kHalfDayMinutes && !time.on_face &&
           !time.half_day && !part_is_known(time, values_);
  }

  /// Whether a number is another reading of a code of capitals and digits: two that differ in capitals only
  /// are not the same, "8F-32-AA" and "8F-32-AAA".
  bool is_in_code(size_t text, const Atom& number) const {
    const Value& value = values_[text].values[number.index];
    if (value.kind != ValueKind::kText) return false;
    const auto holds = [&](bool (*is)(char32_t)) {
      return std::ranges::any_of(figures(text, value),
                                 [&](char c) { return is(static_cast<unsigned char>(c)); });
    };
    return holds(is_ascii_upper) && !holds(is_ascii_lower);
  }

  /// Whether a number of the source is one of two, as in "3-0", of which the other is no hour in the
  /// translation.
  bool is_of_score(const Atom& source, const Atom& translation) const {
    if (!source.value->linked || source.value->may_be_hour || source.value->from_to) return false;
    const std::vector<Value>&values = values_[0].values, &times = values_[1].values;
    const auto is_hour_beside = [&](const Value& number) {
      if (number.normal == "0" && texts_[0].language.twelve_hour) return false;
      constexpr size_t kFarthest = 2;  // values, with a weekday between the times
      const size_t at = translation.index, begin = at - std::min(at, kFarthest);
      for (size_t n = begin; n < times.size() && n <= at + kFarthest; ++n) {
        if (n != at && times[n].kind == ValueKind::kTime && is_hour(number, times[n], values_, false))
          return true;
      }
      return false;
    };
    const auto is_other_hour = [&](size_t n) {
      if (n >= values.size() || !values[n].linked) return false;
      return values[n].kind == ValueKind::kTime || is_hour_beside(values[n]);
    };
    return !is_other_hour(source.index + 1) && (source.index == 0 || !is_other_hour(source.index - 1));
  }

  /// Whether a number is of a time whose minutes begin with a zero: "3:00" and "3:05" are no "3-0" and "3-5".
  bool is_of_padded_minutes(const Atom& number, size_t text) const {
    constexpr int kTwoDigits = 10;
    return number.value->of_figures && values_[text].values[number.index].minute % kHourMinutes < kTwoDigits;
  }

  /// Whether hours stand behind a number of the translation: "in 11 hours" is not at 11.
  bool counts_hours(const Value& number) const {
    const Phrase<Period>* period = period_behind(texts_[1], number.end);
    return period != nullptr && period->meaning == Period::kHour;
  }

  /// Whether a number is one in its language: "five hundred seventh" is no 507, no comma is a point in
  /// English, and "Version 2.1" is one in German, but "2.1 %" is not.
  bool is_well_written(const Atom& source, const Value& translation) const {
    constexpr size_t kLong = 3;  // digits; "siglo veinte" is "twentieth century"
    const Value& value = *source.value;
    const bool in_words = value.in_words && translation.in_words && value.normal.size() >= kLong;
    if (in_words && value.ordinal != translation.ordinal) return false;
    constexpr size_t kCents = 2;  // decimals; "$10,000.000" is nothing for "$10,000"
    if (is_money(translation.unit) && translation.decimals > kCents && translation.decimals != value.decimals)
      return false;
    if (!translation.ill_written) return true;
    const ValueLanguage& language = texts_[1].language;
    if (language.decimal_mark == '.') return false;
    if (language.other_marks != OtherMarks::kNever) return true;
    // "1.0" for "1", and "250,000" for 250,000, which is 250 in German.
    const bool decimals = translation.normal.find('.') != std::string::npos;
    if (!decimals && std::ranges::count(figures(1, translation), language.decimal_mark) == 1) return false;
    if (figures(0, value).find_first_of(".,") == std::string_view::npos) return false;
    constexpr size_t kMostOfVersions = 3;  // decimals; "3.14159" is none
    return translation.decimals <= kMostOfVersions && value.unit == Unit::kNone &&
           translation.unit == Unit::kNone && !has_unit_of_range(source.index);
  }

  std::string_view figures(size_t text, const Value& value) const {
    return texts_[text].text.substr(value.begin, value.end - value.begin);
  }

  /// Whether a value of the source is the first of a range with a unit: "2.1 to 3.4%".
  bool has_unit_of_range(size_t first) const {
    const std::vector<Value>& values = values_[0].values;
    return first + 1 < values.size() && values[first].linked && values[first + 1].linked &&
           values[first + 1].unit != Unit::kNone;
  }

  const std::array<LanguageText, 2>& texts_;
  const BothTexts& values_;
};

}  // namespace

bool is_same_value(const ComparedTexts& compared, const Atom& source, const Atom& translation) {
  return Comparison(compared).is_same(source, translation);
}

}  // namespace heed::translate
