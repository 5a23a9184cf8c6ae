// Values in English. Dates in figures are read month first, as in America, or day first where that fits.
#include <fmt/format.h>

#include "translate/values/languages/number_words.h"
#include "translate/values/languages/value_language.h"

namespace heed::translate {
namespace english {

using Reading = TimePattern::Reading;
using Role = NumberWord::Role;

constexpr std::array<std::string_view, 20> kBelowTwenty{
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kTens{"",      "",      "twenty",  "thirty", "forty",
                                                 "fifty", "sixty", "seventy", "eighty", "ninety"};

constexpr NumberWord kNumberWords[] = {{"one", 1, Role::kUnit},
                                       {"two", 2, Role::kUnit},
                                       {"three", 3, Role::kUnit},
                                       {"four", 4, Role::kUnit},
                                       {"five", 5, Role::kUnit},
                                       {"six", 6, Role::kUnit},
                                       {"seven", 7, Role::kUnit},
                                       {"eight", 8, Role::kUnit},
                                       {"nine", 9, Role::kUnit},
                                       {"zero", 0, Role::kTeen},
                                       {"ten", 10, Role::kTeen},
                                       {"eleven", 11, Role::kTeen},
                                       {"twelve", 12, Role::kTeen},
                                       {"thirteen", 13, Role::kTeen},
                                       {"fourteen", 14, Role::kTeen},
                                       {"fifteen", 15, Role::kTeen},
                                       {"sixteen", 16, Role::kTeen},
                                       {"seventeen", 17, Role::kTeen},
                                       {"eighteen", 18, Role::kTeen},
                                       {"nineteen", 19, Role::kTeen},
                                       {"twenty", 20, Role::kTen},
                                       {"thirty", 30, Role::kTen},
                                       {"forty", 40, Role::kTen},
                                       {"fifty", 50, Role::kTen},
                                       {"sixty", 60, Role::kTen},
                                       {"seventy", 70, Role::kTen},
                                       {"eighty", 80, Role::kTen},
                                       {"ninety", 90, Role::kTen},
                                       {"hundred", 100, Role::kHundred},
                                       {"thousand", 1000, Role::kThousand},
                                       {"first", 1, Role::kUnit, true},
                                       {"second", 2, Role::kUnit, true},
                                       {"third", 3, Role::kUnit, true},
                                       {"fourth", 4, Role::kUnit, true},
                                       {"fifth", 5, Role::kUnit, true},
                                       {"sixth", 6, Role::kUnit, true},
                                       {"seventh", 7, Role::kUnit, true},
                                       {"eighth", 8, Role::kUnit, true},
                                       {"ninth", 9, Role::kUnit, true},
                                       {"tenth", 10, Role::kTeen, true},
                                       {"eleventh", 11, Role::kTeen, true},
                                       {"twelfth", 12, Role::kTeen, true},
                                       {"thirteenth", 13, Role::kTeen, true},
                                       {"fourteenth", 14, Role::kTeen, true},
                                       {"fifteenth", 15, Role::kTeen, true},
                                       {"sixteenth", 16, Role::kTeen, true},
                                       {"seventeenth", 17, Role::kTeen, true},
                                       {"eighteenth", 18, Role::kTeen, true},
                                       {"nineteenth", 19, Role::kTeen, true},
                                       {"twentieth", 20, Role::kTen, true},
                                       {"thirtieth", 30, Role::kTen, true},
                                       {"fortieth", 40, Role::kTen, true},
                                       {"fiftieth", 50, Role::kTen, true},
                                       {"sixtieth", 60, Role::kTen, true},
                                       {"seventieth", 70, Role::kTen, true},
                                       {"eightieth", 80, Role::kTen, true},
                                       {"ninetieth", 90, Role::kTen, true},
                                       {"hundredth", 100, Role::kHundred, true},
                                       {"thousandth", 1000, Role::kThousand, true}};
constexpr NumberGrammar kGrammar{.words = kNumberWords,
                                 .after_ten = "-",
                                 .after_ten_optional = true,
                                 .after_hundred = "and",
                                 .years = true};

constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};
constexpr Phrase<int> kMonthNames[] = {{"january", 1},   {"february", 2}, {"march", 3},     {"april", 4},
                                       {"may", 5},       {"june", 6},     {"july", 7},      {"august", 8},
                                       {"september", 9}, {"october", 10}, {"november", 11}, {"december", 12}};
constexpr Phrase<int> kShortMonths[] = {{"jan", 1}, {"feb", 2},  {"mar", 3},  {"apr", 4},
                                        {"jun", 6}, {"jul", 7},  {"aug", 8},  {"sept", 9},
                                        {"sep", 9}, {"oct", 10}, {"nov", 11}, {"dec", 12}};
constexpr std::string_view kCapitalMonths[] = {"march", "may", "august", "mar"};
constexpr std::string_view kDayLinks[] = {",", "of", ", of"};

constexpr Phrase<int> kWeekdays[] = {{"monday", 1}, {"tuesday", 2},  {"wednesday", 3}, {"thursday", 4},
                                     {"friday", 5}, {"saturday", 6}, {"sunday", 7}};
constexpr Phrase<int> kShortWeekdays[] = {{"mon", 1},  {"tue", 2},   {"tues", 2}, {"wed", 3}, {"thu", 4},
                                          {"thur", 4}, {"thurs", 4}, {"fri", 5},  {"sat", 6}, {"sun", 7}};
constexpr std::string_view kBeforeOtherThanWeekdays[] = {"the"};
constexpr std::string_view kBehindWeekdays[] = {"s", "'s"};

constexpr Phrase<int> kRelativeDays[] = {{"the day after tomorrow", kDayAfterTomorrow},
                                         {"day after tomorrow", kDayAfterTomorrow},
                                         {"the day before yesterday", kDayBeforeYesterday},
                                         {"day before yesterday", kDayBeforeYesterday}};
constexpr TimePattern kTimes[] = {
    {.pattern = "half past H", .minutes = 30},
    {.pattern = "half - past H", .minutes = 30},
    {.pattern = "half H", .minutes = 30, .certain = false},
    {.pattern = "quarter past H", .minutes = 15},
    {.pattern = "quarter after H", .minutes = 15},
    {.pattern = "quarter to H", .minutes = -15},
    {.pattern = "quarter till H", .minutes = -15},
    {.pattern = "a quarter past H", .minutes = 15},
    {.pattern = "a quarter after H", .minutes = 15},
    {.pattern = "a quarter to H", .minutes = -15},
    {.pattern = "a quarter till H", .minutes = -15},
    {.pattern = "M past H", .before_or_after = true},
    {.pattern = "M minutes past H"},
    {.pattern = "M minutes after H"},
    {.pattern = "M after H", .before_or_after = true, .certain = false},
    {.pattern = "M to H", .sign = -1, .before_or_after = true, .certain = false},
    {.pattern = "M minutes to H", .sign = -1},
    {.pattern = "M minutes before H", .sign = -1},
    {.pattern = "M till H", .sign = -1, .before_or_after = true, .certain = false},
    {.pattern = "H o'clock"},
    {.pattern = "H : MM", .reading = Reading::kWritten, .certain = false},
    {.pattern = "H . MM", .reading = Reading::kWritten, .needs_part = true},
    {.pattern = "H oh M", .in_words = true},
    {.pattern = "H - M", .in_words = true},
    {.pattern = "H M", .certain = false, .in_words = true},
    {.pattern = "H", .needs_part = true},
};

constexpr Phrase<PartOfDay> kPartsOfDay[] = {
    {"a . m .", PartOfDay::kMorning},
    {"a . m", PartOfDay::kMorning},
    {"am", PartOfDay::kMorning},
    {"p . m .", PartOfDay::kAfternoon},
    {"p . m", PartOfDay::kAfternoon},
    {"pm", PartOfDay::kAfternoon},
    {"in the morning", PartOfDay::kMorning},
    {"in the afternoon", PartOfDay::kAfternoon},
    {"in the evening", PartOfDay::kEvening},
    {"at night", PartOfDay::kNight},
    {"tonight", PartOfDay::kEvening},
    {"this evening", PartOfDay::kEvening},
    {"this morning", PartOfDay::kMorning},
    {"this afternoon", PartOfDay::kAfternoon},
};
constexpr Phrase<PartOfDay> kWordsOfPart[] = {
    {"morning", PartOfDay::kMorning},      {"mornings", PartOfDay::kMorning},
    {"am", PartOfDay::kMorning},           {"afternoon", PartOfDay::kAfternoon},
    {"afternoons", PartOfDay::kAfternoon}, {"evening", PartOfDay::kEvening},
    {"evenings", PartOfDay::kEvening},     {"pm", PartOfDay::kAfternoon},
    {"night", PartOfDay::kNight},          {"nights", PartOfDay::kNight},
    {"tonight", PartOfDay::kNight}};
constexpr std::string_view kLinksOfParts[] = {"at"};
constexpr std::string_view kBeforeGreetings[] = {"good"};
constexpr std::string_view kClockWords[] = {"o'clock", "pm", "am", "p . m .", "a . m ."};
constexpr std::string_view kDurations[] = {"min", "mins",    "minute", "minutes",
                                           "sec", "seconds", "hours",  "long"};
constexpr Phrase<Period> kPeriods[] = {
    {"second", Period::kSecond},  {"seconds", Period::kSecond}, {"minute", Period::kMinute},
    {"minutes", Period::kMinute}, {"hour", Period::kHour},      {"hours", Period::kHour},
    {"day", Period::kDay},        {"days", Period::kDay},       {"week", Period::kWeek},
    {"weeks", Period::kWeek},     {"month", Period::kMonth},    {"months", Period::kMonth},
    {"min", Period::kMinute},     {"mins", Period::kMinute},    {"sec", Period::kSecond},
    {"secs", Period::kSecond},    {"hr", Period::kHour},        {"hrs", Period::kHour},
    {"year", Period::kYear},      {"years", Period::kYear},     {"yr", Period::kYear},
    {"yrs", Period::kYear}};
constexpr Phrase<PeriodWords> kShortPeriods[] = {
    {"min", {"minute", "minutes"}},  {"mins", {"minute", "minutes"}}, {"sec", {"second", "seconds"}},
    {"secs", {"second", "seconds"}}, {"hr", {"hour", "hours"}},       {"hrs", {"hour", "hours"}},
    {"yr", {"year", "years"}},       {"yrs", {"year", "years"}}};
constexpr std::string_view kAnniversaries[] = {"birthday", "birthdays", "anniversary", "anniversaries"};
constexpr Phrase<int> kNamedTimes[] = {{"noon", 720}, {"midday", 720}, {"midnight", 0}};
constexpr Phrase<int> kScales[] = {{"thousand", 3}, {"million", 6},   {"billion", 9}, {"trillion", 12},
                                   {"millions", 6}, {"thousands", 3}, {"mn", 6},      {"mln", 6},
                                   {"bn", 9},       {"bln", 9},       {"tn", 12}};
constexpr Phrase<int> kWrittenScales[] = {{"trillion", 12}, {"billion", 9}, {"million", 6}};
constexpr UnitWords kUnits[] = {
    {Unit::kPercent, "{}%", "{} percent", {"%", "percent", "per cent", "percentage", "percentage points"}},
    {Unit::kEuro, "€{}", "{} euros", {"€", "euro", "euros", "eur"}},
    {Unit::kDollar,
     "${}",
     "{} dollars",
     {"$", "dollar", "dollars", "usd", "us dollar", "us dollars", "us $", "us - $", "buck", "bucks", "aud",
      "cad"}},
    {Unit::kPound, "£{}", "{} pounds", {"£", "pounds sterling", "british pounds", "gbp"}},
    {Unit::kPounds, "{} pounds", "{} lbs", {"pound", "pounds", "lb", "lbs"}},
    {Unit::kCent, "{} cents", "{}¢", {"cent", "cents", "euro cent", "euro cents"}},
    {Unit::kPenny, "{} pence", "{}p", {"penny", "pence"}},
    {Unit::kPeso, "{} pesos", "{} peso", {"peso", "pesos", "mexican pesos"}},
    {Unit::kDegree, "{} degrees", "{} °C", {"°", "degree", "degrees"}},
    {Unit::kCelsius,
     "{} °C",
     "{} degrees Celsius",
     {"° c", "º c", "ºc", "degrees celsius", "degrees centigrade"}},
    {Unit::kFahrenheit, "{} °F", "{} degrees Fahrenheit", {"° f", "ºf", "degrees fahrenheit"}},
    {Unit::kKilogram, "{} kg", "{} kilos", {"kg", "kilo", "kilos", "kilogram", "kilograms"}},
    {Unit::kMilligram, "{} mg", "{} milligrams", {"mg", "milligram", "milligrams"}},
    {Unit::kGram, "{} g", "{} grams", {"g", "gram", "grams"}},
    {Unit::kKilometre,
     "{} km",
     "{} kilometers",
     {"km", "kilometer", "kilometers", "kilometre", "kilometres"}},
    {Unit::kMetre, "{} m", "{} meters", {"m", "meter", "meters", "metre", "metres"}},
    {Unit::kCentimetre,
     "{} cm",
     "{} centimeters",
     {"cm", "centimeter", "centimeters", "centimetre", "centimetres"}},
    {Unit::kMillimetre,
     "{} mm",
     "{} millimeters",
     {"mm", "millimeter", "millimeters", "millimetre", "millimetres"}},
    {Unit::kMillisecond, "{} ms", "{} milliseconds", {"ms", "millisecond", "milliseconds"}},
    {Unit::kMillilitre,
     "{} ml",
     "{} milliliters",
     {"ml", "milliliter", "milliliters", "millilitre", "millilitres"}},
    {Unit::kLitre, "{} l", "{} liters", {"l", "liter", "liters", "litre", "litres"}},
    {Unit::kMile, "{} miles", "{} mile", {"mile", "miles", "mi"}},
    {Unit::kYard, "{} yards", "{} yd", {"square yards", "yard", "yards", "yd", "yds"}},
    {Unit::kFoot, "{} feet", "{} ft", {"foot", "feet", "ft"}},
    {Unit::kInch, "{} inches", "{} inch", {"square inches", "inch", "inches"}},
    {Unit::kAcre, "{} acres", "{} acre", {"acre", "acres"}},
    {Unit::kHectare, "{} hectares", "{} ha", {"ha", "hectare", "hectares"}},
    {Unit::kTon, "{} tons", "{} tonnes", {"ton", "tons", "tonne", "tonnes", "metric tons"}},
    {Unit::kOunce, "{} ounces", "{} oz", {"ounce", "ounces", "oz"}},
    {Unit::kGallon, "{} gallons", "{} gal", {"gallon", "gallons"}},
    {Unit::kKilometresPerHour,
     "{} km/h",
     "{} kilometers per hour",
     {"km / h", "kmh", "kph", "kilometers per hour", "kilometres per hour", "kilometers an hour",
      "kilometres an hour"}},
    {Unit::kMilesPerHour, "{} mph", "{} miles per hour", {"mph", "miles per hour", "miles an hour"}},
    {Unit::kMilesPerGallon,
     "{} miles per gallon",
     "{} mpg",
     {"miles per gallon", "miles to the gallon", "miles a gallon", "mpg"}},
    {Unit::kBar, "{} bar", "{} bars", {}},
    {Unit::kBars, "{} bars", "{} bar", {"bar", "bars"}},
    {Unit::kMillimetreOfMercury,
     "{} mmHg",
     "{} millimeters of mercury",
     {"mmhg", "mm hg", "millimeters of mercury", "millimetres of mercury"}},
    {Unit::kSquareMetre,
     "{} m²",
     "{} square meters",
     {"m ²", "sqm", "sq m", "square meter", "square meters", "square metre", "square metres",
      "square - meter", "square - metre"}},
    {Unit::kSquareKilometre,
     "{} km²",
     "{} square kilometers",
     {"km ²", "sq km", "square kilometer", "square kilometers", "square kilometre", "square kilometres",
      "square - kilometer", "square - kilometre"}},
    {Unit::kSquareMile,
     "{} square miles",
     "{} sq mi",
     {"sq mi", "sq . mi", "square mile", "square miles", "square - mile"}},
    {Unit::kSquareFoot,
     "{} square feet",
     "{} sq ft",
     {"ft ²", "sq ft", "sq . ft", "square foot", "square feet", "square - foot"}},
    {Unit::kCubicMetre,
     "{} m³",
     "{} cubic meters",
     {"m ³", "cubic meter", "cubic meters", "cubic metre", "cubic metres", "cubic - meter", "cubic - metre"}},
    {Unit::kTerabyte, "{} TB", "{} terabytes", {"tb", "terabyte", "terabytes"}},
    {Unit::kGigabyte, "{} GB", "{} gigabytes", {"gb", "gigabyte", "gigabytes"}},
    {Unit::kMegabyte, "{} MB", "{} megabytes", {"mb", "megabyte", "megabytes"}},
    {Unit::kKilobyte, "{} kB", "{} kilobytes", {"kb", "kilobyte", "kilobytes"}},
    {Unit::kByte, "{} bytes", "{} byte", {"byte", "bytes"}},
    {Unit::kBeforeChrist, "{} BC", "{} B.C.", {"bc", "bce", "b . c .", "b . c"}},
};
constexpr Phrase<Unit> kUnitsJoined[] = {{"p", Unit::kPenny}, {"¢", Unit::kCent}};
constexpr Phrase<Unit> kUnitsBefore[] = {{"€", Unit::kEuro},   {"$", Unit::kDollar},   {"£", Unit::kPound},
                                         {"eur", Unit::kEuro}, {"usd", Unit::kDollar}, {"gbp", Unit::kPound}};
constexpr std::string_view kMinus[] = {"minus"};
constexpr std::string_view kBelowZero[] = {"below zero", "below freezing", "below"};
constexpr std::string_view kRanges[] = {"to", "to the", "-", "–", "and", "until", "till", "through", "a"};
constexpr std::string_view kBeforeRanges[] = {"from", "at", "between", "since", "starting"};
constexpr std::string_view kBeforeSureDecades[] = {"the early", "the late", "of the"};
constexpr std::string_view kBeforeTimes[] = {"at", "until", "till", "before", "it was", "it is", "it's"};
constexpr Phrase<bool> kBeforeScores[] = {{"it was", true}, {"it is", false}, {"it's", false}};
constexpr std::string_view kOrdinalEndings[] = {"st", "nd", "rd", "th"};

constexpr std::string_view kUnitLinks[] = {"or", "plus", "minus"};
constexpr std::string_view kCenturies[] = {"century", "centuries", "century's"};
constexpr std::string_view kMultipliers[] = {"×", "x", "times"};
constexpr std::string_view kNone[] = {"no",      "none", "nobody", "nothing", "not",
                                      "without", "free", "never",  "zero",    "nil"};
constexpr std::string_view kPlurals[] = {"people", "men", "women", "children"};
constexpr std::string_view kDecimalWords[] = {"point"};
constexpr std::string_view kSmallerUnitLinks[] = {"and"};
constexpr std::string_view kBeforeDurations[] = {"lasts",    "lasted",     "last", "lasting",
                                                 "takes",    "took",       "ran",  "length of",
                                                 "duration", "duration :", "in"};
constexpr std::string_view kHalfBefore[] = {"half an",    "half a",    "half",      "half - an -",
                                            "half - a -", "half of a", "half of an"};
constexpr std::string_view kPartsBefore[] = {"half a", "half of", "quarter of"};
constexpr WrittenPart kWrittenParts[] = {{"250000", "a quarter of a million"},
                                         {"500000", "half a million"},
                                         {"750000", "three quarters of a million"},
                                         {"500000000", "half a billion"}};
constexpr Phrase<int> kQuarters[] = {{"a quarter of a", 1},      {"quarter of a", 1},
                                     {"a quarter", 1},           {"quarter", 1},
                                     {"three quarters of a", 3}, {"three - quarters of a", 3}};
constexpr Phrase<int> kQuarterHours[] = {{"a quarter of an hour", 1},
                                         {"quarter of an hour", 1},
                                         {"a quarter hour", 1},
                                         {"quarter hour", 1},
                                         {"a quarter - hour", 1},
                                         {"quarter - hour", 1},
                                         {"three quarters of an hour", 3},
                                         {"three - quarters of an hour", 3},
                                         {"three quarter hours", 3}};
constexpr std::string_view kHalfBehind[] = {"and a half", "- and - a - half", "½"};
constexpr Phrase<int> kHalvedUnits[] = {{"hour", 60},    {"hours", 60},    {"year", 12},
                                        {"years", 12},   {"dozen", 12},    {"decade", 10},
                                        {"decades", 10}, {"century", 100}, {"centuries", 100}};

/// Words that say a number by the way.
constexpr Phrase<int> kOptional[] = {{"a", 1},
                                     {"an", 1},
                                     {"single", 1},
                                     {"once", 1},
                                     {"ones", 1},
                                     {"twice", 2},
                                     {"both", 2},
                                     {"couple", 2},
                                     {"pair", 2},
                                     {"double", 2},
                                     {"twin", 2},
                                     {"twins", 2},
                                     {"triple", 3},
                                     {"dozen", 12},
                                     {"decade", 10},
                                     {"decades", 10},
                                     {"century", 100},
                                     {"hundred", 100},
                                     {"thousand", 1000},
                                     {"hundredth", 100},
                                     {"thousandth", 1000},
                                     {"either", 2},
                                     {"neither", 2},
                                     {"either of the two", 2},
                                     {"either of these two", 2},
                                     {"either of those two", 2},
                                     {"neither of the two", 2},
                                     {"neither of these two", 2},
                                     {"neither of those two", 2},
                                     {"every other", 2},
                                     {"two of us", 2},
                                     {"two of you", 2},
                                     {"two of them", 2},
                                     {"two of a kind", 2},
                                     {"three of us", 3},
                                     {"three of you", 3},
                                     {"three of them", 3},
                                     {"cloud nine", 9},
                                     {"twos", 2},
                                     {"hour and a quarter", 15}};

constexpr Phrase<int> kDecades[] = {{"twenties", 20}, {"thirties", 30},  {"forties", 40},  {"fifties", 50},
                                    {"sixties", 60},  {"seventies", 70}, {"eighties", 80}, {"nineties", 90}};

constexpr Phrase<std::string_view> kSaidOtherwise[] = {{"a fortnight", "14 days"}, {"fortnight", "14 days"}};

/// "The eighties" are a decade, "his eighties" an age.
std::optional<WordNumber> read_decade(TextTokens tokens) {
  const size_t article = tokens[0].is("the") ? 1 : 0;
  const Phrase<int>* decade = find_phrase<int>(kDecades, tokens.subspan(article));
  if (decade == nullptr) return std::nullopt;
  return WordNumber{.value = decade->meaning,
                    .tokens = article + 1,
                    .optional = article == 0,
                    .determiner = true,
                    .decade = article > 0};
}

std::optional<WordNumber> read_words(TextTokens tokens) {
  if (!tokens[0].is_word()) return std::nullopt;
  if (const auto decade = read_decade(tokens)) return decade;
  const bool multiplied = tokens.size() > 1 && (tokens[1].is("hundred") || tokens[1].is("thousand"));
  if (tokens[0].is("a") && multiplied) {  // "a hundred and fifty"
    std::vector<TextToken> one(tokens.begin(), tokens.end());
    one[0].lower = "one";
    return read_number_words(kGrammar, one);
  }
  const auto optional = read_optional_number(kOptional, tokens);
  if (optional && optional->tokens > 1) return optional;  // "two of us"
  if (const auto number = read_number_words(kGrammar, tokens)) return number;
  if (const auto* fortnight = find_phrase<std::string_view>(kSaidOtherwise, tokens)) {
    const size_t words = phrase_length(fortnight->words);
    return WordNumber{.value = 14, .tokens = words, .determiner = true, .otherwise = 2};
  }
  return optional;
}

std::string write_below_thousand(int64_t number) {
  const auto n = static_cast<size_t>(number);
  if (n >= 100) {
    return write_below_thousand(number / 100) + " hundred" +
           (n % 100 == 0 ? "" : " " + write_below_thousand(number % 100));
  }
  if (n < kBelowTwenty.size()) return std::string(kBelowTwenty[n]);
  return std::string(kTens[n / 10]) + (n % 10 == 0 ? "" : "-" + std::string(kBelowTwenty[n % 10]));
}

std::string write_words(int64_t number) {
  if (number < 1000) return write_below_thousand(number);
  return write_below_thousand(number / 1000) + " thousand" +
         (number % 1000 == 0 ? "" : " " + write_below_thousand(number % 1000));
}

std::string write_half(int64_t whole) {
  return whole == 0 ? "half an" : write_words(whole) + " and a half";
}

std::string write_ordinal(std::string_view figures) {
  const bool teen = figures.size() > 1 && figures[figures.size() - 2] == '1';
  const std::string_view ending = teen                     ? "th"
                                  : figures.ends_with('1') ? "st"
                                  : figures.ends_with('2') ? "nd"
                                  : figures.ends_with('3') ? "rd"
                                                           : "th";
  return fmt::format("{}{}", figures, ending);
}

std::vector<std::string> write_date(const Value& date) {
  const std::string_view month = kMonths[static_cast<size_t>(date.month - 1)];
  if (date.day == 0) return {std::string(month)};
  if (date.year == 0) return {fmt::format("{} {}", month, date.day)};
  return {fmt::format("{} {}, {}", month, date.day, date.year)};
}

std::vector<std::string> write_time(const Value& time) {
  const int hour = time.minute / 60, minute = time.minute % 60, face = (hour + 11) % 12 + 1;
  const std::string minutes = minute == 0 ? "" : fmt::format(":{:02}", minute);
  const std::string written = fmt::format("{}{} {}", face, minutes, hour < 12 ? "a.m." : "p.m.");
  if (!time.half_day) return {written};
  const auto name = [](int h) { return write_words((h + 11) % 12 + 1); };
  const std::string spoken = minute == 0    ? name(hour) + " o'clock"
                             : minute == 15 ? "quarter past " + name(hour)
                             : minute == 30 ? "half past " + name(hour)
                             : minute == 45 ? "quarter to " + name(hour + 1)
                             : minute < 30  ? write_words(minute) + " past " + name(hour)
                                            : write_words(60 - minute) + " to " + name(hour + 1);
  return {spoken, fmt::format("{}:{:02}", face, minute)};
}

const ValueLanguage& values() {
  static const ValueLanguage language{
      .code = "en",
      .twelve_hour = true,
      .month_first = true,
      .one_ordinal_ending = true,
      .ordinal_endings = kOrdinalEndings,
      .months = kMonthNames,
      .short_months = kShortMonths,
      .capital_months = kCapitalMonths,
      .day_links = kDayLinks,
      .weekdays = kWeekdays,
      .capital_weekdays = true,
      .short_weekdays = kShortWeekdays,
      .before_other_than_weekdays = kBeforeOtherThanWeekdays,
      .relative_days = kRelativeDays,
      .behind_weekdays = kBehindWeekdays,
      .times = kTimes,
      .clock_words = kClockWords,
      .time_marks = kTwelveHourMarks,
      .durations = kDurations,
      .before_durations = kBeforeDurations,
      .periods = kPeriods,
      .short_periods = kShortPeriods,
      .anniversaries = kAnniversaries,
      .parts_of_day = kPartsOfDay,
      .words_of_part_of_day = kWordsOfPart,
      .links_of_parts = kLinksOfParts,
      .before_greetings = kBeforeGreetings,
      .named_times = kNamedTimes,
      .ranges = kRanges,
      .conjunction = "and",
      .before_conjunction = "between",
      .written_range = "from {} to {}",
      .before_ranges = kBeforeRanges,
      .before_times = kBeforeTimes,
      .before_scores = kBeforeScores,
      .for_whom = "for",
      .half_before = kHalfBefore,
      .half_behind = kHalfBehind,
      .parts_before = kPartsBefore,
      .quarters = kQuarters,
      .quarter_hours = kQuarterHours,
      .written_quarter_hours = {"a quarter of an hour", "three quarters of an hour"},
      .before_sure_decades = kBeforeSureDecades,
      .written_decade = "{}s",
      .halved_units = kHalvedUnits,
      .scales = kScales,
      .written_scales = kWrittenScales,
      .written_parts = kWrittenParts,
      .decimal_words = kDecimalWords,
      .smaller_unit_links = kSmallerUnitLinks,
      .units = kUnits,
      .short_inches = "in",
      .unit_links = kUnitLinks,
      .units_joined = kUnitsJoined,
      .units_before = kUnitsBefore,
      .multipliers = kMultipliers,
      .none = kNone,
      .centuries = kCenturies,
      .counts_end_in_s = true,
      .said_otherwise = kSaidOtherwise,
      .plurals = kPlurals,
      .minus = kMinus,
      .below_zero = kBelowZero,
      .read_words = read_words,
      .write_words = write_words,
      .write_half = write_half,
      .write_ordinal = write_ordinal,
      .write_date = write_date,
      .write_time = write_time};
  return language;
}

}  // namespace english

const ValueLanguage& english_values() {
  return english::values();
}

}  // namespace heed::translate
