// What each language's table reads, in the words of people; grids over all numbers, times and dates are in
// values_grid_test.cc.
#include "translate/values/reading/find_values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/stop.h"
namespace heed::translate {
namespace {

std::string unit_name(Unit unit) {
  constexpr std::array kNames{"",       "%",    " EUR", " USD",  " GBP",  " pounds", " cents", " pence",
                              " pesos", " deg", " °C",  " °F",   " kg",   " g",      " mg",    " km",
                              " m",     " cm",  " mm",  " ms",   " l",    " ml",     " mi",    " yd",
                              " ft",    " in",  " ac",  " ha",   " t",    " oz",     " gal",   " km/h",
                              " mph",   " mpg", " bar", " bars", " mmHg", " m²",     " km²",   " sq mi",
                              " sq ft", " m³",  " TB",  " GB",   " MB",   " kB",     " B",     " BC"};
  return kNames.at(static_cast<size_t>(unit));
}

/// "9:30~" is 9:30 or 21:30; "(2)" is optional.
std::string shown(const Value& value) {
  std::string text;
  switch (value.kind) {
    case ValueKind::kNumber:
      text = value.normal + unit_name(value.unit);
      break;
    case ValueKind::kTime:
      text = fmt::format("{}:{:02}{}", value.minute / 60, value.minute % 60, value.half_day ? "~" : "");
      break;
    case ValueKind::kDate:
      text = fmt::format("{}/{}/{}", value.day, value.month, value.year);
      break;
    case ValueKind::kWeekday:
      text = "day " + value.normal;
      break;
    case ValueKind::kMarker:
      text = value.normal + ")";
      break;
    case ValueKind::kText:
      text = "'" + value.normal + "'";
      break;
  }
  return value.optional ? "(" + text + ")" : text;
}

/// The values that a text must be found in, separated by spaces.
std::string required(std::string_view language, std::string_view text) {
  std::string all;
  for (const Value& value : find_values(text, *value_language(language)).values) {
    if (!value.optional) all += (all.empty() ? "" : " ") + shown(value);
  }
  return all;
}

struct Case {
  const char *language, *text, *values;
};

class FoundValues : public ::testing::TestWithParam<Case> {};

TEST_P(FoundValues, AreThoseOfTheText) {
  EXPECT_EQ(required(GetParam().language, GetParam().text), GetParam().values) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Times, FoundValues,
    ::testing::Values(
        Case{"de", "Der Zug fährt um 14:35 Uhr von Gleis 7 ab.", "14:35 7"},
        Case{"de", "Wir kommen um halb zehn.", "9:30~"}, Case{"de", "Es ist fünf vor halb zehn.", "9:25~"},
        Case{"de", "um Viertel vor neun", "8:45~"}, Case{"de", "um dreiviertel neun", "8:45~"},
        Case{"de", "um zehn nach acht", "8:10~"}, Case{"de", "um 18.07 Uhr", "18:07"},
        Case{"de", "um 18 Uhr 7", "18:07"}, Case{"de", "von 8 bis 20 Uhr", "8:00 20:00"},
        Case{"de", "um acht Uhr abends", "20:00"}, Case{"de", "um ein Uhr nachts", "1:00"},
        Case{"en", "at 2:35 p.m. today", "14:35"}, Case{"en", "at 2:35pm", "14:35"},
        Case{"en", "at half past nine", "9:30~"}, Case{"en", "at a quarter to nine", "8:45~"},
        Case{"en", "at a quarter to midnight", "23:45"}, Case{"en", "from ten to midnight", "10:00"},
        Case{"en", "ten minutes past noon", "12:10"}, Case{"de", "um zehn vor Mitternacht", "23:50"},
        Case{"es", "diez para la medianoche", "23:50"}, Case{"en", "at nine thirty", "9:30~"},
        Case{"en", "at six-thirty", "6:30~"}, Case{"en", "from 8 a.m. to 8 p.m.", "8:00 20:00"},
        Case{"en", "from 2 to 8 p.m.", "14:00 20:00"}, Case{"en", "at 12 a.m.", "0:00"},
        Case{"en", "at eight in the morning", "8:00"}, Case{"es", "a las 18:07", "18:07"},
        Case{"es", "a las nueve y media", "9:30~"}, Case{"es", "a la una menos cuarto", "0:45~"},
        Case{"es", "a las 6:07 de la tarde", "18:07"}, Case{"es", "a las 18.07 h", "18:07"}));

INSTANTIATE_TEST_SUITE_P(
    Dates, FoundValues,
    ::testing::Values(Case{"de", "am 24.10.2022", "24/10/2022"}, Case{"de", "am 5. Mai", "5/5/0"},
                      Case{"de", "am 24.10. um acht Uhr", "24/10/0 8:00~"},
                      Case{"de", "vom 5. bis 19. August 2024", "5 19/8/2024"},
                      Case{"de", "am dritten Oktober", "3/10/0"}, Case{"de", "in Raum 3.07.", "3.07"},
                      Case{"de", "Raum 3 am 3.07.", "3 3/7/0"}, Case{"en", "on March 12, 2024,", "12/3/2024"},
                      Case{"en", "the 12th of March", "12/3/0"}, Case{"en", "on 3/12/2024", "12/3/2024"},
                      Case{"en", "on 13/12/2024", "13/12/2024"}, Case{"en", "on 2024-03-12", "12/3/2024"},
                      Case{"en", "He may march 5 miles.", "5 mi"},
                      Case{"es", "el 12 de marzo de 2024", "12/3/2024"},
                      Case{"es", "el uno de mayo", "1/5/0"}, Case{"es", "12/03/2024", "12/3/2024"}));

INSTANTIATE_TEST_SUITE_P(
    Numbers, FoundValues,
    ::testing::Values(
        Case{"de", "1.249,50 €", "1249.5 EUR"}, Case{"en", "€1,249.50", "1249.5 EUR"},
        Case{"es", "1249,50 euros", "1249.5 EUR"}, Case{"de", "1.500 Euro", "1500 EUR"},
        Case{"en", "1.500 km", "1.5 km"}, Case{"de", "3,5 Millionen", "3500000"},
        Case{"en", "two billion dollars", "2000000000 USD"}, Case{"es", "2 mil millones", "2000000000"},
        Case{"de", "dreiundsiebzig Kilo", "73 kg"}, Case{"de", "zweitausendfünf Leute", "2005"},
        Case{"en", "seven hundred and twenty-three", "723"}, Case{"en", "in nineteen eighty-four", "1984"},
        Case{"es", "trescientas doce páginas", "312"}, Case{"es", "treinta y tres", "33"},
        Case{"de", "bei -3 °C", "-3 °C"}, Case{"de", "minus drei Grad", "-3 deg"},
        Case{"en", "3 degrees below zero", "-3 deg"}, Case{"en", "10 below zero outside", "-10 deg"},
        Case{"de", "10 unter null", "-10 deg"}, Case{"en", "78 m2 and 30 m3 of it", "78 m² 30 m³"},
        Case{"en", "5 ft 3 in tall (1.6 m, 63 in)", "5 ft 3 in 1.6 m 63 in"},
        Case{"en", "2010 in Rome, 3 in \"Oslo\"", "2010 3"}, Case{"es", "tres grados bajo cero", "-3 deg"},
        Case{"es", "al menos ocho", "8"}, Case{"en", "He is 5'10 tall.", "5 10"},
        Case{"es", "Mide 5'10 m.", "5.1 m"}, Case{"en", "The answer is minus five.", "-5"},
        Case{"de", "minus zwanzig Euro", "-20 EUR"}, Case{"de", "2010-2015", "2010 2015"},
        Case{"de", "25 %", "25%"}, Case{"en", "25 percent", "25%"}, Case{"en", "10 000 people", "10000"},
        // Articles, ordinals and idioms say nothing that a translation has to say.
        Case{"de", "ein Hund und eine Katze", ""}, Case{"en", "one of a hundred", ""},
        Case{"es", "la segunda vez", ""}, Case{"de", "Gib acht!", ""}, Case{"de", "zweimal", ""},
        Case{"en", "both of them, twice", ""}));

INSTANTIATE_TEST_SUITE_P(WeekdaysAndFeet, FoundValues,
                         ::testing::Values(Case{"de", "am Montagabend und samstags", "day 1 day 6"},
                                           Case{"de", "Sonnabend, Sonntag", "day 6 day 7"},
                                           Case{"de", "Karfreitag, ein Sonntagskind", ""},
                                           Case{"en", "on Friday the 17th of May", "day 5 17/5/0"},
                                           Case{"en", "Monday's paper, on sundays", "day 1 day 7"},
                                           Case{"es", "Los sábados, no el miercoles", "day 6 day 3"},
                                           Case{"es", "Plácido Domingo", ""}, Case{"de", "bis um eins", "1"},
                                           Case{"de", "noch eins", ""}, Case{"en", "He is 6'2\".", "'62'"},
                                           Case{"en", "It took 3’20″.", "'320'"}));

INSTANTIATE_TEST_SUITE_P(
    Abbreviations, FoundValues,
    ::testing::Values(
        Case{"en", "on Mar 5, 2025", "5/3/2025"}, Case{"en", "from Dec. 24th to 3 Jan", "24/12/0 3/1/0"},
        Case{"en", "jan, mar 5 and Oct 2", "5 2/10/0"}, Case{"de", "am 5. Mär. 2024", "5/3/2024"},
        Case{"de", "der 1. Dez", "1/12/0"}, Case{"es", "el 15 ene. 2024", "15/1/2024"},
        Case{"es", "Un mar de dudas, al mar. 5 personas", "5"},
        Case{"es", "el 3 de sept. de 2020", "3/9/2020"},
        Case{"de", "am Mo., 3.6., um 9:15 Uhr", "day 1 3/6/0 9:15"},
        Case{"de", "Mo–Fr 9–18 Uhr, Sa/So zu", "day 1 day 5 9:00 18:00 day 6 day 7"},
        Case{"de", "Mo, Mi und Fr", "day 1 day 3 day 5"}, Case{"de", "Do 17 Uhr", "day 4 17:00"},
        Case{"de", "So 15 Minuten", "15"}, Case{"de", "So um 9 Uhr", "9:00"},
        Case{"de", "Kurs: Mi um 9 Uhr", "9:00"}, Case{"de", "immer Mi um 9 Uhr", "day 3 9:00"},
        Case{"en", "Tue 3pm, the Sun 4pm", "day 2 15:00 16:00"},
        Case{"en", "She sat 3 hours in the sun.", "3"}, Case{"en", "May 3 (Fri)", "3/5/0 day 5"},
        Case{"en", "Sat and Sun 10-14", "day 6 day 7 10 14"},
        Case{"en", "Mon-Thu 8-16, Fri 8-12.", "day 1 day 4 8 16 day 5 8 12"},
        Case{"en", "the hall, Sat 8-12 people", "8 12"},
        Case{"es", "lun. a vie. a las 9:00", "day 1 day 5 9:00"},
        Case{"es", "el mar. 5 de marzo", "day 2 5/3/0"}, Case{"es", "dom 9:00", "9:00"}));

INSTANTIATE_TEST_SUITE_P(
    WordsThatAreNoAbbreviations, FoundValues,
    ::testing::Values(
        Case{"de", "So, 5 Uhr ist zu früh.", "5:00"}, Case{"de", "So 9 Uhr kam er.", "9:00"},
        Case{"de", "So, 3. Mai, der Tag ist da.", "3/5/0"}, Case{"de", "So 3. Mai", "day 7 3/5/0"},
        Case{"de", "So., 9 Uhr: Markt", "day 7 9:00"}, Case{"de", "So/Mo zu", "day 7 day 1"},
        Case{"de", "Treffen So 9 Uhr", "day 7 9:00"}, Case{"de", "Er sagte: „So, 9 Uhr reicht.“", "9:00"},
        Case{"de", "Er kam um 9 Uhr (So war es).", "9:00"}, Case{"de", "um 9 Uhr (So), bis", "9:00 day 7"},
        Case{"de", "Um 9 Uhr Do-it-yourself-Kurs", "9:00"}, Case{"de", "Mo-Fr 9 Uhr", "day 1 day 5 9:00"},
        Case{"de", "Mo-Freitag 9 Uhr", "day 1 day 5 9:00"}, Case{"de", "Um 9 Uhr Fr. Meier treffen", "9:00"},
        Case{"de", "am 3. Mai Fr. Müller", "3/5/0"}, Case{"de", "am 3. Mai (Fr. Müller)", "3/5/0"},
        Case{"de", "um 9 Uhr Fr. geöffnet", "9:00 day 5"},
        Case{"es", "Fuimos al mar. A las 9:00 volvimos.", "9:00"}, Case{"es", "LUN. A VIE.", "day 1 day 5"},
        Case{"en", "I gave Mar 5 dollars.", "5 USD"}, Case{"en", "I told Mar 3 times.", "3"},
        Case{"en", "Jan. 3 people came.", "3"}, Case{"en", "Jan. 3 days ago", "3"},
        Case{"en", "Jan. 3, 2024 people came.", "3/1/2024"}, Case{"en", "on Jan. 3 he came", "3/1/0"}));

INSTANTIATE_TEST_SUITE_P(
    Ordinals, FoundValues,
    ::testing::Values(Case{"en", "his seventieth goal", "70"}, Case{"en", "the twenty-ninth of them", "29"},
                      Case{"en", "the two hundredth visitor", "200"}, Case{"en", "the third time", ""},
                      Case{"de", "der siebenhundertvierzigste Besucher", "740"},
                      Case{"de", "zum siebzehnten Mal", "17"}, Case{"de", "der achte Tag", ""},
                      Case{"es", "su decimoséptimo gol", "17"}, Case{"es", "el undécimo", "11"},
                      Case{"es", "el vigesimotercer día", "23"}, Case{"es", "un cuarto de hora", "0.25"}));

INSTANTIATE_TEST_SUITE_P(
    MoreTimes, FoundValues,
    ::testing::Values(
        Case{"en", "at half five", "5:30~"}, Case{"en", "at half-past five", "5:30~"},
        Case{"en", "at 10.30", "10:30~"}, Case{"en", "nine minutes after ten", "10:09~"},
        Case{"de", "um zwei Uhr und dreißig Minuten", "2:30~"}, Case{"de", "der 8.30-Uhr-Zug", "8:30"},
        Case{"de", "um drei viertel acht", "7:45~"}, Case{"es", "las siete y cincuenta", "7:50~"},
        Case{"es", "un cuarto para las tres", "2:45~"}, Case{"es", "las 12 de la noche", "0:00"},
        Case{"es", "desde las 10:40h hasta las 11h", "10:40 11:00"},
        Case{"es", "de las 2.706 personas", "2706"}, Case{"de", "Die Vierer am Vormittag", ""}));

INSTANTIATE_TEST_SUITE_P(
    TimesWithAPartOfTheDay, FoundValues,
    ::testing::Values(
        Case{"de", "Heute Abend um 8 Uhr", "20:00"},
        Case{"de", "am Samstagabend gegen halb acht", "day 6 19:30"},
        Case{"de", "Nachmittag, um 3 Uhr", "15:00"}, Case{"de", "Nachts um 1 Uhr", "1:00"},
        Case{"de", "Nachts um 6 Uhr", "6:00"}, Case{"en", "on Friday night at 6:30", "day 5 6:30~"},
        Case{"de", "nachts um 11 Uhr", "23:00"}, Case{"de", "Nachts um 12 Uhr", "0:00"},
        Case{"de", "heute Abend um 12 Uhr", "0:00"}, Case{"de", "um 12 Uhr abends", "0:00"},
        Case{"de", "um 1 Uhr mittags", "13:00"}, Case{"de", "um 11 Uhr am Mittag", "11:00"},
        Case{"de", "mittags um 2 Uhr", "14:00"}, Case{"en", "tonight at 8:30", "20:30"},
        Case{"en", "tomorrow afternoon, at 3 o'clock", "15:00"},
        Case{"en", "on Friday night at 1:30", "day 5 1:30"}, Case{"es", "esta noche a las 10", "22:00"},
        Case{"es", "por la tarde, a las cuatro", "16:00"}, Case{"es", "a la 1 del mediodía", "13:00"},
        Case{"es", "a las 12 del mediodía", "12:00"},
        // These are not parts of the day, or those of something else.
        Case{"de", "gestern Abend um 20 Uhr", "20:00"}, Case{"de", "am Abend vor 8 Uhr", "8:00"},
        Case{"de", "heute Morgen um 8 Uhr", "8:00"}, Case{"de", "am Sonnabend um 8 Uhr", "day 6 8:00"},
        Case{"de", "Guten Abend, um 8 Uhr", "8:00"}, Case{"de", "heute Vormittag um 12 Uhr", "12:00"},
        Case{"de", "um 7 Uhr abends, 9 Uhr", "19:00 9:00"}, Case{"en", "at 8 p.m., 9:30", "20:00 9:30~"},
        Case{"en", "Good evening, at 8:30", "8:30~"}, Case{"es", "mañana a las 10", "10:00~"},
        Case{"es", "esta noche las dos salieron", "2:00~"}));

INSTANTIATE_TEST_SUITE_P(
    TimesByTheirContext, FoundValues,
    ::testing::Values(
        Case{"en", "It's 20 to 9.", "8:40~"}, Case{"en", "at 10 to 8", "7:50~"},
        Case{"en", "It was 25 to 7.", "6:35~"}, Case{"en", "at 20 to 1", "20 1"},
        Case{"en", "It's 20 to 9, hurry up", "8:40~"}, Case{"en", "It was 20 to 9 at night.", "20:40"},
        Case{"en", "at 20 to 9 on Monday", "8:40~ day 1"}, Case{"en", "It was 5 to 3 at half time.", "5 3"},
        Case{"en", "It's 5 to 2 for Bayern.", "5 2"}, Case{"en", "It was 15 to 10 against us.", "15 10"},
        Case{"en", "It's 10 to 2 that he wins.", "10 2"}, Case{"en", "at 5 to 10", "5 10"},
        Case{"en", "from 20 to 9", "20 9"}, Case{"en", "at 20 to 9 percent", "20 9%"},
        Case{"en", "The score was 20 to 9.", "20 9"}, Case{"es", "las 10 a las 18 horas", "10:00 18:00"},
        Case{"es", "a las 6 h", "6:00"}, Case{"en", "the race in 3:45", "'3:45'"},
        Case{"en", "It is 3:45 long.", "'3:45'"}, Case{"de", "Er lief es in 3:45.", "'3:45'"},
        Case{"de", "3:45 lang", "'3:45'"}, Case{"es", "Corrió la distancia en 4:35.", "'4:35'"}));

INSTANTIATE_TEST_SUITE_P(RangesOfMoney, FoundValues,
                         ::testing::Values(Case{"en", "$5-$10", "5 USD 10 USD"},
                                           Case{"de", "€1.000-€2.000", "1000 EUR 2000 EUR"},
                                           Case{"es", "€1.50-€2.50", "1.5 EUR 2.5 EUR"},
                                           Case{"en", "a 60-percent share, $50-million", "60% 50000000 USD"},
                                           Case{"es", "Ganó $1,500 y 1,250 pesos.", "1500 USD 1250 pesos"},
                                           Case{"es", "1,459 € el litro, 1,250 m", "1.459 EUR 1.25 m"},
                                           Case{"es", "$1,500 y 2,5 %", "1.5 USD 2.5%"}));

INSTANTIATE_TEST_SUITE_P(Centuries, FoundValues,
                         ::testing::Values(Case{"es", "El siglo II fue duro.", "2"},
                                           Case{"de", "im IV. Jahrhundert", "4"},
                                           Case{"en", "the IX century", "9"}, Case{"es", "Isabel II", ""}));

INSTANTIATE_TEST_SUITE_P(
    Units, FoundValues,
    ::testing::Values(
        Case{"de", "mit 120 km/h", "120 km/h"}, Case{"en", "at 70 mph", "70 mph"},
        Case{"es", "dos metros y medio", "2.5 m"}, Case{"de", "250 ml Milch", "250 ml"},
        Case{"en", "16 GB of memory", "16 GB"}, Case{"es", "500 mg", "500 mg"},
        Case{"en", "a 5G network", "5"}, Case{"en", "It costs 20p.", "20 pence"},
        Case{"en", "He earns 50K.", "50000"}, Case{"en", "Call nine one one!", "911"},
        Case{"en", ".08 percent", "0.08%"}, Case{"de", "44 v. Chr.", "44 BC"},
        Case{"en", "in 44 B.C.", "44 BC"}, Case{"es", "a las 16 °C", "16 °C"},
        Case{"es", "en el año 44 a. C.", "44 BC"}, Case{"de", "eine fünfprozentige Steuer", "5%"},
        Case{"de", "ein paar Millionen Dollar", ""}, Case{"es", "la trigésimo primera vez", "31"},
        Case{"es", "más de las 20,4 millones", "20400000"}, Case{"de", "drei Grad minus", "-3 deg"}));

INSTANTIATE_TEST_SUITE_P(MoreCodes, FoundValues,
                         ::testing::Values(Case{"de", "Vorgang 7664-DA", "'7664-da'"},
                                           Case{"en", "customer 2025/2517", "'2025/2517'"},
                                           Case{"es", "llama al 612 345 678", "'612 345 678'"},
                                           Case{"de", "Es stand 2:1.", "'2:1'"},
                                           Case{"de", "Es stand 2:1 Uhr.", "'2:1 o'clock'"},
                                           Case{"en", "It lasts 3:45 minutes.", "'3:45'"},
                                           Case{"de", "Es sind 10⁶ Zellen.", "'10^6'"},
                                           Case{"en", "10⁻⁶ at a@b.de", "'10^-6' 'abde'"},
                                           Case{"es", "1,5² metros", "'1.5^2'"}));

INSTANTIATE_TEST_SUITE_P(CodesAddressesAndMarkers, FoundValues,
                         ::testing::Values(Case{"de", "Schreib an info@heed.de oder ruf 030 1234567 an.",
                                                "'infoheedde' '0301234567'"},
                                           Case{"en", "Flight LH4713 from gate B12", "'lh4713' 'b12'"},
                                           Case{"en", "See https://heed.de/a?b=1.", "'httpsheeddeab1'"},
                                           Case{"en", "DOI 10.1000/182 is fine.", "'101000182'"},
                                           Case{"de", "arXiv:1706.03762 ist da.", "'arxiv170603762'"},
                                           Case{"de", "Version 2.9.14 statt 2.10.3", "'2914' '2103'"},
                                           Case{"de", "1. Milch kaufen", "1)"},
                                           Case{"de", "10. bis 12. Mai", "10 12/5/0"},
                                           Case{"de", "1. bis 3. Klasse", "1 3"},
                                           Case{"en", "2) Buy milk", "2)"},
                                           Case{"de", "Das ist d.h. 😀 alles :-)", ""}));

TEST(FoundValues, MayHaveAnotherReading) {
  const TextValues range = find_values("from ten to twelve", english_values());
  ASSERT_EQ(range.values.size(), 1U);
  EXPECT_EQ(shown(range.values[0]), "11:50~");
  ASSERT_EQ(range.values[0].other_reading.size(), 2U);
  const TextValues spanish = find_values("1,250 personas", spanish_values());
  ASSERT_EQ(spanish.values.size(), 1U);
  EXPECT_EQ(shown(spanish.values[0]), "1.25");
  ASSERT_EQ(spanish.values[0].other_reading.size(), 1U);
  EXPECT_EQ(shown(spanish.values[0].other_reading[0]), "1250");
}

TEST(FoundValues, AreBytesOfTheText) {
  const std::string text = "Für 1.249,50 € um halb zehn";
  const TextValues found = find_values(text, german_values());
  ASSERT_EQ(found.values.size(), 2U);
  const auto bytes = [&](const Value& value) { return text.substr(value.begin, value.end - value.begin); };
  EXPECT_EQ(bytes(found.values[0]), "1.249,50 €");
  EXPECT_EQ(bytes(found.values[1]), "halb zehn");
}

std::string many_times(std::string_view text, int count) {
  std::string result;
  for (int n = 0; n < count; ++n) result += text;
  return result;
}

/// Each of these took minutes to centuries, or ended the process.
TEST(FoundValues, OfRepeatedTextTakeLinearTime) {
  constexpr int kMany = 20'000;
  for (const char* text : {"tausend", "hundert", "zwanzigund", "achtzig", "null ", "cero ", "zero ", "1.",
                           "12.3.", "123.", "heed.de "}) {
    for (const char* language : {"de", "en", "es"})
      find_values("1." + many_times(text, kMany), *value_language(language));
  }
  find_values(many_times("100 ", kMany) + "1", german_values());
  EXPECT_TRUE(find_values(many_times("tausend", 5 * kMany), german_values()).values.size() <= 1);
}

TEST(FoundValues, LongNumberWordsAreRead) {
  const std::string number = "siebenhundertsiebenundsiebzigtausendsiebenhundertsiebenundsiebzig";
  const TextValues found = find_values(number + "mal", german_values());
  ASSERT_EQ(found.values.size(), 1U);
  EXPECT_EQ(found.values[0].normal, "777777");
}

TEST(FoundValues, CanBeCancelled) {
  const std::atomic<bool> flag = true;
  const StopScope stop{Stop(&flag)};
  EXPECT_THROW(find_values("Hund", german_values()), Cancelled);
}

TEST(FoundValues, SoftHyphensAreInsideWords) {
  const TextValues found = find_values("zwei\u00ADund\u00ADzwan\u00ADzig Hunde", german_values());
  ASSERT_EQ(found.values.size(), 1U);
  EXPECT_EQ(found.values[0].normal, "22");
}

TEST(FoundValues, HoldForAnyText) {
  for (const char* text : {"", " ", "-", "€", "minus", "a hundred and", "99999999999999999999999 €", "1.",
                           "0 0 0", "1.2.3.4.5.6", "\xEF\xBF\xBD 5", "las", "twenty-", "00:00:00", "$-5"}) {
    for (const char* language : {"de", "en", "es"}) find_values(text, *value_language(language));
  }
  EXPECT_EQ(value_language("fr"), nullptr);
}

}  // namespace
}  // namespace heed::translate
