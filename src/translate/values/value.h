// What a text says in numbers, times, dates, codes and addresses, in a normal form that is the same in all
// languages: 14:35 and 2:35 p.m. are one time, 1.249,50 (German) and 1,249.50 (English) one number.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed::translate {

inline constexpr int kHourMinutes = 60, kHalfDayMinutes = 12 * kHourMinutes,
                     kDayMinutes = 2 * kHalfDayMinutes;
inline constexpr size_t kYearDigits = 4;
/// Of a time as it is written: 24:00 is midnight.
inline constexpr int kLastHour = 24, kLastMinute = 59;

enum class ValueKind {
  kNumber,
  kTime,  ///< of the day
  kDate,  ///< a month, with or without day and year
  kWeekday,
  kMarker,  ///< the number of a list item: "1. Buy milk"
  kText,    ///< an address, a code or a telephone number
};

/// What a number counts, where that is written in several ways: "€5", "5 €", "5 euros".
enum class Unit {
  kNone,
  kPercent,
  kEuro,
  kDollar,
  kPound,   ///< sterling
  kPounds,  ///< money or a weight: "five pounds"
  kCent,
  kPenny,
  kPeso,
  kDegree,  ///< without a scale
  kCelsius,
  kFahrenheit,
  kKilogram,
  kGram,
  kMilligram,
  kKilometre,
  kMetre,
  kCentimetre,
  kMillimetre,
  kMillisecond,
  kLitre,
  kMillilitre,
  kMile,
  kYard,
  kFoot,
  kInch,
  kAcre,
  kHectare,
  kTon,
  kOunce,
  kGallon,
  kKilometresPerHour,
  kMilesPerHour,
  kMilesPerGallon,
  kBar,
  kBars,  ///< of pressure or to drink at: "three bars"
  kMillimetreOfMercury,
  kSquareMetre,
  kSquareKilometre,
  kSquareMile,
  kSquareFoot,
  kCubicMetre,
  kTerabyte,
  kGigabyte,
  kMegabyte,
  kKilobyte,
  kByte,
  kBeforeChrist,  ///< of a year
};

/// Whether two units can be two ways to say one: "degrees" for °C, "km" for km/h.
bool is_same_unit(Unit a, Unit b);

bool is_money(Unit unit);

/// In place of bytes that are no character.
inline constexpr std::string_view kReplacementCharacter = "\uFFFD";

struct Value {
  ValueKind kind = ValueKind::kNumber;
  size_t begin = 0, end = 0;  ///< bytes of the text
  /// kNumber and kMarker: a decimal number, "1249.5" or "-3". kWeekday: "1" for Monday to "7", or a relative
  /// day. kText: its letters and digits, lower-case.
  std::string normal = {};
  Unit unit = Unit::kNone;
  size_t decimals = 0;  ///< that its figures have, the zeros at the end too: 2 of "1.50"

  int minute = 0;         ///< kTime: of the day, 0 to 1439
  bool half_day = false;  ///< kTime: could be twelve hours later, too: "half past nine"
  bool on_face = false;   ///< kTime: an hour from 1 to 12 without a part of the day beside it
  /// kTime: its other reading is only for a translation: "it's 20 to 9" says a time, unless it translates
  /// 20:9.
  bool is_time_in_source = false;
  bool in_range = false;  ///< kTime: begins with the value before it: "20 Uhr" in "14 bis 20 Uhr"
  /// With another value by a word of ranges: both in "de 9 a 14". Of a difference of kind kText: it is a
  /// range.
  bool linked = false;
  bool from_to = false;  ///< of a range such as "from 9 to 5", which is no score

  int day = 0, month = 0, year = 0;  ///< kDate: 0 where the text does not say it
  bool short_month = false;          ///< kDate: the month is an abbreviation: "Nov."

  bool in_words = false;     ///< "zwölf" for 12
  bool ordinal = false;      ///< "1st", "erste"
  bool roman = false;        ///< "VIII"
  bool decade = false;       ///< "1990s", "Neunzigerjahre"
  bool of_figures = false;   ///< hour or minutes of 14:35 in its other reading, which is no full hour
  bool counts = false;       ///< has a noun behind it: "2 seats"
  bool may_be_hour = false;  ///< behind a word of times: "um sieben"
  bool behind_for = false;   ///< "a table for 4", which is no hour beside a time
  bool of_duration = false;  ///< minutes behind hours: the 20 of "11h 20m"
  bool part = false;         ///< a half or quarters of what is behind it: "half a million"
  bool determiner = false;   ///< an article, "both" or "dozen", not a numeral
  /// Says nothing: parts of number words in a word that is none, such as "beidenhundertneunzig" (in_words),
  /// a malformed numeral (roman) such as "VIIII", what belongs to times behind something else, the "p.m." of
  /// "€18.50 p.m.", a half or quarter (part) of figures, and kReplacementCharacter.
  bool broken = false;
  bool ill_written = false;  ///< in a form that the language has not: "2,27", "21th", "23:45 p.m." in English
  /// The other text may say the value but need not: "both", and "ein", which is usually an article.
  bool optional = false;
  /// Another reading: "from ten to twelve" is no time but the numbers 10 and 12. Empty: none.
  std::vector<Value> other_reading = {};
};

/// "Zero" and "null", which a translation may say as "no".
inline bool is_zero_in_words(const Value& value) {
  return value.in_words && value.normal == "0";
}

inline bool has_year(const Value& value) {
  return value.year != 0;
}

/// Whether a month is an abbreviation without its year, which may be copied and stand elsewhere: the "5. Nov"
/// of "am 5. Nov geboren. 1999."
inline bool is_short_without_year(const Value& value) {
  return value.short_month && !has_year(value);
}

/// The values of a text, in order.
struct TextValues {
  std::vector<Value> values = {};
  bool has_time = false;  ///< among them
  /// Whether the text names a part of the day before noon, or after it, or the night, apart from its times:
  /// "tonight at six".
  bool names_morning = false, names_afternoon = false, names_night = false;

  bool names_part_of_day() const { return names_morning || names_afternoon || names_night; }
  /// Whether it names one that a minute of the day may be in.
  bool names_part_of(int minute) const {
    constexpr int kNightBegins = 18 * kHourMinutes, kNightEnds = 6 * kHourMinutes;
    const bool night = minute >= kNightBegins || minute < kNightEnds;
    return (minute < kHalfDayMinutes ? names_morning : names_afternoon) || (names_night && night);
  }
};

}  // namespace heed::translate
