// Values in German. Number words are joined, units before tens: 73 is dreiundsiebzig.
#include <fmt/format.h>
#include <algorithm>

#include "translate/values/languages/number_words.h"
#include "translate/values/languages/value_language.h"

namespace heed::translate {
namespace german {

using Reading = TimePattern::Reading;

constexpr std::array<std::string_view, 20> kBelowTwenty{
    "null",     "eins",     "zwei",     "drei",     "vier",     "fünf",    "sechs",
    "sieben",   "acht",     "neun",     "zehn",     "elf",      "zwölf",   "dreizehn",
    "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
constexpr std::array<std::string_view, 10> kTens{"",        "",        "zwanzig", "dreißig", "vierzig",
                                                 "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};

constexpr std::array<std::string_view, 12> kMonths{"Januar",    "Februar", "März",     "April",
                                                   "Mai",       "Juni",    "Juli",     "August",
                                                   "September", "Oktober", "November", "Dezember"};
constexpr Phrase<int> kMonthNames[] = {{"januar", 1},    {"jänner", 1},   {"februar", 2},   {"feber", 2},
                                       {"märz", 3},      {"april", 4},    {"mai", 5},       {"juni", 6},
                                       {"juli", 7},      {"august", 8},   {"september", 9}, {"oktober", 10},
                                       {"november", 11}, {"dezember", 12}};
constexpr Phrase<int> kShortMonths[] = {{"jan", 1},  {"feb", 2},  {"mär", 3}, {"mrz", 3},  {"apr", 4},
                                        {"jun", 6},  {"jul", 7},  {"aug", 8}, {"sept", 9}, {"sep", 9},
                                        {"okt", 10}, {"nov", 11}, {"dez", 12}};

constexpr Phrase<int> kWeekdays[] = {{"montag", 1},  {"dienstag", 2}, {"mittwoch", 3}, {"donnerstag", 4},
                                     {"freitag", 5}, {"samstag", 6},  {"sonntag", 7},  {"sonnabend", 6}};
constexpr Phrase<int> kShortWeekdays[] = {{"mo", 1}, {"di", 2}, {"mi", 3}, {"do", 4},
                                          {"fr", 5}, {"sa", 6}, {"so", 7}};
constexpr std::string_view kWeekdaysAsWords[] = {"so"};
constexpr std::string_view kWeekdaysAsTitles[] = {"fr"};
constexpr std::string_view kBehindWeekdays[] = {
    "s",       "früh",       "morgen",      "morgens", "vormittag", "vormittags", "mittag",
    "mittags", "nachmittag", "nachmittags", "abend",   "abends",    "nacht",      "nachts"};

constexpr Phrase<int> kRelativeDays[] = {{"übermorgen", kDayAfterTomorrow},
                                         {"vorgestern", kDayBeforeYesterday}};
constexpr TimePattern kTimes[] = {
    {.pattern = "halb H", .minutes = -30},
    {.pattern = "M vor halb H", .minutes = -30, .sign = -1},
    {.pattern = "M nach halb H", .minutes = -30},
    {.pattern = "viertel vor H", .minutes = -15},
    {.pattern = "viertel nach H", .minutes = 15},
    {.pattern = "dreiviertel H", .minutes = -15},
    {.pattern = "drei viertel H", .minutes = -15},
    {.pattern = "viertel H", .minutes = -45},
    {.pattern = "M vor H", .sign = -1, .before_or_after = true},
    {.pattern = "M nach H", .before_or_after = true},
    {.pattern = "M minuten vor H", .sign = -1},
    {.pattern = "M minuten nach H"},
    {.pattern = "H : MM uhr", .reading = Reading::kWritten},
    {.pattern = "H . MM uhr", .reading = Reading::kWritten},
    {.pattern = "H : MM", .reading = Reading::kWritten, .certain = false},
    {.pattern = "H . MM - uhr", .reading = Reading::kWritten},
    {.pattern = "H : MM - uhr", .reading = Reading::kWritten},
    {.pattern = "H uhr M", .reading = Reading::kWritten},
    {.pattern = "H uhr und M minuten", .reading = Reading::kWritten},
    {.pattern = "H uhr", .reading = Reading::kWritten},
    {.pattern = "H", .needs_part = true},
};

constexpr Phrase<PartOfDay> kPartsOfDay[] = {
    {"morgens", PartOfDay::kMorning},       {"früh", PartOfDay::kMorning},
    {"vormittags", PartOfDay::kMorning},    {"am morgen", PartOfDay::kMorning},
    {"am vormittag", PartOfDay::kMorning},  {"in der früh", PartOfDay::kMorning},
    {"mittags", PartOfDay::kNoon},          {"am mittag", PartOfDay::kNoon},
    {"nachmittags", PartOfDay::kAfternoon}, {"am nachmittag", PartOfDay::kAfternoon},
    {"abends", PartOfDay::kEvening},        {"am abend", PartOfDay::kEvening},
    {"nachts", PartOfDay::kNight},          {"in der nacht", PartOfDay::kNight},
};
constexpr Phrase<PartOfDay> kWordsOfPart[] = {
    {"früh", PartOfDay::kMorning},          {"morgens", PartOfDay::kMorning},
    {"vormittag", PartOfDay::kMorning},     {"mittag", PartOfDay::kNoon},
    {"mittags", PartOfDay::kNoon},          {"nachmittag", PartOfDay::kAfternoon},
    {"nachmittags", PartOfDay::kAfternoon}, {"abend", PartOfDay::kEvening},
    {"abends", PartOfDay::kEvening},        {"nacht", PartOfDay::kNight},
    {"nachts", PartOfDay::kNight}};
constexpr std::string_view kLinksOfParts[] = {"um", "gegen", "ab", "so um", "so gegen"};
constexpr std::string_view kBeforeGreetings[] = {"guten", "gute", "schönen", "schöne"};
constexpr std::string_view kClockWords[] = {"uhr"};
constexpr std::string_view kDurations[] = {"min",      "minute",  "minuten", "sek",
                                           "sekunden", "stunden", "std",     "lang"};
constexpr Phrase<Period> kPeriods[] = {
    {"sekunde", Period::kSecond}, {"sekunden", Period::kSecond}, {"minute", Period::kMinute},
    {"minuten", Period::kMinute}, {"stunde", Period::kHour},     {"stunden", Period::kHour},
    {"tag", Period::kDay},        {"tage", Period::kDay},        {"tagen", Period::kDay},
    {"woche", Period::kWeek},     {"wochen", Period::kWeek},     {"monat", Period::kMonth},
    {"monate", Period::kMonth},   {"monaten", Period::kMonth},   {"jahr", Period::kYear},
    {"jahre", Period::kYear},     {"jahren", Period::kYear},     {"min", Period::kMinute},
    {"std", Period::kHour},       {"sek", Period::kSecond}};
constexpr Phrase<PeriodWords> kShortPeriods[] = {
    {"min", {"Minute", "Minuten"}}, {"std", {"Stunde", "Stunden"}}, {"sek", {"Sekunde", "Sekunden"}}};
constexpr std::string_view kPeriodStems[] = {"minüt", "stünd", "sekünd", "jähr"};
constexpr std::string_view kAnniversaries[] = {"geburtstag", "geburtstage", "jahrestag", "jubiläum"};
constexpr Phrase<int> kNamedTimes[] = {
    {"mittag", 720}, {"mittags", 720}, {"mittagsstunde", 720}, {"mittagszeit", 720}, {"mitternacht", 0}};
constexpr Phrase<int> kScales[] = {{"tausend", 3},    {"tsd .", 3}, {"tsd", 3}, {"million", 6},
                                   {"millionen", 6},  {"mio .", 6}, {"mio", 6}, {"milliarde", 9},
                                   {"milliarden", 9}, {"mrd .", 9}, {"mrd", 9}, {"billion", 12},
                                   {"billionen", 12}};
constexpr Phrase<int> kWrittenScales[] = {{"Billionen", 12}, {"Milliarden", 9}, {"Millionen", 6}};
constexpr UnitWords kUnits[] = {
    {Unit::kPercent,
     "{} %",
     "{} Prozent",
     {"%", "prozent", "prozentpunkte", "prozentpunkten", "prozentig", "prozentige", "prozentigen",
      "prozentiger", "prozentiges", "prozentigem"}},
    {Unit::kEuro, "{} €", "{} Euro", {"€", "euro", "euros", "eur"}},
    {Unit::kDollar,
     "{} Dollar",
     "{} $",
     {"$", "dollar", "dollars", "dollarn", "us $", "us - $", "us - dollar", "us dollar", "usd", "aud",
      "cad"}},
    {Unit::kPound, "{} £", "{} Pfund", {"£", "pfund sterling", "britische pfund", "britischen pfund", "gbp"}},
    {Unit::kPounds, "{} Pfund", "{} £", {"pfund"}},
    {Unit::kCent, "{} Cent", "{} ct", {"cent", "cents", "ct", "eurocent", "eurocents"}},
    {Unit::kPenny, "{} Pence", "{} Penny", {"penny", "pence"}},
    {Unit::kPeso, "{} Pesos", "{} Peso", {"peso", "pesos"}},
    {Unit::kDegree, "{} Grad", "{} °C", {"°", "grad"}},
    {Unit::kCelsius, "{} °C", "{} Grad Celsius", {"° c", "º c", "ºc", "grad celsius"}},
    {Unit::kFahrenheit, "{} °F", "{} Grad Fahrenheit", {"° f", "ºf", "grad fahrenheit"}},
    {Unit::kKilogram, "{} kg", "{} Kilo", {"kg", "kilo", "kilos", "kilogramm"}},
    {Unit::kMilligram, "{} mg", "{} Milligramm", {"mg", "milligramm"}},
    {Unit::kGram, "{} g", "{} Gramm", {"g", "gramm"}},
    {Unit::kKilometre, "{} km", "{} Kilometer", {"km", "kilometer", "kilometern"}},
    {Unit::kMetre, "{} m", "{} Meter", {"m", "meter", "metern"}},
    {Unit::kCentimetre, "{} cm", "{} Zentimeter", {"cm", "zentimeter", "zentimetern"}},
    {Unit::kMillimetre, "{} mm", "{} Millimeter", {"mm", "millimeter", "millimetern"}},
    {Unit::kMillisecond, "{} ms", "{} Millisekunden", {"ms", "millisekunde", "millisekunden"}},
    {Unit::kMillilitre, "{} ml", "{} Milliliter", {"ml", "milliliter", "millilitern"}},
    {Unit::kLitre, "{} l", "{} Liter", {"l", "liter", "litern"}},
    {Unit::kMile, "{} Meilen", "{} Meile", {"meile", "meilen"}},
    {Unit::kYard, "{} Yards", "{} Yard", {"quadratyards", "yard", "yards"}},
    {Unit::kFoot, "{} Fuß", "{} Füße", {"fuß", "füße", "füßen"}},
    {Unit::kInch, "{} Zoll", "{} Inch", {"quadratzoll", "zoll", "inch"}},
    {Unit::kAcre, "{} Acres", "{} Acre", {"acre", "acres", "morgen land"}},
    {Unit::kHectare, "{} Hektar", "{} ha", {"ha", "hektar"}},
    {Unit::kTon, "{} Tonnen", "{} t", {"tonne", "tonnen", "t"}},
    {Unit::kOunce, "{} Unzen", "{} Unze", {"unze", "unzen"}},
    {Unit::kGallon, "{} Gallonen", "{} Gallone", {"gallone", "gallonen"}},
    {Unit::kKilometresPerHour,
     "{} km/h",
     "{} Stundenkilometer",
     {"km / h", "kmh", "km pro stunde", "stundenkilometer", "stundenkilometern", "kilometer pro stunde",
      "kilometern pro stunde", "kilometer die stunde", "kilometer in der stunde",
      "kilometern in der stunde"}},
    {Unit::kMilesPerHour,
     "{} Meilen pro Stunde",
     "{} mph",
     {"mph", "meilen pro stunde", "meilen die stunde", "meilen in der stunde"}},
    {Unit::kMilesPerGallon,
     "{} Meilen pro Gallone",
     "{} mpg",
     {"meilen pro gallone", "meilen je gallone", "mpg"}},
    {Unit::kBar, "{} bar", "{} Bar", {"bar"}},
    {Unit::kBars, "{} Bars", "{} bar", {"bars"}},
    {Unit::kMillimetreOfMercury,
     "{} mmHg",
     "{} Millimeter Quecksilbersäule",
     {"mmhg", "mm hg", "millimeter quecksilbersäule", "millimeter quecksilber"}},
    {Unit::kSquareMetre, "{} m²", "{} Quadratmeter", {"m ²", "qm", "quadratmeter", "quadratmetern"}},
    {Unit::kSquareKilometre,
     "{} km²",
     "{} Quadratkilometer",
     {"km ²", "qkm", "quadratkilometer", "quadratkilometern"}},
    {Unit::kSquareMile, "{} Quadratmeilen", "{} Quadratmeile", {"quadratmeile", "quadratmeilen"}},
    {Unit::kSquareFoot, "{} Quadratfuß", "{} Square Feet", {"quadratfuß", "square feet"}},
    {Unit::kCubicMetre, "{} m³", "{} Kubikmeter", {"m ³", "kubikmeter", "kubikmetern", "cbm"}},
    {Unit::kTerabyte, "{} TB", "{} Terabyte", {"tb", "terabyte"}},
    {Unit::kGigabyte, "{} GB", "{} Gigabyte", {"gb", "gigabyte"}},
    {Unit::kMegabyte, "{} MB", "{} Megabyte", {"mb", "megabyte"}},
    {Unit::kKilobyte, "{} kB", "{} Kilobyte", {"kb", "kilobyte"}},
    {Unit::kByte, "{} Byte", "{} Bytes", {"byte", "bytes"}},
    {Unit::kBeforeChrist, "{} v. Chr.", "{} vor Christus", {"v . chr .", "v . chr", "vor christus"}},
};
constexpr Phrase<Unit> kCompoundUnits[] = {
    {"prozent", Unit::kPercent}, {"grad", Unit::kDegree}, {"euro", Unit::kEuro},
    {"cent", Unit::kCent},       {"meter", Unit::kMetre}, {"kilometer", Unit::kKilometre},
    {"kilo", Unit::kKilogram},   {"liter", Unit::kLitre}, {"meilen", Unit::kMile}};
constexpr Phrase<Unit> kUnitsBefore[] = {{"€", Unit::kEuro},   {"$", Unit::kDollar},   {"£", Unit::kPound},
                                         {"eur", Unit::kEuro}, {"usd", Unit::kDollar}, {"gbp", Unit::kPound}};
constexpr std::string_view kMinus[] = {"minus"};
constexpr std::string_view kBelowZero[] = {"unter null", "unter dem gefrierpunkt", "minus"};
constexpr std::string_view kRanges[] = {"bis", "-", "–", "und", "bis um", "bis zum", "bis zu"};
constexpr std::string_view kBeforeRanges[] = {"von", "um", "ab", "zwischen", "seit"};
constexpr std::string_view kBeforeTimes[] = {"um", "bis"};
constexpr std::string_view kBeforeLabels[] = {
    "abbildung", "abschnitt", "absatz",  "aufgabe", "büro",   "halle", "hörsaal", "kapitel",
    "nr",        "nr.",       "nummer",  "punkt",   "raum",   "saal",  "seite",   "tabelle",
    "teil",      "übung",     "version", "wohnung", "ziffer", "zimmer"};
constexpr std::string_view kOrdinalEndings[] = {"te", "ten", "ter", "tes", "ste", "sten", "ster", "stes"};

constexpr std::string_view kUnitLinks[] = {"oder", "auf", "statt", "plus", "minus"};
constexpr std::string_view kCenturies[] = {"jahrhundert", "jahrhunderts", "jahrhunderte", "jahrhunderten"};
constexpr std::string_view kMultipliers[] = {"×", "x", "mal"};
constexpr std::string_view kNone[] = {"kein", "niemand", "nichts", "nicht", "nie",
                                      "ohne", "frei",    "los",    "null"};
constexpr std::string_view kDecimalWords[] = {"komma"};
constexpr std::string_view kSmallerUnitLinks[] = {"und"};
constexpr std::string_view kBeforeDurations[] = {
    "dauert", "dauerte", "dauern", "dauerten", "gedauert", "lief",
    "dauer",  "dauer :", "länge",  "länge :",  "in"};
constexpr std::string_view kHalfBefore[] = {"halbe",    "halber",       "halbes",       "halben",
                                            "halb ein", "hälfte einer", "hälfte eines", "hälfte von einer"};
constexpr std::string_view kPartsBefore[] = {"halbe",       "halben",     "halber",
                                             "hälfte",      "viertel",    "hälfte von",
                                             "viertel von", "hälfte der", "viertel der"};
constexpr WrittenPart kWrittenParts[] = {{"250000", "ein Viertel einer Million"},
                                         {"500000", "eine halbe Million"},
                                         {"750000", "eine Dreiviertelmillion"},
                                         {"500000000", "eine halbe Milliarde"}};
constexpr Phrase<int> kQuarters[] = {
    {"eine viertel", 1}, {"viertel", 1},     {"ein viertel einer", 1},  {"viertel einer", 1},
    {"drei viertel", 3}, {"dreiviertel", 3}, {"drei viertel einer", 3}, {"dreiviertel einer", 3}};
constexpr Phrase<int> kQuarterHours[] = {
    {"eine viertelstunde", 1},      {"einer viertelstunde", 1},     {"viertelstunde", 1},
    {"eine viertel stunde", 1},     {"einer viertel stunde", 1},    {"viertel stunde", 1},
    {"eine dreiviertelstunde", 3},  {"einer dreiviertelstunde", 3}, {"dreiviertelstunde", 3},
    {"drei viertelstunden", 3},     {"dreiviertel stunde", 3},      {"drei viertel stunden", 3},
    {"eine dreiviertel stunde", 3}, {"einer dreiviertel stunde", 3}};
constexpr std::string_view kHalfBehind[] = {"und eine halbe", "und einen halben", "und ein halbes",
                                            "und ein halber", "und einer halben", "½"};
constexpr Phrase<int> kHalvedUnits[] = {{"stunde", 60},       {"stunden", 60},      {"jahr", 12},
                                        {"jahre", 12},        {"jahren", 12},       {"jahres", 12},
                                        {"dutzend", 12},      {"jahrzehnt", 10},    {"jahrzehnte", 10},
                                        {"jahrhundert", 100}, {"jahrhunderte", 100}};

/// Words that say a number by the way.
constexpr Phrase<int> kOptional[] = {{"eine", 1},
                                     {"einen", 1},
                                     {"einem", 1},
                                     {"einer", 1},
                                     {"eines", 1},
                                     {"einmal", 1},
                                     {"beide", 2},
                                     {"beiden", 2},
                                     {"beider", 2},
                                     {"beides", 2},
                                     {"beidem", 2},
                                     {"paar", 2},
                                     {"doppelt", 2},
                                     {"doppelte", 2},
                                     {"doppelten", 2},
                                     {"zu zweit", 2},
                                     {"zu dritt", 3},
                                     {"zu viert", 4},
                                     {"zu fünft", 5},
                                     {"zweier", 2},
                                     {"zweien", 2},
                                     {"dreier", 3},
                                     {"dreien", 3},
                                     {"vieren", 4},
                                     {"zwei hälften", 2},
                                     {"in zwei teile", 2},
                                     {"zwo", 2},
                                     {"dutzend", 12},
                                     {"jahrzehnt", 10},
                                     {"jahrzehnte", 10},
                                     {"jahrhundert", 100},
                                     {"zwilling", 2},
                                     {"zwillinge", 2},
                                     {"viertelstündige", 15},
                                     {"viertelstündigen", 15},
                                     {"vier augen", 4},
                                     {"wolke sieben", 7},
                                     {"gib acht", 8},
                                     {"gebt acht", 8},
                                     {"geben sie acht", 8},
                                     {"gib gut acht", 8},
                                     {"gebt gut acht", 8},
                                     {"geben sie gut acht", 8},
                                     {"gibt acht", 8},
                                     {"acht geben", 8},
                                     {"acht , dass", 8},
                                     {"acht darauf", 8}};

std::string_view without(std::string_view word, std::string_view ending) {
  if (word.size() <= ending.size() || !word.ends_with(ending)) return {};
  return word.substr(0, word.size() - ending.size());
}

std::optional<int64_t> below_hundred(std::string_view word) {
  if (word == "ein") return 1;
  const auto simple = std::ranges::find(kBelowTwenty, word);
  if (simple != kBelowTwenty.end()) return simple - kBelowTwenty.begin();
  if (word == "zwo") return 2;
  for (size_t ten = 2; ten < kTens.size(); ++ten) {
    const auto value = static_cast<int64_t>(10 * ten);
    if (word == kTens[ten] || (ten == 3 && word == "dreissig")) return value;
    const std::string_view unit = without(without(word, kTens[ten]), "und");
    if (unit.empty()) continue;
    const std::optional<int64_t> ones = below_hundred(unit);
    if (ones && *ones > 0 && *ones < 10 && unit != "eins") return value + *ones;
  }
  return std::nullopt;
}

/// A number of one word; `unit` is the word for a hundred or a thousand.
std::optional<int64_t> read_joined(std::string_view word);
std::optional<int64_t> read_multiple(std::string_view word, std::string_view unit, int64_t value) {
  const size_t at = word.find(unit);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view many = word.substr(0, at);
  std::string_view rest = word.substr(at + unit.size());
  if (rest.starts_with("und") && rest.size() > 3) rest.remove_prefix(3);
  const std::optional<int64_t> factor = many.empty() ? 1 : read_joined(many);
  const std::optional<int64_t> more = rest.empty() ? 0 : read_joined(rest);
  constexpr int64_t kMaxHundreds = 99;
  if (!factor || !more || *factor == 0 || *more >= value) return std::nullopt;
  if (value == 100 ? *factor > kMaxHundreds : *factor >= value) return std::nullopt;
  return *factor * value + *more;
}

/// Bytes that no number below a million reaches. Longer words are not read: that is recursive.
constexpr size_t kLongestNumber = 100;

std::optional<int64_t> read_joined(std::string_view word) {
  if (word.size() > kLongestNumber) return std::nullopt;
  if (const auto number = below_hundred(word)) return number;
  if (word.find("tausend") != std::string_view::npos) return read_multiple(word, "tausend", 1000);
  return read_multiple(word, "hundert", 100);
}

/// "erste" is 1, "einundzwanzigsten" 21.
std::optional<int64_t> read_ordinal(std::string_view word) {
  std::string_view stem;
  for (const std::string_view ending : {"e", "en", "er", "es", "em", "ens"}) {
    const std::string_view shorter = without(word, ending);
    if (shorter.ends_with('t')) stem = shorter;
  }
  if (stem == "erst") return 1;
  if (stem == "dritt") return 3;
  if (stem == "siebt") return 7;
  if (stem == "acht") return 8;
  std::optional<int64_t> number;
  if (const std::string_view ones = without(stem, "t"); !ones.empty()) number = read_joined(ones);
  if (!number || *number == 1 || *number == 3) number.reset();
  constexpr int64_t kFirstWithS = 20;
  if (number) return number;
  if (const std::string_view tens = without(stem, "st"); !tens.empty()) number = read_joined(tens);
  return number && *number >= kFirstWithS ? number : std::nullopt;
}

/// Whether a word contains "hundert", "tausend", or a ten at its end, also of an ordinal.
bool has_large_number(std::string_view word) {
  if (word.find("hundert") != std::string_view::npos || word.find("tausend") != std::string_view::npos)
    return true;
  const auto is_end = [&](size_t at) { return at == word.size() || word.substr(at).starts_with("st"); };
  for (const std::string_view ten : {"zig", "ßig"}) {
    const size_t at = word.find(ten);
    if (at != std::string_view::npos && is_end(at + ten.size())) return true;
  }
  return false;
}

/// Whether a number with this behind it is no word: "fünfzigth", "vierzehnsten", "achts", "zweimals",
/// "einhundertzweifzig". "Fünftel" is one.
bool is_broken_ending(std::string_view rest) {
  constexpr size_t kLongest = 4;
  if (rest == "s" || rest == "r" || rest == "mals" || rest.starts_with("und") || has_large_number(rest))
    return true;
  if (rest.starts_with('s')) rest.remove_prefix(1);
  return rest.size() <= kLongest && rest.starts_with('t') && !rest.starts_with("tel");
}

/// A number above 1 that a word begins with, the longest, and what is behind it.
struct NumberBeginning {
  int64_t number = 0;
  std::string_view rest;
};
std::optional<NumberBeginning> number_at_beginning(std::string_view word) {
  constexpr size_t kLeast = 3;  // letters of a number
  for (size_t length = std::min(word.size() - 1, kLongestNumber); length >= kLeast; --length) {
    const auto number = read_joined(word.substr(0, length));
    if (number && *number > 1) return NumberBeginning{*number, word.substr(length)};
  }
  return std::nullopt;
}

/// Whether the rest of a compound counts for certain: "vierjährig". "Hundertjährig" may be "centennial".
bool counts_for_certain(const NumberBeginning& compound) {
  constexpr std::string_view kCounted[] = {"jährig", "monatig", "wöchig", "tägig", "stündig", "minütig"};
  constexpr int64_t kLeast = 4, kMost = 99, kFortnight = 14;
  return compound.number >= kLeast && compound.number <= kMost && compound.number != kFortnight &&
         std::ranges::any_of(kCounted,
                             [&](std::string_view each) { return compound.rest.starts_with(each); });
}

/// The number that another word begins with: "zweimal", "dreijährig", "Zehnerpackung".
std::optional<WordNumber> read_compound(std::string_view word) {
  const auto beginning = number_at_beginning(word);
  if (!beginning || is_broken_ending(beginning->rest)) return std::nullopt;
  const std::string_view rest = beginning->rest;
  const auto unit =
      std::ranges::find_if(kCompoundUnits, [&](const auto& each) { return rest.starts_with(each.words); });
  constexpr int64_t kHundred = 100;  // "hundertprozentig" is "completely"
  const bool is_percentage =
      unit != std::end(kCompoundUnits) && unit->meaning == Unit::kPercent && beginning->number < kHundred;
  // "Vierer" is no hour, and "Sechsuhrzug" has one.
  return WordNumber{.value = beginning->number,
                    .tokens = 1,
                    .optional = !counts_for_certain(*beginning) && !is_percentage,
                    .determiner = !rest.starts_with("uhr"),
                    .unit = unit == std::end(kCompoundUnits) ? Unit::kNone : unit->meaning};
}

/// "anderthalb", "zweieinhalb" and "zweieinhalbtausend", also in compounds: "zweieinhalbstündig".
std::optional<WordNumber> read_joined_half(std::string_view word) {
  constexpr std::string_view kOneAndAHalf = "anderthalb", kAndAHalf = "einhalb";
  std::optional<int64_t> whole;
  std::string_view rest;
  if (word.starts_with(kOneAndAHalf)) {
    whole = 1;
    rest = word.substr(kOneAndAHalf.size());
  } else if (const size_t at = word.find(kAndAHalf); at != std::string_view::npos && at > 0) {
    whole = read_joined(word.substr(0, at));
    rest = word.substr(at + kAndAHalf.size());
  }
  if (!whole) return std::nullopt;
  if (rest == "tausend") return WordNumber{*whole * 1000 + 500, 1};
  return WordNumber{.value = *whole, .tokens = 1, .half = true};
}

/// "Neunzigerjahre", "neunziger Jahre"; "Neunziger" alone may be an age.
std::optional<WordNumber> read_decade(TextTokens tokens) {
  std::string_view word = tokens[0].lower;
  bool years = false;
  for (const std::string_view ending : {"jahre", "jahren"}) {
    const std::string_view before = without(word, ending);
    years = years || !before.empty() || begins_with(tokens.subspan(1), ending);
    if (!before.empty()) word = before;
  }
  const std::string_view ten = without(word, "er");
  if (!years || ten.empty() || std::ranges::find(kTens, ten) == kTens.end()) return std::nullopt;
  return WordNumber{.value = *below_hundred(ten), .tokens = 1, .decade = true};
}

/// Letters that almost every number word has one of.
constexpr std::array<std::string_view, 16> kSyllables{"eins", "zwei", "drei", "vier", "fünf", "sech",
                                                      "sieb", "acht", "neun", "zehn", "elf",  "zwölf",
                                                      "zig",  "hund", "taus", "ßig"};

int64_t count_syllables(std::string_view word) {
  return std::ranges::count_if(
      kSyllables, [&](std::string_view syllable) { return word.find(syllable) != std::string_view::npos; });
}

/// Refuses most words fast.
bool may_be_number(std::string_view word) {
  return count_syllables(word) > 0 || word.starts_with("erst") || word.starts_with("dritt") ||
         word == "null" || word == "dreissig" || word == "ein";
}

std::optional<WordNumber> read_words(TextTokens tokens) {
  if (!tokens[0].is_word()) return std::nullopt;
  if (const auto number = read_optional_number(kOptional, tokens)) return number;
  const std::string_view word = tokens[0].lower;
  if (word == "viertelmillion") return WordNumber{.value = 250'000, .tokens = 1, .part = true};
  if (word == "dreiviertelmillion") return WordNumber{.value = 750'000, .tokens = 1, .part = true};
  if (const auto number = read_joined_half(word)) return number;
  if (!may_be_number(word)) return std::nullopt;
  constexpr std::string_view kOne = "ein";
  const bool lacks_s =
      word.size() > kOne.size() && word.ends_with(kOne) && (tokens.size() == 1 || !tokens[1].is_word());
  if (const auto number = lacks_s ? std::nullopt : read_joined(word)) {
    const bool vague = *number <= 1 || word == "hundert" || word == "tausend" || word == "einhundert" ||
                       word == "eintausend";
    // "Acht" with a capital inside a sentence is attention.
    const bool noun = tokens[0].capitalized && (word == "acht" || word == "null" || word == "elf");
    return WordNumber{*number, 1, false, vague || noun};
  }
  if (const auto number = read_ordinal(word)) {
    // "Achten" is to respect, too.
    const bool optional = has_other_senses(*number) || *number == 8 || *number == 100 || *number == 1000;
    return WordNumber{*number, 1, true, optional};
  }
  if (const auto decade = read_decade(tokens)) return decade;
  return read_compound(word);
}

bool is_broken_number(std::string_view word) {
  if (!may_be_number(word) || read_joined(word) || read_ordinal(word)) return false;
  if (const auto beginning = number_at_beginning(word)) return is_broken_ending(beginning->rest);
  return has_large_number(word) && count_syllables(word) > 1 && !word.starts_with("jahr");
}

std::string without_s(std::string number) {
  if (number.ends_with("eins")) number.pop_back();
  return number;
}

std::string write_below_thousand(int64_t number) {
  const auto n = static_cast<size_t>(number);
  if (n >= 100) {
    return without_s(write_below_thousand(number / 100)) + "hundert" +
           (n % 100 == 0 ? "" : write_below_thousand(number % 100));
  }
  if (n < kBelowTwenty.size()) return std::string(kBelowTwenty[n]);
  if (n % 10 == 0) return std::string(kTens[n / 10]);
  return without_s(std::string(kBelowTwenty[n % 10])) + "und" + std::string(kTens[n / 10]);
}

std::string write_words(int64_t number) {
  const auto joined = [](int64_t n) { return write_below_thousand(n); };
  if (number < 1000) return joined(number);
  return without_s(joined(number / 1000)) + "tausend" + (number % 1000 == 0 ? "" : joined(number % 1000));
}

std::string write_half(int64_t whole) {
  if (whole == 0) return "eine halbe";
  return whole == 1 ? "anderthalb" : without_s(write_words(whole)) + "einhalb";
}

std::string write_ordinal(std::string_view figures) {
  return fmt::format("{}.", figures);
}

std::vector<std::string> write_date(const Value& date) {
  const std::string_view month = kMonths[static_cast<size_t>(date.month - 1)];
  if (date.day == 0) return {std::string(month)};
  if (date.year == 0) return {fmt::format("{}. {}", date.day, month)};
  return {fmt::format("{}. {} {}", date.day, month, date.year),
          fmt::format("{:02}.{:02}.{}", date.day, date.month, date.year)};
}

std::vector<std::string> write_time(const Value& time) {
  const int minute = time.minute % 60, hour = time.half_day && time.minute < 60 ? 12 : time.minute / 60;
  const std::string written =
      minute == 0 ? fmt::format("{} Uhr", hour) : fmt::format("{}:{:02} Uhr", hour, minute);
  if (!time.half_day) return {written, fmt::format("{}:{:02}", hour, minute)};
  const auto name = [](int h) { return write_words((h + 11) % 12 + 1); };
  const std::string spoken = minute == 0    ? (name(hour) == "eins" ? "ein" : name(hour)) + " Uhr"
                             : minute == 15 ? "Viertel nach " + name(hour)
                             : minute == 30 ? "halb " + name(hour + 1)
                             : minute == 45 ? "Viertel vor " + name(hour + 1)
                             : minute < 30  ? write_words(minute) + " nach " + name(hour)
                                            : write_words(60 - minute) + " vor " + name(hour + 1);
  return {spoken, written};
}

const ValueLanguage& values() {
  static const ValueLanguage language{
      .code = "de",
      .decimal_mark = ',',
      .group_mark = '.',
      .spaced_thousands = true,
      .ordinal_period = true,
      .joins_words = true,
      .ordinal_endings = kOrdinalEndings,
      .months = kMonthNames,
      .short_months = kShortMonths,
      .weekdays = kWeekdays,
      .capital_weekdays = true,
      .short_weekdays = kShortWeekdays,
      .weekdays_as_words = kWeekdaysAsWords,
      .weekdays_as_titles = kWeekdaysAsTitles,
      .relative_days = kRelativeDays,
      .behind_weekdays = kBehindWeekdays,
      .times = kTimes,
      .clock_words = kClockWords,
      .hour_before_clock_word = "ein",
      .hour_of_one = "eins",
      .time_marks = kClockWords,
      .durations = kDurations,
      .before_durations = kBeforeDurations,
      .periods = kPeriods,
      .short_periods = kShortPeriods,
      .period_stems = kPeriodStems,
      .anniversaries = kAnniversaries,
      .parts_of_day = kPartsOfDay,
      .words_of_part_of_day = kWordsOfPart,
      .links_of_parts = kLinksOfParts,
      .before_greetings = kBeforeGreetings,
      .named_times = kNamedTimes,
      .ranges = kRanges,
      .conjunction = "und",
      .before_conjunction = "zwischen",
      .written_range = "von {} bis {}",
      .before_ranges = kBeforeRanges,
      .before_times = kBeforeTimes,
      .for_whom = "für",
      .before_labels = kBeforeLabels,
      .half_before = kHalfBefore,
      .half_behind = kHalfBehind,
      .parts_before = kPartsBefore,
      .quarters = kQuarters,
      .quarter_hours = kQuarterHours,
      .written_quarter_hours = {"eine Viertelstunde", "eine Dreiviertelstunde"},
      .written_decade = "{}er",
      .halved_units = kHalvedUnits,
      .scales = kScales,
      .written_scales = kWrittenScales,
      .written_parts = kWrittenParts,
      .decimal_words = kDecimalWords,
      .smaller_unit_links = kSmallerUnitLinks,
      .units = kUnits,
      .unit_links = kUnitLinks,
      .paying = "zahl",
      .units_before = kUnitsBefore,
      .multipliers = kMultipliers,
      .none = kNone,
      .centuries = kCenturies,
      .capital_nouns = true,
      .minus = kMinus,
      .below_zero = kBelowZero,
      .read_words = read_words,
      .is_broken_number = is_broken_number,
      .write_words = write_words,
      .write_half = write_half,
      .write_ordinal = write_ordinal,
      .write_date = write_date,
      .write_time = write_time};
  return language;
}

}  // namespace german

const ValueLanguage& german_values() {
  return german::values();
}

}  // namespace heed::translate
