// How a language says values: one table per language, in german.cc, english.cc and spanish.cc. The readers
// and the writer have no words of their own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "translate/values/languages/text_tokens.h"
#include "translate/values/value.h"

namespace heed::translate {

/// A number in words at the beginning of some tokens.
struct WordNumber {
  int64_t value = 0;
  size_t tokens = 0;
  bool ordinal = false;
  bool optional = false;    ///< as in Value
  bool determiner = false;  ///< an article, "both" or "dozen", not a numeral
  bool half = false;        ///< and a half: "zweieinhalb"
  bool decade = false;      ///< as in Value
  bool part = false;        ///< as in Value
  Unit unit = Unit::kNone;  ///< of the same word: "fünfprozentig"
  int64_t otherwise = 0;    ///< another number for the same: 14 days or 2 weeks are a fortnight; 0: none
};

/// Whether the ordinal word of a number has senses that are no number: "second", "Viertel", "cuarto".
constexpr bool has_other_senses(int64_t ordinal) {
  return ordinal <= 4;
}

/// A way to say a time. In the pattern, H is an hour, M a number of minutes and MM two digits of minutes;
/// everything else is a word or a mark.
struct TimePattern {
  enum class Reading {
    kWritten,  ///< on the 24-hour clock if the language has it and the hour is in figures
    kSpoken,   ///< on a clock face, so twelve hours later is possible
  };
  std::string_view pattern;
  Reading reading = Reading::kSpoken;
  int minutes = 0;               ///< minutes after the hour H
  int sign = 1;                  ///< of M: 1 after the hour, -1 before
  bool before_or_after = false;  ///< "ten to nine": minutes are a multiple of five
  bool certain = true;           ///< false: could be numbers, too
  bool needs_part = false;       ///< only with a part of the day: "eight p.m."
  bool in_words = false;         ///< hour and minutes in words only: "nine thirty"
  bool to_the_hour = false;      ///< up to 59 minutes after the hour: "las siete y cincuenta"
};

/// Of ValueLanguage::relative_days, beside the weekdays 1 to 7.
inline constexpr int kDayAfterTomorrow = 8, kDayBeforeYesterday = 9;

enum class PartOfDay { kMorning, kNoon, kAfternoon, kEvening, kNight };
enum class Period { kSecond, kMinute, kHour, kDay, kWeek, kMonth, kYear };

template <typename Meaning>
struct Phrase {
  std::string_view words;  ///< words and marks, a space between each two
  Meaning meaning;
};

/// A period in singular and plural.
struct PeriodWords {
  std::string_view one, several;
};

/// A part of a scale, and how it is written in words.
struct WrittenPart {
  std::string_view number, words;
};

/// A unit: the usual ways to write a number with it, where {} is the number, and what may stand behind one.
struct UnitWords {
  Unit unit;
  std::string_view usual, otherwise;
  std::array<std::string_view, 12> phrases;  ///< as those of Phrase; the rest is empty
};

/// Whether one mark with three digits behind it may be meant by the other convention of marks.
enum class OtherMarks {
  kNever,
  kGroups,  ///< the decimal mark may separate thousands: "1,250" in Spanish; "1.250" is certain
  kEither,  ///< "1.250" may be 1.25, too
};

struct ValueLanguage {
  std::string_view code;
  char decimal_mark = '.', group_mark = ',';
  OtherMarks other_marks = OtherMarks::kNever;  ///< of a text without other figures that tell
  bool decimal_apostrophe = false;              ///< "5'10" is 5.1
  size_t least_grouped = 4;                     ///< digits of a number from which thousands are marked
  bool spaced_thousands = false;                ///< "10 000" is one number, also where nothing else says so
  bool article_before_times = false;            ///< "las nueve": a number alone is no time
  bool twelve_hour = false;                     ///< 9:30 in figures may be in the evening
  bool month_first = false;                     ///< 3/12/2024 is in March
  bool ordinal_period = false;                  ///< "3." is an ordinal
  bool one_ordinal_ending = false;              ///< of digits, which follows from them: "21st"
  bool cardinal_days = false;                   ///< "tres de mayo"
  bool joins_words = false;                     ///< "Sonntagnachmittag"
  std::span<const std::string_view> ordinal_endings = {};  ///< of digits: "st"
  std::span<const Phrase<int>> months = {};                ///< names
  /// With or without a period behind them, beside a day in figures or a year only: "Mar 5", "ene. 2024".
  std::span<const Phrase<int>> short_months = {};
  std::span<const std::string_view> capital_months = {};  ///< months with a capital only: "May", not "may"
  std::span<const std::string_view> day_links = {};       ///< between day, month and year: "of", "de"
  std::span<const Phrase<int>> weekdays = {};             ///< 1 to 7 from Monday, the usual word first
  bool capital_weekdays = false;                          ///< and months: "Monday", but "lunes"
  /// With or without a period behind them, but with it where weekdays have no capital; beside a date, a time
  /// or another weekday only, and not behind some words: "The Sun, 5 May".
  std::span<const Phrase<int>> short_weekdays = {};
  std::span<const std::string_view> before_other_than_weekdays = {};
  /// Of these, words of other meanings that begin sentences, "So, 5 Uhr ist zu früh", and abbreviations in
  /// front of names: "Fr. Meier".
  std::span<const std::string_view> weekdays_as_words = {}, weekdays_as_titles = {};
  /// The day after tomorrow and the day before yesterday, the usual words first. They are compared as
  /// weekdays are.
  std::span<const Phrase<int>> relative_days = {};
  std::span<const std::string_view> behind_weekdays = {};  ///< in the same word: the "s" of "mondays"
  std::span<const TimePattern> times = {};
  std::span<const std::string_view> clock_words = {};       ///< behind times only: "Uhr"
  std::string_view hour_before_clock_word = {};             ///< "ein", which is "eins" elsewhere
  std::string_view hour_of_one = {};                        ///< "eins": "um eins" is a time
  std::span<const std::string_view> time_marks = {};        ///< wrong behind other figures: "p.m."
  std::span<const std::string_view> durations = {};         ///< behind "3:45" that is no time: "min"
  std::span<const std::string_view> before_durations = {};  ///< in front of one: "lasts"
  std::span<const Phrase<Period>> periods = {};             ///< behind a number; one before several
  /// Of `periods`, abbreviations that models hardly know, and the words for each: "std" for "Stunden".
  std::span<const Phrase<PeriodWords>> short_periods = {};
  /// How words of a period begin that are no nouns: "minüt" of "10-minütig".
  std::span<const std::string_view> period_stems = {};
  std::span<const std::string_view> anniversaries = {};  ///< count years with an ordinal: "18th birthday"
  std::span<const Phrase<PartOfDay>> parts_of_day = {};  ///< behind a time
  std::span<const Phrase<PartOfDay>> words_of_part_of_day = {};  ///< anywhere: "tonight"
  std::span<const std::string_view> links_of_parts = {};    ///< from one to a time behind it: "tonight at"
  std::span<const std::string_view> before_greetings = {};  ///< in front of one that is none: "good evening"
  std::span<const Phrase<int>> named_times = {};            ///< "noon", in minutes of the day
  std::span<const std::string_view> ranges = {};            ///< between two times: "to", "bis"
  std::string_view conjunction = {};                        ///< of `ranges`, the one that lists: "and"
  std::string_view before_conjunction = {};  ///< a word that makes a range of a list: "between"
  std::string_view written_range = {};       ///< of two times, each as {}
  std::string_view at_named_times = {};      ///< a word of ranges that is also "at": "a mediodía"
  std::span<const std::string_view> before_ranges = {};  ///< what a range may stand behind: "from"
  /// Words in front of a time in words that could be something else: "at ten forty", "until noon".
  std::span<const std::string_view> before_times = {};
  /// Of these, words in front of scores, too, and whether "20 to 9" behind one is as often a score as a time:
  /// "it was 20 to 9".
  std::span<const Phrase<bool>> before_scores = {};
  std::string_view for_whom = {};  ///< "for"
  /// With an article before times: words in front of one that may have a noun behind it, "hacia las dos", and
  /// words behind one that are no nouns, although they end like plurals.
  std::span<const std::string_view> before_clock_times = {}, behind_times = {};
  /// In front of labels: "Raum 3.07." is no date.
  std::span<const std::string_view> before_labels = {};
  std::span<const std::string_view> half_before = {};  ///< in front of a unit: "half an"
  std::span<const std::string_view> half_behind = {};  ///< behind a number, or its unit: "and a half"
  /// In front of a number that they are a part of: "a quarter of" 250,000.
  std::span<const std::string_view> parts_before = {};
  std::span<const Phrase<int>> quarters = {};       ///< of a scale, and how many: "three quarters of a"
  std::span<const Phrase<int>> quarter_hours = {};  ///< and how many: "three quarters of an hour"
  std::array<std::string_view, 2> written_quarter_hours = {};  ///< one and three
  std::span<const std::string_view> before_sure_decades = {};  ///< "the early" 90s, which are no age
  std::span<const std::string_view> before_decades = {};  ///< which make a year a decade: "los años" 1990
  std::string_view written_decade = {};                   ///< with its year as {}
  /// Beside periods, scales and units, what halves are of, and how many smaller units each is: 60 minutes are
  /// an hour.
  std::span<const Phrase<int>> halved_units = {};
  std::span<const Phrase<int>> scales = {};              ///< "million": the number of zeros
  std::span<const Phrase<int>> written_scales = {};      ///< the usual ones behind figures, greatest first
  std::span<const WrittenPart> written_parts = {};       ///< "half a million"
  std::string_view scale_link = {};                      ///< of a unit behind them: " de"
  std::span<const std::string_view> decimal_words = {};  ///< between spoken digits: "point"
  /// Between an amount and its cents, or metres and centimetres: "and".
  std::span<const std::string_view> smaller_unit_links = {};
  std::span<const UnitWords> units = {};
  std::string_view short_inches = {};  ///< a word behind feet or in front of a mark only: "in"
  /// Between two numbers that may share a unit, beside `ranges`: "two or three dollars".
  std::span<const std::string_view> unit_links = {};
  std::string_view paying = {};                        ///< in words beside which "bar" is cash: "bezahlt"
  std::span<const Phrase<Unit>> units_joined = {};     ///< behind a number without a space: "20p"
  std::span<const Phrase<Unit>> units_before = {};     ///< in front of one
  std::span<const std::string_view> multipliers = {};  ///< behind a number that multiplies: "2x"
  std::span<const std::string_view> none = {};         ///< what says zero otherwise: "no people"
  std::span<const std::string_view> centuries = {};    ///< beside a Roman number: "century"
  bool counts_end_in_s = false;                        ///< plural nouns: "zero goals"
  bool capital_nouns = false;                          ///< and few other words have a capital
  /// What says a number without a numeral, and how models translate it better: "a fortnight" as "14 days".
  std::span<const Phrase<std::string_view>> said_otherwise = {};
  std::span<const std::string_view> plurals = {};  ///< of nouns that a count would not show: "people"
  std::span<const std::string_view> minus = {};    ///< in front of a number
  /// With the word before it, "es menos", in a language where the same word is "less": "al menos ocho".
  std::span<const std::string_view> certain_minus = {};
  bool minus_is_less() const { return !certain_minus.empty(); }
  std::span<const std::string_view> below_zero = {};  ///< behind a number with its unit
  std::optional<WordNumber> (*read_words)(TextTokens tokens) = nullptr;
  /// Whether a word that read_words() does not read has parts of number words: "beidenhundertneunzig". Null:
  /// number words are not joined.
  bool (*is_broken_number)(std::string_view word) = nullptr;
  std::string (*write_words)(int64_t number) = nullptr;  ///< 0 to 999,999
  /// A whole number (0 to 999,999) and a half; empty where it is not written in words.
  std::string (*write_half)(int64_t whole) = nullptr;
  std::string (*write_ordinal)(std::string_view figures) = nullptr;
  /// The usual way to write a value first. Only for values that find_values() returns.
  std::vector<std::string> (*write_date)(const Value& date) = nullptr;
  std::vector<std::string> (*write_time)(const Value& time) = nullptr;
};

/// The marks of the 12-hour clock, in English and Spanish.
inline constexpr std::string_view kTwelveHourMarks[] = {"a . m .", "a . m", "am", "p . m .", "p . m", "pm"};

/// The table of German, English or Spanish, by a code such as "de" or "deu_Latn"; null for others.
const ValueLanguage* value_language(std::string_view code);

const ValueLanguage& german_values();
const ValueLanguage& english_values();
const ValueLanguage& spanish_values();

/// A unit at the beginning of some tokens; no tokens: none.
struct FoundUnit {
  Unit unit = Unit::kNone;
  size_t tokens = 0;
};

/// The unit that stands behind a number.
FoundUnit find_unit(TextTokens tokens, const ValueLanguage& language);

/// The meaning of the longest phrase that `tokens` begin with; null if there is none.
template <typename Meaning>
const Phrase<Meaning>* find_phrase(std::span<const Phrase<Meaning>> phrases, TextTokens tokens) {
  if (tokens.empty()) return nullptr;
  const std::string_view first = tokens[0].lower;
  const Phrase<Meaning>* longest = nullptr;
  for (const Phrase<Meaning>& phrase : phrases) {
    // Most differ in the first letter; this loop runs for every word of every translation.
    if (phrase.words.substr(0, 1) != first.substr(0, 1) || !phrase.words.starts_with(first)) continue;
    if (longest != nullptr && phrase_length(phrase.words) <= phrase_length(longest->words)) continue;
    if (begins_with(tokens, phrase.words)) longest = &phrase;
  }
  return longest;
}

}  // namespace heed::translate
