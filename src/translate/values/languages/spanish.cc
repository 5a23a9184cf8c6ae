// Values in Spanish. Times have an article: "las nueve y media"; thousands have a point as in Spain, unless
// other figures of the text have a decimal point as in Mexico.
#include <fmt/format.h>
#include <algorithm>

#include "translate/values/languages/number_words.h"
#include "translate/values/languages/value_language.h"

namespace heed::translate {
namespace spanish {

using Reading = TimePattern::Reading;
using Role = NumberWord::Role;

constexpr std::array<std::string_view, 30> kBelowThirty{
    "cero",         "uno",         "dos",        "tres",        "cuatro",     "cinco",
    "seis",         "siete",       "ocho",       "nueve",       "diez",       "once",
    "doce",         "trece",       "catorce",    "quince",      "dieciséis",  "diecisiete",
    "dieciocho",    "diecinueve",  "veinte",     "veintiuno",   "veintidós",  "veintitrés",
    "veinticuatro", "veinticinco", "veintiséis", "veintisiete", "veintiocho", "veintinueve"};
constexpr std::array<std::string_view, 10> kTens{"",          "",        "",        "treinta", "cuarenta",
                                                 "cincuenta", "sesenta", "setenta", "ochenta", "noventa"};
constexpr std::array<std::string_view, 10> kHundreds{
    "",           "ciento",      "doscientos",  "trescientos", "cuatrocientos",
    "quinientos", "seiscientos", "setecientos", "ochocientos", "novecientos"};

constexpr NumberWord kNumberWords[] = {{"un", 1, Role::kUnit},
                                       {"uno", 1, Role::kUnit},
                                       {"una", 1, Role::kUnit},
                                       {"dos", 2, Role::kUnit},
                                       {"tres", 3, Role::kUnit},
                                       {"cuatro", 4, Role::kUnit},
                                       {"cinco", 5, Role::kUnit},
                                       {"seis", 6, Role::kUnit},
                                       {"siete", 7, Role::kUnit},
                                       {"ocho", 8, Role::kUnit},
                                       {"nueve", 9, Role::kUnit},
                                       {"cero", 0, Role::kTeen},
                                       {"diez", 10, Role::kTeen},
                                       {"once", 11, Role::kTeen},
                                       {"doce", 12, Role::kTeen},
                                       {"trece", 13, Role::kTeen},
                                       {"catorce", 14, Role::kTeen},
                                       {"quince", 15, Role::kTeen},
                                       {"dieciséis", 16, Role::kTeen},
                                       {"diecisiete", 17, Role::kTeen},
                                       {"dieciocho", 18, Role::kTeen},
                                       {"diecinueve", 19, Role::kTeen},
                                       {"veinte", 20, Role::kTeen},
                                       {"veintiuno", 21, Role::kTeen},
                                       {"veintiún", 21, Role::kTeen},
                                       {"veintiuna", 21, Role::kTeen},
                                       {"veintidós", 22, Role::kTeen},
                                       {"veintitrés", 23, Role::kTeen},
                                       {"veinticuatro", 24, Role::kTeen},
                                       {"veinticinco", 25, Role::kTeen},
                                       {"veintiséis", 26, Role::kTeen},
                                       {"veintisiete", 27, Role::kTeen},
                                       {"veintiocho", 28, Role::kTeen},
                                       {"veintinueve", 29, Role::kTeen},
                                       {"treinta", 30, Role::kTen},
                                       {"cuarenta", 40, Role::kTen},
                                       {"cincuenta", 50, Role::kTen},
                                       {"sesenta", 60, Role::kTen},
                                       {"setenta", 70, Role::kTen},
                                       {"ochenta", 80, Role::kTen},
                                       {"noventa", 90, Role::kTen},
                                       {"cien", 100, Role::kTeen},
                                       {"ciento", 100, Role::kHundreds},
                                       {"doscientos", 200, Role::kHundreds},
                                       {"doscientas", 200, Role::kHundreds},
                                       {"trescientos", 300, Role::kHundreds},
                                       {"trescientas", 300, Role::kHundreds},
                                       {"cuatrocientos", 400, Role::kHundreds},
                                       {"cuatrocientas", 400, Role::kHundreds},
                                       {"quinientos", 500, Role::kHundreds},
                                       {"quinientas", 500, Role::kHundreds},
                                       {"seiscientos", 600, Role::kHundreds},
                                       {"seiscientas", 600, Role::kHundreds},
                                       {"setecientos", 700, Role::kHundreds},
                                       {"setecientas", 700, Role::kHundreds},
                                       {"ochocientos", 800, Role::kHundreds},
                                       {"ochocientas", 800, Role::kHundreds},
                                       {"novecientos", 900, Role::kHundreds},
                                       {"novecientas", 900, Role::kHundreds},
                                       {"mil", 1000, Role::kThousand}};
constexpr NumberGrammar kGrammar{.words = kNumberWords, .after_ten = "y", .after_hundred = ""};

constexpr std::array<std::string_view, 12> kMonths{"enero",      "febrero", "marzo",     "abril",
                                                   "mayo",       "junio",   "julio",     "agosto",
                                                   "septiembre", "octubre", "noviembre", "diciembre"};
constexpr Phrase<int> kMonthNames[] = {
    {"enero", 1},    {"febrero", 2},    {"marzo", 3},     {"abril", 4},      {"mayo", 5},
    {"junio", 6},    {"julio", 7},      {"agosto", 8},    {"septiembre", 9}, {"setiembre", 9},
    {"octubre", 10}, {"noviembre", 11}, {"diciembre", 12}};
constexpr Phrase<int> kShortMonths[] = {{"ene", 1},  {"feb", 2},  {"mar", 3}, {"abr", 4}, {"may", 5},
                                        {"jun", 6},  {"jul", 7},  {"ago", 8}, {"sep", 9}, {"sept", 9},
                                        {"oct", 10}, {"nov", 11}, {"dic", 12}};
constexpr std::string_view kDayLinks[] = {"de", "del", "de el", ","};

constexpr Phrase<int> kWeekdays[] = {{"lunes", 1},   {"martes", 2},    {"miércoles", 3},
                                     {"jueves", 4},  {"viernes", 5},   {"sábado", 6},
                                     {"domingo", 7}, {"miercoles", 3}, {"sabado", 6}};
constexpr Phrase<int> kShortWeekdays[] = {{"lun", 1}, {"mar", 2}, {"mié", 3}, {"mie", 3}, {"jue", 4},
                                          {"vie", 5}, {"sáb", 6}, {"sab", 6}, {"dom", 7}};
constexpr std::string_view kBehindWeekdays[] = {"s"};

constexpr Phrase<int> kRelativeDays[] = {{"pasado mañana", kDayAfterTomorrow},
                                         {"anteayer", kDayBeforeYesterday},
                                         {"antes de ayer", kDayBeforeYesterday},
                                         {"antier", kDayBeforeYesterday}};
constexpr TimePattern kTimes[] = {
    {.pattern = "las H y media", .minutes = 30},
    {.pattern = "las H y cuarto", .minutes = 15},
    {.pattern = "las H menos cuarto", .minutes = -15},
    {.pattern = "las H y M", .to_the_hour = true},
    {.pattern = "las H menos M", .sign = -1},
    {.pattern = "las H en punto"},
    {.pattern = "H y media", .minutes = 30, .certain = false},
    {.pattern = "H y cuarto", .minutes = 15},
    {.pattern = "H menos cuarto", .minutes = -15},
    {.pattern = "cuarto para las H", .minutes = -15},
    {.pattern = "M minutos para las H", .sign = -1},
    {.pattern = "M para las H", .sign = -1, .before_or_after = true},
    {.pattern = "las H : MM", .reading = Reading::kWritten},
    {.pattern = "las H . MM", .reading = Reading::kWritten},
    {.pattern = "las H M", .reading = Reading::kWritten, .certain = false, .in_words = true},
    {.pattern = "las H horas", .reading = Reading::kWritten, .certain = false},
    {.pattern = "las H", .reading = Reading::kSpoken, .certain = false},
    {.pattern = "H : MM h", .reading = Reading::kWritten},
    {.pattern = "H . MM h", .reading = Reading::kWritten},
    {.pattern = "H : MM horas", .reading = Reading::kWritten},
    {.pattern = "H : MM", .reading = Reading::kWritten, .certain = false},
    {.pattern = "H", .needs_part = true},
};

constexpr Phrase<PartOfDay> kPartsOfDay[] = {
    {"a . m .", PartOfDay::kMorning},
    {"a . m", PartOfDay::kMorning},
    {"am", PartOfDay::kMorning},
    {"p . m .", PartOfDay::kAfternoon},
    {"p . m", PartOfDay::kAfternoon},
    {"pm", PartOfDay::kAfternoon},
    {"de la mañana", PartOfDay::kMorning},
    {"del mediodía", PartOfDay::kNoon},
    {"de mediodía", PartOfDay::kNoon},
    {"de la tarde", PartOfDay::kAfternoon},
    {"de la noche", PartOfDay::kNight},
    {"de la madrugada", PartOfDay::kMorning},
    {"de madrugada", PartOfDay::kMorning},
    {"de noche", PartOfDay::kNight},
    {"en la mañana", PartOfDay::kMorning},
    {"en la tarde", PartOfDay::kAfternoon},
    {"en la noche", PartOfDay::kNight},
    {"por la mañana", PartOfDay::kMorning},
    {"por la tarde", PartOfDay::kAfternoon},
    {"por la noche", PartOfDay::kNight},
};
constexpr Phrase<PartOfDay> kWordsOfPart[] = {
    {"madrugada", PartOfDay::kMorning},    {"am", PartOfDay::kMorning},
    {"la tarde", PartOfDay::kAfternoon},   {"esta tarde", PartOfDay::kAfternoon},
    {"las tardes", PartOfDay::kAfternoon}, {"pm", PartOfDay::kAfternoon},
    {"la noche", PartOfDay::kNight},       {"esta noche", PartOfDay::kNight},
    {"las noches", PartOfDay::kNight},     {"al mediodía", PartOfDay::kNoon}};
constexpr std::string_view kLinksOfParts[] = {"a", "hacia", "sobre"};
constexpr std::string_view kClockWords[] = {"pm", "am", "p . m .", "a . m .", "h", "horas"};
constexpr std::string_view kDurations[] = {"min", "minuto", "minutos", "seg", "segundos"};
constexpr Phrase<Period> kPeriods[] = {
    {"segundo", Period::kSecond}, {"segundos", Period::kSecond}, {"minuto", Period::kMinute},
    {"minutos", Period::kMinute}, {"hora", Period::kHour},       {"horas", Period::kHour},
    {"día", Period::kDay},        {"días", Period::kDay},        {"semana", Period::kWeek},
    {"semanas", Period::kWeek},   {"mes", Period::kMonth},       {"meses", Period::kMonth},
    {"año", Period::kYear},       {"años", Period::kYear},       {"min", Period::kMinute},
    {"seg", Period::kSecond}};
constexpr Phrase<PeriodWords> kShortPeriods[] = {{"min", {"minuto", "minutos"}},
                                                 {"seg", {"segundo", "segundos"}}};
constexpr std::string_view kAnniversaries[] = {"cumpleaños", "aniversario", "aniversarios"};
constexpr Phrase<int> kNamedTimes[] = {{"mediodía", 720}, {"medianoche", 0}};
constexpr Phrase<int> kScales[] = {{"mil", 3},      {"miles de millones", 9}, {"millón", 6},
                                   {"millones", 6}, {"billón", 12},           {"billones", 12}};
constexpr Phrase<int> kWrittenScales[] = {{"billones", 12}, {"millones", 6}};
constexpr UnitWords kUnits[] = {
    {Unit::kPercent,
     "{} %",
     "{} por ciento",
     {"%", "por ciento", "por cien", "porciento", "puntos porcentuales"}},
    {Unit::kEuro, "{} €", "{} euros", {"€", "euro", "euros", "de euros", "de €", "eur"}},
    {Unit::kDollar,
     "{} dólares",
     "{} $",
     {"de dólares", "de $", "de usd", "dolares", "$", "dólar", "dólares", "usd"}},
    {Unit::kPound, "{} libras", "{} £", {"£", "de £", "gbp", "libras esterlinas", "de libras esterlinas"}},
    {Unit::kPounds, "{} libras", "{} £", {"libra", "libras", "de libras"}},
    {Unit::kCent, "{} centavos", "{} céntimos", {"céntimo", "céntimos", "centavo", "centavos"}},
    {Unit::kPenny, "{} peniques", "{} penique", {"penique", "peniques"}},
    {Unit::kPeso, "{} pesos", "{} peso", {"peso", "pesos", "de pesos"}},
    {Unit::kDegree, "{} grados", "{} °C", {"°", "º", "grado", "grados"}},
    {Unit::kCelsius,
     "{} °C",
     "{} grados centígrados",
     {"° c", "º c", "ºc", "grados centígrados", "grados celsius"}},
    {Unit::kFahrenheit, "{} °F", "{} grados Fahrenheit", {"° f", "º f", "ºf", "grados fahrenheit"}},
    {Unit::kKilogram,
     "{} kg",
     "{} kilos",
     {"kg", "kilo", "kilos", "quilo", "quilos", "kilogramo", "kilogramos"}},
    {Unit::kMilligram, "{} mg", "{} miligramos", {"mg", "miligramo", "miligramos"}},
    {Unit::kGram, "{} g", "{} gramos", {"g", "gramo", "gramos"}},
    {Unit::kKilometre, "{} km", "{} kilómetros", {"km", "kilómetro", "kilómetros"}},
    {Unit::kMetre, "{} m", "{} metros", {"m", "metro", "metros"}},
    {Unit::kCentimetre, "{} cm", "{} centímetros", {"cm", "centímetro", "centímetros"}},
    {Unit::kMillimetre, "{} mm", "{} milímetros", {"mm", "milímetro", "milímetros"}},
    {Unit::kMillisecond, "{} ms", "{} milisegundos", {"ms", "milisegundo", "milisegundos"}},
    {Unit::kMillilitre, "{} ml", "{} mililitros", {"ml", "mililitro", "mililitros"}},
    {Unit::kLitre, "{} l", "{} litros", {"l", "litro", "litros"}},
    {Unit::kMile, "{} millas", "{} milla", {"milla", "millas"}},
    {Unit::kYard, "{} yardas", "{} yarda", {"yarda", "yardas"}},
    {Unit::kFoot, "{} pies", "{} pie", {"pie", "pies"}},
    {Unit::kInch, "{} pulgadas", "{} pulgada", {"pulgada", "pulgadas"}},
    {Unit::kAcre, "{} acres", "{} acre", {"acre", "acres"}},
    {Unit::kHectare, "{} hectáreas", "{} ha", {"ha", "hectárea", "hectáreas", "de hectáreas"}},
    {Unit::kTon, "{} toneladas", "{} t", {"tonelada", "toneladas", "de toneladas", "t"}},
    {Unit::kOunce, "{} onzas", "{} onza", {"onza", "onzas"}},
    {Unit::kGallon, "{} galones", "{} galón", {"galón", "galones", "de galones"}},
    {Unit::kKilometresPerHour,
     "{} km/h",
     "{} kilómetros por hora",
     {"km / h", "kilómetros por hora", "km por hora", "kilómetros a la hora"}},
    {Unit::kMilesPerHour, "{} millas por hora", "{} mph", {"mph", "millas por hora", "millas a la hora"}},
    {Unit::kMilesPerGallon, "{} millas por galón", "{} mpg", {"millas por galón", "mpg"}},
    {Unit::kBar, "{} bar", "{} bares", {"bar"}},
    {Unit::kBars, "{} bares", "{} bar", {"bares"}},
    {Unit::kMillimetreOfMercury,
     "{} mmHg",
     "{} milímetros de mercurio",
     {"mmhg", "mm hg", "milímetros de mercurio", "mm de mercurio"}},
    {Unit::kSquareMetre, "{} m²", "{} metros cuadrados", {"m ²", "metro cuadrado", "metros cuadrados"}},
    {Unit::kSquareKilometre,
     "{} km²",
     "{} kilómetros cuadrados",
     {"km ²", "kilómetro cuadrado", "kilómetros cuadrados", "de kilómetros cuadrados"}},
    {Unit::kSquareMile,
     "{} millas cuadradas",
     "{} milla cuadrada",
     {"milla cuadrada", "millas cuadradas", "de millas cuadradas"}},
    {Unit::kSquareFoot, "{} pies cuadrados", "{} pie cuadrado", {"ft ²", "pie cuadrado", "pies cuadrados"}},
    {Unit::kCubicMetre, "{} m³", "{} metros cúbicos", {"m ³", "metro cúbico", "metros cúbicos"}},
    {Unit::kTerabyte, "{} TB", "{} terabytes", {"tb", "terabyte", "terabytes", "teras"}},
    {Unit::kGigabyte, "{} GB", "{} gigabytes", {"gb", "gigabyte", "gigabytes", "gigas"}},
    {Unit::kMegabyte, "{} MB", "{} megabytes", {"mb", "megabyte", "megabytes", "megas"}},
    {Unit::kKilobyte, "{} kB", "{} kilobytes", {"kb", "kilobyte", "kilobytes"}},
    {Unit::kByte, "{} bytes", "{} byte", {"byte", "bytes"}},
    {Unit::kBeforeChrist,
     "{} a. C.",
     "{} antes de Cristo",
     {"a . c .", "a . c", "a . de c .", "antes de cristo"}},
};
constexpr Phrase<Unit> kUnitsBefore[] = {{"€", Unit::kEuro}, {"$", Unit::kDollar}, {"£", Unit::kPound}};
constexpr std::string_view kMinus[] = {"menos"};
constexpr std::string_view kCertainMinus[] = {"es menos", "era menos", "fue menos", "a menos", "de menos"};
constexpr std::string_view kBelowZero[] = {"bajo cero", "negativos"};
constexpr std::string_view kRanges[] = {"a", "al", "-", "–", "y", "hasta", "hasta el", "a el"};
constexpr std::string_view kBeforeDecades[] = {"década de", "década de los", "años", "los"};
constexpr std::string_view kBeforeClockTimes[] = {"a",   "hacia", "hasta", "sobre",    "desde",
                                                  "son", "eran",  "serán", "partir de"};
constexpr std::string_view kBehindTimes[] = {"horas", "antes",  "entonces",  "mientras", "apenas",
                                             "lunes", "martes", "miércoles", "jueves",   "viernes"};
constexpr std::string_view kBeforeRanges[] = {"de", "desde", "a", "a partir de", "entre", "en"};
constexpr std::string_view kOrdinalEndings[] = {"º", "ª", "o", "a", "er", "ro", "do", "to"};

constexpr std::string_view kUnitLinks[] = {"o", "u", "más", "menos"};
constexpr std::string_view kCenturies[] = {"siglo", "siglos"};
constexpr std::string_view kMultipliers[] = {"×", "x", "veces"};
constexpr std::string_view kNone[] = {"no",  "ningún", "ninguno", "ninguna", "nadie", "nada",
                                      "sin", "nunca",  "cero",    "libre",   "libres"};
constexpr std::string_view kDecimalWords[] = {"coma", "punto"};
constexpr std::string_view kSmallerUnitLinks[] = {"con", "y"};
constexpr std::string_view kBeforeDurations[] = {"dura",     "duró",       "duran",       "duraron", "duraba",
                                                 "duración", "duración :", "duración de", "en"};
constexpr std::string_view kHalfBefore[] = {"medio", "media", "mitad de un", "mitad de una"};
constexpr std::string_view kPartsBefore[] = {"medio",
                                             "media",
                                             "mitad de",
                                             "mitad de unos",
                                             "mitad de unas",
                                             "cuarto de",
                                             "cuarta parte de",
                                             "cuarta parte de unos",
                                             "cuarta parte de unas"};
constexpr WrittenPart kWrittenParts[] = {
    {"250000", "un cuarto de millón"}, {"500000", "medio millón"}, {"750000", "tres cuartos de millón"}};
constexpr Phrase<int> kQuarters[] = {{"un cuarto de", 1},       {"cuarto de", 1},
                                     {"un cuarto de un", 1},    {"una cuarta parte de un", 1},
                                     {"cuarta parte de un", 1}, {"tres cuartos de", 3},
                                     {"tres cuartos de un", 3}, {"tres cuartas partes de un", 3}};
constexpr Phrase<int> kQuarterHours[] = {
    {"un cuarto de hora", 1}, {"cuarto de hora", 1}, {"tres cuartos de hora", 3}};
constexpr std::string_view kHalfBehind[] = {"y medio", "y media", "½"};
constexpr Phrase<int> kHalvedUnits[] = {{"hora", 60},   {"horas", 60},   {"año", 12},    {"años", 12},
                                        {"docena", 12}, {"docenas", 12}, {"década", 10}, {"décadas", 10},
                                        {"siglo", 100}, {"siglos", 100}};

/// Words that say a number by the way.
constexpr Phrase<int> kOptional[] = {
    {"ambos", 2},     {"ambas", 2},     {"par", 2},        {"pareja", 2},      {"doble", 2},
    {"gemelos", 2},   {"gemelas", 2},   {"triple", 3},     {"docena", 12},     {"docenas", 12},
    {"década", 10},   {"décadas", 10},  {"siglo", 100},    {"decena", 10},     {"quincena", 15},
    {"veintes", 20},  {"treintas", 30}, {"cuarentas", 40}, {"cincuentas", 50}, {"sesentas", 60},
    {"setentas", 70}, {"ochentas", 80}, {"noventas", 90},  {"primeros", 1},    {"primeras", 1},
    {"único", 1},     {"única", 1},     {"dos mitades", 2}};
constexpr std::array<std::string_view, 9> kOrdinalStems{"primer", "segund", "tercer", "cuart", "quint",
                                                        "sext",   "séptim", "octav",  "noven"};
/// As words of their own, and as they begin a longer one.
struct OrdinalTen {
  std::string_view alone, joined;
};
constexpr std::array<OrdinalTen, 9> kOrdinalTens{{{"décim", "decimo"},
                                                  {"vigésim", "vigesimo"},
                                                  {"trigésim", "trigesimo"},
                                                  {"cuadragésim", "cuadragesimo"},
                                                  {"quincuagésim", "quincuagesimo"},
                                                  {"sexagésim", "sexagesimo"},
                                                  {"septuagésim", "septuagesimo"},
                                                  {"octogésim", "octogesimo"},
                                                  {"nonagésim", "nonagesimo"}}};

/// "primer", "primero" and "primera" are 1, "noveno" 9; 0 for another word.
int64_t ordinal_unit(std::string_view word) {
  for (size_t n = 0; n < kOrdinalStems.size(); ++n) {
    const std::string_view stem = kOrdinalStems[n];
    if (!word.starts_with(stem)) continue;
    const std::string_view ending = word.substr(stem.size());
    const bool shortened = ending.empty() && stem.ends_with("er");
    if (shortened || ending == "o" || ending == "a") return static_cast<int64_t>(n) + 1;
  }
  return 0;
}

/// "trigésimo primer" is 31, "vigésima" 20, "decimoquinto" and "undécimo" 15 and 11. Some may be something
/// else: "la quinta", "un décimo".
std::optional<WordNumber> read_ordinal(TextTokens tokens) {
  const std::string_view word = tokens[0].lower;
  const auto number = [](int64_t value, size_t count) {
    const bool other_senses = value <= 5 || value == 10;
    return WordNumber{.value = value,
                      .tokens = count,
                      .ordinal = true,
                      .optional = other_senses,
                      .determiner = other_senses};
  };
  if (const int64_t unit = ordinal_unit(word); unit > 0) return number(unit, 1);
  if (word == "undécimo" || word == "undécima") return number(11, 1);
  if (word == "duodécimo" || word == "duodécima") return number(12, 1);
  for (size_t n = 0; n < kOrdinalTens.size(); ++n) {
    const auto& [alone, joined] = kOrdinalTens[n];
    const auto tens = static_cast<int64_t>(10 * (n + 1));
    if (word.starts_with(joined)) {
      const int64_t unit = ordinal_unit(word.substr(joined.size()));
      if (unit > 0) return number(tens + unit, 1);
    }
    if (!word.starts_with(alone)) continue;
    const std::string_view ending = word.substr(alone.size());
    if (ending != "o" && ending != "a") continue;
    const int64_t unit = tokens.size() > 1 ? ordinal_unit(tokens[1].lower) : 0;
    return number(tens + unit, unit > 0 ? 2 : 1);
  }
  return std::nullopt;
}

std::optional<WordNumber> read_words(TextTokens tokens) {
  if (!tokens[0].is_word()) return std::nullopt;
  const auto optional = read_optional_number(kOptional, tokens);
  if (optional && optional->tokens > 1) return optional;  // "dos mitades"
  if (auto number = read_number_words(kGrammar, tokens)) {
    if (begins_with(tokens, "quince días")) number->otherwise = 14;  // a fortnight
    return number;
  }
  return optional ? optional : read_ordinal(tokens);
}

std::string write_below_thousand(int64_t number) {
  const auto n = static_cast<size_t>(number);
  if (n == 100) return "cien";
  if (n > 100)
    return std::string(kHundreds[n / 100]) + (n % 100 == 0 ? "" : " " + write_below_thousand(number % 100));
  if (n < kBelowThirty.size()) return std::string(kBelowThirty[n]);
  return std::string(kTens[n / 10]) + (n % 10 == 0 ? "" : " y " + std::string(kBelowThirty[n % 10]));
}

std::string write_words(int64_t number) {
  if (number < 1000) return write_below_thousand(number);
  std::string thousands = number < 2000 ? "mil" : write_below_thousand(number / 1000);
  if (thousands.ends_with("veintiuno")) thousands.replace(thousands.size() - 3, 3, "ún");
  if (thousands.ends_with("uno")) thousands.pop_back();
  return thousands + (number < 2000 ? "" : " mil") +
         (number % 1000 == 0 ? "" : " " + write_below_thousand(number % 1000));
}

/// Others stand behind the unit: "dos horas y media".
std::string write_half(int64_t whole) {
  return whole == 0 ? "media" : "";
}

/// A cardinal, "piso 20": "20.º" and "20.ª" need the gender, and most vocabularies write them "20.o".
std::string write_ordinal(std::string_view figures) {
  return std::string(figures);
}

std::vector<std::string> write_date(const Value& date) {
  const std::string_view month = kMonths[static_cast<size_t>(date.month - 1)];
  if (date.day == 0) return {std::string(month)};
  if (date.year == 0) return {fmt::format("{} de {}", date.day, month)};
  return {fmt::format("{} de {} de {}", date.day, month, date.year)};
}

std::vector<std::string> write_time(const Value& time) {
  const int minute = time.minute % 60, hour = time.half_day && time.minute < 60 ? 12 : time.minute / 60;
  const auto with_article = [](int h, bool words) {
    const int face = (h + 11) % 12 + 1;
    if (!words) return fmt::format("{} {}", h == 1 ? "la" : "las", h);
    return face == 1 ? std::string("la una") : "las " + write_words(face);
  };
  const std::string written = fmt::format("{}:{:02}", with_article(hour, false), minute);
  if (!time.half_day) return {written};
  const std::string spoken = minute == 0    ? with_article(hour, true)
                             : minute == 15 ? with_article(hour, true) + " y cuarto"
                             : minute == 30 ? with_article(hour, true) + " y media"
                             : minute == 45 ? with_article(hour + 1, true) + " menos cuarto"
                             : minute < 30
                                 ? with_article(hour, true) + " y " + write_words(minute)
                                 : with_article(hour + 1, true) + " menos " + write_words(60 - minute);
  return {spoken, written};
}

const ValueLanguage& values() {
  static const ValueLanguage language{.code = "es",
                                      .decimal_mark = ',',
                                      .group_mark = '.',
                                      .other_marks = OtherMarks::kGroups,
                                      .decimal_apostrophe = true,
                                      .least_grouped = 5,
                                      .spaced_thousands = true,
                                      .article_before_times = true,
                                      .cardinal_days = true,
                                      .ordinal_endings = kOrdinalEndings,
                                      .months = kMonthNames,
                                      .short_months = kShortMonths,
                                      .day_links = kDayLinks,
                                      .weekdays = kWeekdays,
                                      .short_weekdays = kShortWeekdays,
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
                                      .named_times = kNamedTimes,
                                      .ranges = kRanges,
                                      .conjunction = "y",
                                      .before_conjunction = "entre",
                                      .written_range = "de {} a {}",
                                      .at_named_times = "a",
                                      .before_ranges = kBeforeRanges,
                                      .for_whom = "para",
                                      .before_clock_times = kBeforeClockTimes,
                                      .behind_times = kBehindTimes,
                                      .half_before = kHalfBefore,
                                      .half_behind = kHalfBehind,
                                      .parts_before = kPartsBefore,
                                      .quarters = kQuarters,
                                      .quarter_hours = kQuarterHours,
                                      .written_quarter_hours = {"un cuarto de hora", "tres cuartos de hora"},
                                      .before_decades = kBeforeDecades,
                                      .written_decade = "los años {}",
                                      .halved_units = kHalvedUnits,
                                      .scales = kScales,
                                      .written_scales = kWrittenScales,
                                      .written_parts = kWrittenParts,
                                      .scale_link = " de",
                                      .decimal_words = kDecimalWords,
                                      .smaller_unit_links = kSmallerUnitLinks,
                                      .units = kUnits,
                                      .unit_links = kUnitLinks,
                                      .units_before = kUnitsBefore,
                                      .multipliers = kMultipliers,
                                      .none = kNone,
                                      .centuries = kCenturies,
                                      .counts_end_in_s = true,
                                      .minus = kMinus,
                                      .certain_minus = kCertainMinus,
                                      .below_zero = kBelowZero,
                                      .read_words = read_words,
                                      .write_words = write_words,
                                      .write_half = write_half,
                                      .write_ordinal = write_ordinal,
                                      .write_date = write_date,
                                      .write_time = write_time};
  return language;
}

}  // namespace spanish

const ValueLanguage& spanish_values() {
  return spanish::values();
}

}  // namespace heed::translate
