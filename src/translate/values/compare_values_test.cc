#include "translate/values/compare_values.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "translate/values/reading/figures.h"
#include "translate/values/reading/find_values.h"
#include "translate/values/repair_trials.h"
#include "translate/values/write_value.h"

namespace heed::translate {
namespace {

struct Pair {
  const char *from, *source, *to, *translation;
  size_t missing, added;
};

class ComparedValues : public ::testing::TestWithParam<Pair> {};

TEST_P(ComparedValues, Differ) {
  const Pair& pair = GetParam();
  const ValueDifferences found =
      compare_values({pair.source, *value_language(pair.from)}, {pair.translation, *value_language(pair.to)});
  EXPECT_EQ(found.missing.size(), pair.missing) << pair.source << " | " << pair.translation;
  EXPECT_EQ(found.added.size(), pair.added) << pair.source << " | " << pair.translation;
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, ComparedValues,
    ::testing::Values(Pair{"de", "Der Zug fährt um 14:35 Uhr von Gleis 7 ab.", "en",
                           "The train leaves at platform 7:35 a.m.", 2, 1},
                      Pair{"de", "Der Bus kommt um halb zehn.", "en", "The bus comes at 2:00.", 1, 1},
                      Pair{"de", "um 18:07 Uhr", "en", "at 6:07 a.m.", 1, 1},
                      Pair{"de", "um 18:07 Uhr", "en", "at 6:07", 1, 1},
                      Pair{"de", "am 24.10.2022", "en", "on 24,10,2022", 1, 1},
                      Pair{"de", "Sie wohnt in Zimmer 12.", "en", "She lives in the room.", 1, 0},
                      Pair{"de", "Viertel vor neun", "en", "quarter past nine", 1, 1},
                      Pair{"de", "dreiundsiebzig Kilo", "en", "sixty kilos", 1, 1},
                      Pair{"de", "1. Milch kaufen", "en", "buying milk 1", 1, 1},
                      Pair{"en", "It costs $20.", "es", "Cuesta 20.", 1, 0},
                      Pair{"en", "It costs $20.", "es", "Cuesta 20 €.", 1, 1},
                      Pair{"en", "25% of them", "es", "25 de ellos", 1, 0},
                      Pair{"en", "It is -3 °C.", "es", "Hace 3 °C.", 1, 1},
                      Pair{"de", "1,250 kg", "en", "1,250 kg", 1, 1},
                      Pair{"en", "two dogs", "es", "tres perros", 1, 1},
                      Pair{"en", "flight LH4713", "es", "el vuelo LH4731", 1, 1},
                      Pair{"en", "It costs $5k.", "de", "Es kostet 5 Dollar.", 1, 1},
                      Pair{"de", "am 3. Mai", "en", "on March 3", 1, 1},
                      // Numbers of a time do not stand for its hour, nor for those of words that are a time.
                      Pair{"de", "um 0:00 Uhr", "en", "at 10:00", 1, 1},
                      Pair{"de", "um 0.00 Uhr", "en", "at 0.00", 1, 1},
                      Pair{"en", "from 1 pm to 6:30 pm", "de", "von 13:30 bis 18:30 Uhr", 1, 1},
                      Pair{"en", "We set off at ten forty.", "de", "Wir gehen um zehn vor vierzig.", 1, 2},
                      Pair{"en", "at twenty to nine", "es", "a las veinte a las nueve", 1, 2},
                      Pair{"en", "from noon to 10 p.m.", "es", "a las 22:00", 1, 0},
                      Pair{"de", "von 12 bis 14 Uhr", "en", "from 12 p.m. to 14 p.m.", 1, 2},
                      Pair{"en", "on 7/21/1912", "es", "el 7/21/1912", 1, 1},
                      Pair{"en", "Was LH 6887 diverted?", "es", "¿LeH 6887 fue desviado?", 1, 1}));

INSTANTIATE_TEST_SUITE_P(
    WeekdaysMovedUnitsAndLostMarks, ComparedValues,
    ::testing::Values(
        Pair{"en", "from Tuesday the 14th to Friday", "de", "von Dienstag, dem 14.", 1, 0},
        Pair{"es", "el martes", "en", "on Monday", 1, 1},
        Pair{"de", "am Karfreitag", "en", "on Good Friday", 0, 0},
        Pair{"en", "on Monday, all of Monday", "es", "el lunes todo el día", 0, 0},
        Pair{"es", "Vi a Plácido Domingo.", "en", "I saw Plácido Domingo.", 0, 0},
        Pair{"de", "1.250 Karten zu je 18,50 €", "en", "€1,250 tickets for €18.50", 0, 1},
        Pair{"de", "30 Leute, 20 %", "en", "30% of the people, 20%", 0, 1},
        Pair{"de", "18 bis 20 Euro", "en", "€18 to €20", 0, 0},
        Pair{"de", "drei und Tom vier Dollar", "en", "three dollars and Tom four dollars", 0, 0},
        Pair{"de", "Es kostet 5.", "en", "It costs $5.", 0, 1},
        Pair{"de", "für 18,50 €", "en", "for €18.50 p.m.", 0, 1},
        Pair{"en", "A quarter of a million people came.", "es", "Vinieron 1.000.000 personas.", 1, 1},
        Pair{"en", "A quarter of a million people came.", "es", "Vino un cuarto de millón de personas.", 0,
             0},
        Pair{"en", "three quarters of a million people", "de", "750.000 Menschen", 0, 0},
        Pair{"de", "Wir warteten eine Dreiviertelstunde.", "en", "We waited three quarters of an hour.", 0,
             0},
        Pair{"de", "Wir warteten eine Dreiviertelstunde.", "es", "Esperamos 45 minutos.", 0, 0},
        Pair{"de", "Wir warteten eine Dreiviertelstunde.", "en", "We waited an hour.", 1, 0},
        Pair{"en", "three-quarters of an hour later", "es", "tres cuartos de hora después", 0, 0},
        Pair{"en", "three quarters of an hour later", "de", "drei Stunden später", 1, 1},
        Pair{"es", "hace un cuarto de hora", "de", "vor einer Viertelstunde", 0, 0},
        Pair{"es", "hace un cuarto de hora", "en", "fifteen minutes ago", 0, 0},
        Pair{"es", "hace un cuarto de hora", "en", "an hour ago", 1, 0},
        Pair{"en", "an hour and a quarter", "de", "eine Stunde und eine Viertelstunde", 0, 0},
        Pair{"es", "una hora y cuarto", "de", "eineinviertel Stunden", 0, 0},
        Pair{"de", "eine Viertelmillion Menschen", "en", "a quarter of a million people", 0, 0},
        Pair{"de", "eine viertel Million Menschen", "es", "250.000 personas", 0, 0},
        Pair{"de", "eine Dreiviertelmillion Menschen", "en", "three-quarters of a million people", 0, 0},
        Pair{"de", "Es kostet 1.250,75 €.", "en", "It costs €1.250,75.", 1, 1},
        Pair{"es", "Cuesta $1,250.75.", "en", "It costs $1,250.75.", 0, 0},
        Pair{"en", "2,500,000 people", "de", "2.500.000 Menschen", 0, 0},
        Pair{"de", "2.500.000 Menschen", "en", "2.500.000 people", 1, 1},
        Pair{"de", "Er hat 2x 10 € bezahlt.", "en", "He paid €2x 10.", 0, 1},
        Pair{"de", "Mo–Fr 9–18 Uhr", "en", "Mon–Fri 9 a.m. 6 p.m.", 1, 0},
        Pair{"de", "Mo–Fr 9–18 Uhr", "en", "Mon–Fri 9 6 p.m.", 1, 0},
        Pair{"de", "Mo–Fr 9–18 Uhr", "en", "Mon–Fri 9 a.m. to 6 p.m.", 0, 0},
        Pair{"en", "pages 5-10", "es", "páginas 5 10", 1, 0},
        Pair{"en", "every 10–15 minutes", "de", "alle 10:15 Minuten", 1, 0},
        Pair{"en", "every 10–15 minutes", "de", "alle 10 bis 15 Minuten", 0, 0},
        Pair{"de", "am nächsten Morgen gegen 8.15 Uhr", "en", "around 8:15 p.m. next morning", 1, 1},
        Pair{"de", "am nächsten Morgen gegen 8.15 Uhr", "en", "around 8:15 next morning", 0, 0},
        Pair{"de", "am Abend um 8.15 Uhr", "en", "in the evening, at 8:15 p.m.", 0, 0},
        Pair{"de", "vom 17. bis 20. Juni um 17 Uhr", "en", "from 5 p.m. to June 20 at 5 p.m.", 1, 1},
        Pair{"de", "im August 2,5 Millionen", "en", "5,000,000 in August 2", 1, 2},
        Pair{"de", "die 2000er Jahre", "en", "the 200s", 0, 1},
        Pair{"es", "Jochi (1185-1226)", "en", "Jochi (01185-1226)", 1, 1},
        Pair{"en", "007 and 0420", "de", "007 und 0420", 0, 0},
        Pair{"de", "Es dauert 3 Tage.", "en", "It takes 3 hours.", 1, 1},
        Pair{"de", "Es dauert drei Tage.", "en", "It takes 3 days.", 0, 0},
        Pair{"en", "a one and a half hour tour", "de", "eine Tour von 1,5 Minuten", 1, 1},
        Pair{"en", "3 days and 3 hours", "es", "3 horas y 3 días", 0, 0},
        Pair{"es", "hace dos años y medio", "en", "two and a half years ago", 0, 0},
        Pair{"en", "an eight-hour day", "de", "ein Acht-Stunden-Tag", 0, 0},
        Pair{"en", "the 3rd day", "de", "die dritte Woche", 0, 0},
        Pair{"en", "18th-century texts", "de", "Texte aus dem 18. Jahrhundert", 0, 0},
        Pair{"en", "3 million and 600 thousand", "de", "3 Millionen 600 Tausend", 0, 0},
        Pair{"de", "70 Millionen US-$", "en", "$70 million", 0, 0},
        Pair{"de", "5 Eurocent", "en", "5 euro cents", 0, 0},
        Pair{"en", "over £500", "de", "über 500 GBP", 0, 0},
        Pair{"en", "50% since the fifties", "de", "50 % seit den fünfziger Jahren", 0, 0},
        Pair{"en", "3 minutes and 45 seconds", "de", "3:45 Minuten", 0, 0},
        Pair{"en", "It costs $20–30.", "de", "Es kostet 20:30 $.", 2, 1},
        Pair{"en", "He lost 15-20 pounds.", "de", "Er hat 15:20 Pfund verloren.", 2, 1},
        Pair{"en", "We won 3-1.", "de", "Wir haben 3:1 gewonnen.", 0, 0},
        Pair{"en", "At 8:30 $5 was paid.", "de", "Um 8:30 Uhr wurden 5 $ bezahlt.", 0, 0},
        Pair{"de", "Die Sitzung ist von 14.30 bis 16 Uhr.", "en", "from 14.3 euros to 4 p.m.", 1, 1},
        Pair{"de", "Die Sitzung ist von 14.30 bis 16 Uhr.", "en", "from 2:30 to 4 p.m.", 0, 0},
        Pair{"en", "from 2:30 to 4 p.m.", "de", "von 2:30 bis 16 Uhr", 1, 1},
        Pair{"en", "from 11:30 to 1 p.m.", "es", "de 11:30 a 13:00", 0, 0},
        Pair{"en", "from 11:30 a.m. to 1 p.m.", "de", "von 11:30 bis 13 Uhr", 0, 0},
        Pair{"de", "Er hat 14 Karten.", "en", "He has 14 euros cards.", 0, 1},
        Pair{"de", "Das kostet zwanzig Mäuse.", "en", "It costs twenty bucks.", 0, 0},
        Pair{"en", "It rose from 2.1 to 3.4%.", "de", "Es stieg von 2.1 auf 3,4 %.", 1, 1},
        Pair{"en", "It is 2.1%.", "de", "Es sind 2.1 %.", 1, 1},
        Pair{"en", "It is 2.1%.", "es", "Es un 2.1 %.", 0, 0},
        Pair{"en", "It rose to 3.14159.", "de", "Es stieg auf 3.14159.", 1, 1},
        Pair{"en", "Version 2.1 costs $5.", "de", "Version 2.1 kostet 5 $.", 0, 0},
        Pair{"en", "one-tenth of it", "de", "ein Zehntel davon", 0, 0},
        Pair{"de", "Er hat 2x 10 € bezahlt.", "en", "He paid 2x €10.", 0, 0},
        Pair{"de", "Er hat dreimal 5 € bezahlt.", "en", "He paid €3 times €5.", 0, 1},
        Pair{"de", "Er hat 5 € 3-mal bezahlt.", "en", "He paid €3 5 times.", 0, 1},
        Pair{"de", "Er hat dreimal 5 € bezahlt.", "en", "He paid €5 three times.", 0, 0},
        Pair{"es", "Pagué 3 veces 5 €.", "en", "I paid €5 3 times.", 0, 0},
        Pair{"es", "Pagué 3 veces 5 €.", "en", "I paid €3 times €5.", 0, 1},
        Pair{"de", "In den Neunzigerjahren", "en", "in the 190s", 1, 1},
        Pair{"de", "In den Neunzigerjahren", "en", "in the ninety years", 1, 1},
        Pair{"de", "In den Neunzigerjahren", "es", "en los noventa años", 1, 1},
        Pair{"de", "In den Neunzigerjahren", "es", "en los años noventa", 0, 0},
        Pair{"en", "a man in his 40s", "es", "un hombre de unos 40 años", 0, 0},
        Pair{"de", "In den Neunzigerjahren", "en", "in the 1990s", 0, 0},
        Pair{"de", "In den Neunzigerjahren", "en", "in the 1990's", 0, 0},
        Pair{"de", "die siebziger Jahre", "en", "the seventies", 0, 0},
        Pair{"de", "die siebziger Jahre", "en", "the 1960s", 1, 1},
        Pair{"de", "in den 90er-Jahren", "en", "in the nineties", 0, 0},
        Pair{"de", "in den 90er Jahren", "es", "en los años ochenta", 1, 1},
        Pair{"en", "in the 1990s", "es", "en los noventas", 0, 0},
        Pair{"en", "in the 1990s", "de", "in den 190ern", 1, 1},
        Pair{"en", "in the 1990s", "de", "in den Neunzigern", 0, 0},
        Pair{"en", "in the early 1900s", "de", "am Anfang des Jahrhunderts", 0, 0},
        Pair{"en", "She is in her 30s.", "es", "Es una treintañera.", 0, 0},
        Pair{"en", "The pump makes 3 bar.", "es", "La bomba da 3 bares.", 0, 0},
        Pair{"de", "Der Reifen hat 2,4 bar.", "en", "The tire has 2.4 cash.", 1, 0},
        Pair{"de", "Der Reifen hat 2,4 bar.", "en", "The tire has 2.4 bars.", 0, 0},
        Pair{"de", "Er bezahlte 500 bar.", "en", "He paid 500 in cash.", 0, 0},
        Pair{"en", "a pressure of 2.4 bar", "es", "una presión de 2,4", 1, 0},
        Pair{"en", "a pressure of 2.4 bar", "es", "una presión de 2,4 bares", 0, 0},
        Pair{"en", "five bars in town", "de", "fünf Kneipen in der Stadt", 0, 0},
        Pair{"de", "die fünfte Bar", "en", "the fifth pub", 0, 0},
        Pair{"en", "30 miles per gallon", "de", "30 Meilen pro Stunde", 1, 1},
        Pair{"en", "30 miles per gallon", "de", "30 Meilen pro Gallone", 0, 0},
        Pair{"en", "30 mpg", "es", "30 millas por galón", 0, 0},
        Pair{"de", "130 Stundenkilometer", "en", "130 hours", 1, 0},
        Pair{"de", "mit 130 Stundenkilometern", "es", "a 130 kilómetros por hora", 0, 0},
        Pair{"de", "3 m³ Wasser", "en", "3 m of water", 1, 1},
        Pair{"de", "3 m³ Wasser", "en", "3 cubic meters of water", 0, 0},
        Pair{"en", "3 m3 of water", "es", "3 metros de agua", 1, 1},
        Pair{"en", "3 m3 of water", "es", "3 metros cúbicos de agua", 0, 0},
        Pair{"en", "120/80 mmHg", "de", "120/80 mHg", 1, 0},
        Pair{"en", "120/80 mmHg", "de", "120/80 mmHg", 0, 0},
        Pair{"en", "Two and a half million dollars.", "de", "Zwei und 2.500.000 Dollar.", 0, 1},
        Pair{"en", "Two and a half million dollars.", "de", "Zweieinhalb Millionen Dollar.", 0, 0},
        Pair{"es", "Cero personas.", "en", "Thous people.", 1, 0},
        Pair{"es", "Cero personas.", "en", "Zero people.", 0, 0},
        Pair{"es", "Cero personas.", "en", "Nobody.", 0, 0},
        Pair{"es", "Cero personas votaron.", "de", "Keine einzige Person stimmte ab.", 0, 0},
        Pair{"en", "zero emissions", "de", "emissionsfrei", 0, 0},
        Pair{"es", "Empezó de cero.", "en", "He started from scratch.", 0, 0},
        Pair{"en", "They came with 3 dogs.", "de", "Die zwei kamen mit 3 Hunden.", 0, 1},
        Pair{"en", "Louis XIV", "de", "Ludwig XIIII.", 1, 1},
        Pair{"en", "Hall IV", "es", "el salón IIII", 0, 1},
        Pair{"en", "The clock says IIII.", "de", "Auf der Uhr steht IIII.", 0, 0},
        Pair{"en", "Pope John XXIII", "de", "Papst Johannes der Dreiundzwanzigste", 0, 0},
        Pair{"en", "It takes 500 ms.", "es", "Se tarda 500 m.", 1, 1},
        Pair{"en", "It takes 500 ms.", "de", "Es dauert 500 Millisekunden.", 0, 0},
        Pair{"en", "Henry VIII had six wives.", "de", "Heinrich VIIII. hatte sechs Frauen.", 1, 1},
        Pair{"en", "Pope John XXIII", "de", "Papst Johannes XXIIIII", 1, 1},
        Pair{"en", "Pope John XXIII", "es", "el papa Juan XXIII", 0, 0},
        Pair{"en", "World War III", "de", "der dritte Weltkrieg", 0, 0},
        Pair{"es", "el siglo XVIII", "en", "the 18th century", 0, 0},
        Pair{"de", "für 18,50 € bis 20 Uhr", "en", "for €18.50 p.m. to 8 p.m.", 0, 1},
        Pair{"de", "Ruf +49 30 901820 an.", "en", "Call +49 30 901820 a.m.", 0, 1},
        Pair{"de", "von 2 bis 3 Uhr", "en", "from 2 to 3 a.m.", 0, 0},
        Pair{"de", "bis 23.45 Uhr", "en", "until 23:45 p.m.", 1, 1},
        Pair{"en", "until 23:45 p.m.", "de", "bis 23.45 Uhr", 0, 0},
        Pair{"de", "Um eins aßen sie.", "en", "At least they ate.", 1, 0},
        Pair{"de", "Ein Fest hielt mich bis um eins wach.", "en", "Some party kept me up till one.", 0, 0}));

INSTANTIATE_TEST_SUITE_P(
    MistakesInClocksUnitsAndCodes, ComparedValues,
    ::testing::Values(  // A score and a duration are no times, and a time needs its part of the day.
        Pair{"en", "It ended 2:1.", "de", "Es endete 2:1 Uhr.", 1, 1},
        Pair{"de", "Es dauert 3:45 min.", "en", "It takes until 3:45 p.m.", 1, 1},
        Pair{"de", "um 12 Uhr nachts", "en", "at 12:00 p.m.", 1, 1},
        Pair{"es", "Son las 12 de la noche.", "en", "It's 12 p.m.", 1, 1},
        Pair{"en", "at 12:15 a.m.", "es", "a las 12:15", 1, 1},
        Pair{"de", "um 0:45 Uhr", "en", "at 12:45", 1, 1},
        // Which half of the day is not said.
        Pair{"de", "um halb zehn", "es", "a las 21:30", 1, 1},
        Pair{"de", "um halb neun", "en", "at 8:30 a.m.", 1, 1},
        Pair{"en", "by 11 am", "es", "en el horno 11", 1, 1}, Pair{"en", "at 3am", "es", "a las 3a", 1, 1},
        Pair{"en", "by 2:30 p.m. at the latest", "es", "a las 2:30 como muy tarde", 1, 1},
        Pair{"en", "on December 21", "es", "en diciembre de 21", 1, 1},
        Pair{"en", "at a quarter to 5", "de", "um Viertel vor5", 1, 1},
        Pair{"en", "at ten to one", "de", "um zehn vor ein, aber", 1, 1},
        Pair{"es", "De ocho y media a diez y cuarto.", "en", "From eight and a half past ten.", 1, 1},
        Pair{"es", "de ocho y media a diez y cuarto", "en", "from half past eight to a quarter past ten", 0,
             0},
        // Units.
        Pair{"de", "Die Wohnung hat 78 m².", "en", "The apartment has 78 m2.", 0, 0},
        Pair{"de", "Es sind 10⁶ Zellen.", "en", "There are 10⁶ cells.", 0, 0},
        Pair{"de", "Es sind 10⁶ Zellen.", "en", "There are 106 cells.", 1, 1},
        Pair{"en", "There are 10⁶ cells.", "de", "Es gibt 10 Zellen.", 1, 1},
        Pair{"de", "10⁶ Zellen für a@b.de", "en", "10⁶ cells for a@b.de", 0, 0},
        Pair{"de", "seit 1990¹", "en", "since 1990", 0, 0},
        Pair{"de", "seit 1990¹", "en", "since 1990¹", 0, 0},
        Pair{"de", "seit 1990¹", "en", "since 19901", 1, 1},
        Pair{"de", "Es gilt E = mc².", "en", "It is E = mc2.", 0, 0},
        Pair{"de", "Das Haus² ist alt.", "en", "The house2 is old.", 0, 0},
        Pair{"de", "Das Haus² ist alt.", "en", "The house 3 is old.", 0, 1},
        Pair{"en", "He slept 7h 30m.", "de", "Er schlief 7h 30.", 1, 0},
        Pair{"en", "He slept 7h 30m.", "de", "Er schlief 7h 30m.", 0, 0},
        Pair{"en", "He slept 7h 30m.", "de", "Er schlief 7h 30 Uhr.", 1, 1},
        Pair{"en", "He slept 7h 30m.", "de", "Er schlief 7 Stunden und 30 Minuten.", 0, 0},
        Pair{"en", "He slept 7h 30m.", "de", "Er schlief 7:30 Stunden.", 0, 0},
        Pair{"en", "back in 10 mins", "es", "Vuelvo en 10 mineros.", 1, 0},
        Pair{"en", "back in 10 mins", "es", "Vuelvo en 10 minutos.", 0, 0},
        Pair{"de", "Ich bin vom 7.4. bis 11.4. in Rom und vom 14.4. bis 18.4. in Bonn.", "en",
             "I'm from April 14 in Rome on April 7 and April 18 April 11.", 2, 0},
        Pair{"de", "Ich bin vom 7.4. bis 11.4. in Rom und vom 14.4. bis 18.4. in Bonn.", "en",
             "I'm in Rome from April 7 to 11 and in Bonn from April 14 to 18.", 0, 0},
        Pair{"de", "Er brauchte 2 Std. dafür.", "en", "He needed 2 kd for it.", 1, 0},
        Pair{"de", "Er brauchte 2 Std. dafür.", "en", "He needed 2 hrs for it.", 0, 0},
        Pair{"en", "a 5 yr old child, a 2 hr drive", "de", "ein 5-jähriges Kind, 2 stündige Fahrt", 0, 0},
        Pair{"en", "arriving 1800 hrs", "de", "Ankunft 1800", 0, 0},
        Pair{"en", "The movie lasts 1h 45m.", "de", "Der Film dauert 1. 45.", 2, 0},
        Pair{"en", "The movie lasts 1h 45m.", "es", "La película dura 1 h 45 min.", 0, 0},
        Pair{"de", "Es dauert 30 s.", "en", "It takes 30.", 1, 0},
        Pair{"de", "Es dauert 30 s.", "en", "It takes 30 seconds.", 0, 0},
        Pair{"de", "Es dauert 45 min.", "es", "Tarda 45.", 1, 0},
        Pair{"de", "Es dauert 45 min.", "en", "It takes 45 hours.", 1, 1},
        Pair{"de", "ein 30-min-Test", "en", "a 30-minute test", 0, 0},
        Pair{"en", "a 30 min walk", "de", "ein 30-minütiger Spaziergang", 0, 0},
        Pair{"en", "It takes 5 to 6 h.", "de", "Es dauert 5 bis 6 Stunden.", 0, 0},
        Pair{"en", "open 24h", "es", "abierto las 24 horas", 0, 0},
        Pair{"en", "in the 90s", "de", "in den 90ern", 0, 0},
        Pair{"es", "abierto de 9 a 17 h", "de", "geöffnet von 9 bis 17 Uhr", 0, 0},
        Pair{"es", "a las 17 h", "de", "um 17 Uhr", 0, 0},
        Pair{"en", "between 23: 00 h and 07: 30 h", "de", "zwischen 23: 00 Uhr und 07: 30 Uhr", 0, 1},
        Pair{"de", "Kapitel 3 s. Anhang", "en", "Chapter 3. See annex", 0, 0},
        Pair{"en", "It's 10 below zero outside.", "de", "Draußen ist es 10 Grad.", 1, 1},
        Pair{"en", "It's 10 below zero outside.", "es", "Son 10 bajo cero afuera.", 0, 0},
        Pair{"de", "minus fünf Grad", "es", "a menos cinco grados bajo cero", 0, 1},
        Pair{"de", "minus fünf Grad", "es", "a cinco grados bajo cero", 0, 0},
        Pair{"de", "-5 °C", "en", "-5 °C below zero", 0, 1},
        Pair{"en", "It costs 20p.", "de", "Es kostet 20 Uhr.", 1, 1},
        Pair{"en", "2 lbs of butter", "de", "2 Butter", 1, 0}, Pair{"de", "2,5 kg", "en", "2.5", 1, 0},
        Pair{"en", "at 120 km/h", "es", "a 120", 1, 0}, Pair{"en", "100 miles", "de", "100 Kilometer", 1, 1},
        Pair{"en", "32 °F", "de", "32 °C", 1, 1}, Pair{"de", "um 3,5 %", "en", "by €3.5%", 1, 1},
        Pair{"es", "en el año 44 a. C.", "en", "in the year 44 a.m.", 1, 1},
        Pair{"en", "He earns 50K.", "es", "Gana 50 años.", 1, 0},
        Pair{"en", "He is 5 feet 10 inches tall.", "de", "Er ist 5 Fuß 10 Zentimeter groß.", 1, 1},
        Pair{"en", "He is 5 feet 10 inches tall.", "de", "Er ist 5 Fuß 10 Zoll groß.", 0, 0},
        Pair{"en", "It was 3 pounds 5 ounces.", "es", "Eran 3 libras y 5 libras.", 1, 1},
        Pair{"en", "He ran 100 yards.", "de", "Er rannte 100 Garten.", 1, 0},
        Pair{"en", "The file has 300 bytes.", "es", "El archivo tiene 300 pangolines.", 1, 0},
        Pair{"en", "40 acres", "es", "40 hectáreas", 1, 1},
        // "Menos" is minus, less, and least.
        Pair{"en", "The answer is minus five.", "es", "La respuesta es menos cinco.", 0, 0},
        Pair{"en", "The answer is minus five.", "es", "La respuesta es cinco.", 1, 1},
        Pair{"es", "La respuesta es menos cinco.", "en", "The answer is minus five.", 0, 0},
        Pair{"es", "La respuesta es menos cinco.", "en", "The answer is less five.", 1, 1},
        Pair{"es", "El saldo era de menos veinte euros.", "en", "The balance was twenty euros less.", 1, 1},
        Pair{"es", "Vinieron al menos ocho.", "en", "At least eight came.", 0, 0},
        Pair{"es", "Todos menos cinco vinieron.", "en", "All but five came.", 0, 0},
        Pair{"de", "Fünf minus zwei ist drei.", "es", "Cinco menos dos son tres.", 0, 0},
        // Figures and words of numbers.
        Pair{"en", "Call nine one one!", "de", "Rufen Sie neun eins an!", 1, 0},
        Pair{"es", "al 612 345 678", "en", "to 612,345,678", 1, 1},
        Pair{"de", "in Raum 2.27", "en", "to room 2,27", 1, 1},
        Pair{"de", "Nummer 6042-RK", "en", "number 6042 RK", 1, 1},
        Pair{"en", "number 2025/2517", "de", "Nummer 2.025/2517", 1, 2},
        Pair{"de", "fünfhundertsieben Lampen", "en", "five hundred seventh lamps", 1, 1},
        Pair{"en", "My guess is six hundred one.", "de", "Ich tippe auf sechshundertein.", 1, 0},
        Pair{"en", "five hundred eight", "de", "fünfhundertachts", 1, 1}));

INSTANTIATE_TEST_SUITE_P(
    OrdinalsAndBrokenNumbers, ComparedValues,
    ::testing::Values(
        Pair{"en", "the two hundred and ninth anniversary", "de", "den beidenhundertneunzig Jahrestag", 1, 1},
        Pair{"en", "his fiftieth goal", "de", "sein fünfzigth Tor", 1, 1},
        Pair{"en", "his fiftieth goal", "de", "sein fünfzigstes Tor", 0, 0},
        Pair{"en", "the one hundred and twelfth floor", "de", "im einhundertzweifzigsten Stock", 1, 1},
        Pair{"en", "the fourteenth visitor", "de", "der vierzehnsten Besucher", 1, 1},
        Pair{"en", "the tenth visitor", "de", "der Mieter", 1, 0},
        Pair{"de", "der zwanzigste Versuch", "en", "the twelfth attempt", 1, 1},
        Pair{"de", "im fünften Stock", "es", "en el quinto piso", 0, 0},
        Pair{"en", "his fifteenth birthday", "es", "su decimoquinto cumpleaños", 0, 0},
        Pair{"en", "his fifteenth birthday", "es", "su décimo quinto cumpleaños", 0, 0},
        Pair{"en", "the nineteenth century", "es", "el siglo XIX", 0, 0},
        Pair{"en", "the nineteenth century", "es", "el siglo diecinueve", 0, 0},
        Pair{"es", "en la quinta", "en", "in the country house", 0, 0},
        Pair{"de", "ein Fünftel", "en", "one fifth", 0, 0},
        Pair{"de", "im 21. Jahrhundert", "en", "in the 21th century", 1, 1},
        Pair{"en", "until January 10.", "de", "bis Januar 10.", 1, 1},
        Pair{"en", "In January 10 came.", "de", "Im Januar kamen 10.", 0, 0},
        Pair{"es", "antes del 3/2/1973", "en", "before 3/2/1973", 1, 1},
        Pair{"es", "antes del 3/2/1973", "en", "before 2/3/1973", 0, 0},
        Pair{"es", "antes del 15/10/1977", "en", "before 15/10/1977", 1, 1},
        Pair{"en", "before 3/2/1973", "es", "antes del 3/2/1973", 0, 0},
        Pair{"en", "six hundred and four", "de", "sechshundertvierundvier", 1, 1},
        Pair{"en", "one hundred nine books", "es", "cien nueve libros", 1, 1},
        Pair{"de", "im 21. Jahrhundert", "en", "in the 21st century", 0, 0},
        Pair{"de", "Wir achten auf dich.", "en", "We look after you.", 0, 0},
        Pair{"en", "the seven hundred and fortieth day", "de", "der 740. und siebfortzigste Tag", 0, 1},
        // Words that only look as if they were broken, and broken ones where the source has no number words.
        Pair{"en", "fifty-five people", "de", "fünfundfünfzig Jahrhundertnächte", 0, 0},
        Pair{"en", "He is unique.", "de", "Er ist ein Siebhundert.", 0, 0}));

INSTANTIATE_TEST_SUITE_P(
    ClocksUnitsAndCodesAreTheSame, ComparedValues,
    ::testing::Values(
        Pair{"en", "until 6 o'clock this evening", "de", "bis heute Abend um 6 Uhr", 0, 0},
        Pair{"en", "at 3:00 p.m. on Sunday", "de", "am Sonntagnachmittag um drei Uhr", 0, 0},
        Pair{"de", "um 14:30 Uhr", "en", "at two thirty", 0, 0},
        Pair{"es", "a las 12:45", "en", "at 12:45", 0, 0}, Pair{"en", "at 10.30", "de", "um 10:30 Uhr", 0, 0},
        Pair{"de", "um halb elf", "en", "at 10.30", 0, 0}, Pair{"en", "at one", "de", "um ein Uhr", 0, 0},
        Pair{"en", "at ten to one", "de", "um zehn vor eins", 0, 0},
        Pair{"de", "Es kostet 10,30.", "en", "It costs 10.30.", 0, 0},
        Pair{"de", "der Sechsuhrzug", "en", "the six o'clock train", 0, 0},
        Pair{"en", "from 9 to 17", "de", "von 9 bis 17 Uhr", 0, 0},
        Pair{"en", "It ended 2:1.", "de", "Es endete 2:1.", 0, 0},
        Pair{"en", "£3.5m", "de", "3,5 Millionen Pfund", 0, 0},
        Pair{"en", "five pounds of apples", "es", "cinco libras de manzanas", 0, 0},
        Pair{"en", "twenty bucks", "de", "zwanzig Dollar", 0, 0},
        Pair{"es", "diez dólares extra", "en", "ten extra dollars", 0, 0},
        Pair{"en", "half a dozen eggs", "de", "halb ein Dutzend Eier", 0, 0},
        Pair{"de", "um die Mittagszeit", "en", "at noon", 0, 0},
        Pair{"en", "100 million dollars", "es", "100 millones de $", 0, 0},
        Pair{"en", "10 percent", "es", "un 10 porciento", 0, 0}, Pair{"en", "3 °C", "es", "3 ºC", 0, 0},
        Pair{"en", "a 5% tax", "de", "eine fünfprozentige Steuer", 0, 0},
        Pair{"en", "the 100-meter dash", "de", "der Hundertmeterlauf", 0, 0},
        Pair{"de", "120 Kilometer in der Stunde", "en", "120 kilometers an hour", 0, 0},
        Pair{"en", "a 5K", "de", "ein 5-Kilometer-Lauf", 0, 0}, Pair{"en", "a 5K", "es", "un 5K", 0, 0},
        Pair{"en", "He earns 50K.", "de", "Er verdient 50.000.", 0, 0},
        Pair{"en", "Call nine one one!", "de", "Rufen Sie die 911!", 0, 0},
        Pair{"en", "in ten sixty-six", "de", "im Jahr 1066", 0, 0},
        Pair{"de", "Er ist Anfang zwanzig.", "en", "He is in his early twenties.", 0, 0},
        Pair{"de", "auf Wolke sieben", "en", "on cloud nine", 0, 0},
        Pair{"de", "ein paar Millionen Dollar", "en", "millions of dollars", 0, 0},
        Pair{"en", "CO2", "es", "CO₂", 0, 0}, Pair{"en", "1950-53", "de", "1950 bis 1953", 0, 0},
        Pair{"en", "the 31st state", "es", "el trigésimo primer estado", 0, 0},
        Pair{"de", "Gib gut acht!", "en", "Pay close attention!", 0, 0}));

// A point with three digits behind it separates thousands in Spanish, as far as the text does not tell
// otherwise.
INSTANTIATE_TEST_SUITE_P(
    SpanishMarks, ComparedValues,
    ::testing::Values(
        Pair{"en", "4.500 metres", "es", "4.500 metros", 1, 1},
        Pair{"en", "It is 1.234.", "es", "Es 1.234.", 1, 1}, Pair{"de", "2,125 m", "es", "2.125 m", 1, 1},
        Pair{"de", "2.125 m", "es", "2.125 m", 0, 0}, Pair{"en", "4.500 metres", "es", "4,5 metros", 0, 0},
        Pair{"en", "4,500 metres", "es", "4.500 metros", 0, 0},
        Pair{"es", "El 1,5 % de 300.000 es 4.500.", "en", "1.5% of 300,000 is 4.500.", 1, 1},
        Pair{"es", "El 1,5 % de 300.000 es 4.500.", "en", "1.5% of 300,000 is 4,500.", 0, 0},
        // "1,250" is 1250 in Mexico, but not beside "1,5" or "300.000".
        Pair{"en", "1,250 of 300,000", "es", "1,250 de 300.000", 1, 1},
        Pair{"en", "1,250 and 1.5%", "es", "1,250 y el 1,5 %", 1, 1},
        Pair{"en", "1,250 and 1.5%", "es", "1,250 y el 1.5 %", 0, 0},
        // Decimal points as in Mexico.
        Pair{"en", "from 2.5 to 3.125", "es", "de 2.5 a 3.125", 0, 0},
        Pair{"es", "de 2.5 a 3.125", "en", "from 2.5 to 3.125", 0, 0},
        Pair{"es", "de 1,234.50 a 3.125", "en", "from 1,234.50 to 3.125", 0, 0},
        // A version says nothing for certain.
        Pair{"es", "La versión 2.5 tiene 4.500 usuarios.", "en", "Version 2.5 has 4,500 users.", 0, 0}));

INSTANTIATE_TEST_SUITE_P(
    Halves, ComparedValues,
    ::testing::Values(Pair{"de", "anderthalb Stunden", "en", "one and a half hours", 0, 0},
                      Pair{"de", "eineinhalb Stunden", "en", "an hour and a half", 0, 0},
                      Pair{"de", "anderthalb Stunden", "en", "ninety minutes", 0, 0},
                      Pair{"de", "anderthalb Stunden", "en", "an hour", 1, 0},
                      Pair{"de", "anderthalb Stunden", "en", "half an hour", 1, 1},
                      Pair{"de", "zweieinhalb Jahre", "en", "two years", 1, 1},
                      Pair{"de", "zweieinhalb Jahre", "es", "dos años y medio", 0, 0},
                      Pair{"de", "ein zweieinhalbstündiger Film", "en", "a two-and-a-half-hour film", 0, 0},
                      Pair{"de", "dreieinhalbtausend Bücher", "en", "3,500 books", 0, 0},
                      Pair{"en", "It took two and a half hours.", "es", "Tardó dos horas.", 1, 1},
                      Pair{"en", "It took two hours.", "es", "Tardó dos horas y media.", 1, 1},
                      Pair{"en", "2½ miles", "de", "2,5 Meilen", 0, 0},
                      Pair{"es", "dos meses y medio", "en", "two months and a half", 0, 0},
                      Pair{"de", "zweieinhalb Wochen", "en", "a week and a half", 1, 1},
                      Pair{"de", "dreieinhalb Millionen Menschen", "en", "three 3,500,000 people", 0, 1},
                      Pair{"en", "half an hour", "es", "media hora", 0, 0},
                      Pair{"en", "half an hour", "es", "una hora", 1, 0},
                      Pair{"es", "media hora", "de", "eine halbe Stunde", 0, 0},
                      Pair{"es", "una hora", "de", "eine halbe Stunde", 0, 1},
                      Pair{"es", "hora y media", "en", "an hour and a half", 0, 0},
                      Pair{"es", "Son las dos y media.", "en", "It is half past two.", 0, 0},
                      Pair{"es", "un año y medio", "en", "eighteen months", 0, 0},
                      Pair{"en", "half a dozen eggs", "de", "sechs Eier", 0, 0},
                      Pair{"en", "half a million people", "de", "500.000 Menschen", 0, 0},
                      Pair{"en", "half a million people", "de", "eine Million Menschen", 1, 1},
                      Pair{"en", "two and a half million", "es", "dos millones y medio", 0, 0},
                      Pair{"en", "two and a half million", "de", "zwei Millionen", 1, 1},
                      Pair{"en", "half a second", "de", "eine halbe Sekunde", 0, 0},
                      Pair{"en", "half a second", "es", "tres segundos", 1, 1},
                      Pair{"es", "un segundo y medio", "en", "one and a half seconds", 0, 0},
                      Pair{"en", "an inch and a half", "de", "anderthalb Zoll", 0, 0},
                      Pair{"en", "a pound and a half", "es", "una libra y media", 0, 0},
                      Pair{"de", "ein halbes Pfund", "en", "two pounds", 1, 1},
                      Pair{"de", "Er kommt in anderthalb Stunden an.", "es", "Llega a una y media.", 1, 0},
                      Pair{"de", "in anderthalb Stunden", "es", "en una hora y media", 0, 0},
                      Pair{"de", "Er kommt um halb zwei an.", "es", "Llega a la una y media.", 0, 0},
                      // Without a number or a unit, a half is said in other ways.
                      Pair{"en", "half a mind to go", "de", "fast entschlossen zu gehen", 0, 0},
                      Pair{"en", "half the people", "es", "la mitad de la gente", 0, 0}));

INSTANTIATE_TEST_SUITE_P(
    SpokenNumbers, ComparedValues,
    ::testing::Values(
        Pair{"de", "Nach zwölf Komma fünf Kilometern", "en", "five kilometers after twelve", 1, 2},
        Pair{"de", "zwölf Komma fünf Kilometer", "en", "12.5 km", 0, 0},
        Pair{"en", "two point five kilos", "es", "dos puntos de cinco kilos", 1, 2},
        Pair{"en", "three point one four", "es", "3,14", 0, 0},
        Pair{"es", "el cinco coma seis por ciento", "en", "six percent on the five", 1, 2},
        Pair{"en", "It costs two euros eighty.", "es", "Cuesta ochenta euros.", 1, 1},
        Pair{"en", "It costs two euros eighty.", "de", "Es kostet 2,80 €.", 0, 0},
        Pair{"de", "3 Euro 50", "en", "three euros and fifty cents", 0, 0},
        Pair{"de", "Ein Euro zwanzig.", "en", "A twenty-euro.", 1, 1},
        Pair{"en", "She is one metre seventy-five tall.", "de", "Sie ist fünfundsiebzig groß.", 1, 1},
        Pair{"es", "Mide un metro ochenta.", "en", "He is 1.80 m tall.", 0, 0},
        Pair{"en", "a $50 lamp and a €3 bulb", "de", "eine Lampe für 50 Dollar und eine Birne für 3 €", 0, 0},
        Pair{"de", "Der Eintritt kostet 5,- € heute.", "en", "Admission is €5 today.", 0, 0},
        Pair{"es", "Cuesta doscientos pesos.", "en", "It costs two hundred weights.", 1, 0},
        Pair{"es", "Cuesta doscientos pesos.", "en", "It costs 200 pesos.", 0, 0},
        Pair{"es", "Ganaron dos a cero.", "en", "They won two minus.", 1, 0},
        Pair{"es", "Una por la mañana y dos por la noche.", "en", "One in the morning and 2 a.m.", 1, 2}));

INSTANTIATE_TEST_SUITE_P(
    DurationsAndCodes, ComparedValues,
    ::testing::Values(Pair{"de", "Der Song dauert 3:45.", "en", "The song lasts 3:45 a.m.", 1, 1},
                      Pair{"en", "The song lasts 3:45.", "de", "Das Lied dauert 3:45 Uhr.", 1, 1},
                      Pair{"es", "La canción dura 3:45.", "en", "The song lasts 3:45.", 0, 0},
                      Pair{"en", "at 180 °C for 20 min", "es", "a 180 °C durante 20 °C", 0, 1},
                      Pair{"en", "The flight takes 11h 20m.", "de", "Der Flug dauert 11. 20 m.", 1, 1},
                      Pair{"en", "The flight takes 11h 20m.", "de", "Der Flug dauert 11h 20m.", 0, 0},
                      Pair{"en", "It takes 11h 20m.", "es", "Dura 11 horas y 20 minutos.", 0, 0},
                      Pair{"de", "Goethestraße 17a", "en", "Goethestrasse 17", 1, 1},
                      Pair{"en", "12B Oak Street", "de", "Oak Street 12B", 0, 0},
                      Pair{"en", "3D printing at 16C", "de", "3D-Druck bei 16 °C", 0, 0},
                      Pair{"es", "Isabel II, madre de Carlos III", "en", "Isabel II, Charles III's mother", 0,
                           0}));

INSTANTIATE_TEST_SUITE_P(
    RelativeDays, ComparedValues,
    ::testing::Values(Pair{"de", "Übermorgen um acht Uhr", "en", "tomorrow at eight o'clock", 1, 0},
                      Pair{"de", "vorgestern", "en", "the day before yesterday", 0, 0},
                      Pair{"es", "Pasado mañana tenemos cita.", "en", "We have an appointment tomorrow.", 1,
                           0},
                      Pair{"en", "See you the day after tomorrow.", "es", "Hasta pasado mañana.", 0, 0},
                      Pair{"en", "See you tomorrow.", "de", "Bis übermorgen.", 0, 1}));

INSTANTIATE_TEST_SUITE_P(
    LostRanges, ComparedValues,
    ::testing::Values(
        Pair{"de", "Mo 8–18 Uhr, Sa 9–13 Uhr", "en", "Mo 8 a.m., Sa 6 p.m., 1 p.m. 9 a.m.", 4, 0},
        Pair{"en", "from 10am to 6pm", "es", "de las 18:00 a las 10:00", 1, 0},
        Pair{"de", "vom 1. bis 20. November", "en", "on November 1, 20", 1, 0},
        Pair{"de", "vom 3. bis zum 17. Juli", "en", "from July 3 to 17", 0, 0},
        Pair{"de", "vom 24.12. bis 6.1.", "en", "from December 24, January 6", 1, 0},
        Pair{"de", "vom 24.12. bis 6.1.", "en", "from December 24 until January 6", 0, 0},
        Pair{"de", "1.250,50 € bis zum 15. März", "en", "€1,250.50 by March 15", 0, 0},
        Pair{"es", "el 12 de noviembre a las 6:00", "en", "on November 12 at 6:00 a.m.", 0, 0},
        Pair{"en", "6-3, 6-4", "de", "6:3, 6:4", 0, 0},
        Pair{"en", "She won 6-3 6-4.", "de", "Sie gewann 6-3 6-4.", 0, 0},
        Pair{"en", "Our team won 3 to 1.", "de", "Unsere Mannschaft gewann drei zu eins.", 0, 0}));

// A number with the marks of another language.
INSTANTIATE_TEST_SUITE_P(
    ForeignThousands, ComparedValues,
    ::testing::Values(Pair{"en", "250.000 clients", "es", "250.000 clientes", 0, 0},
                      Pair{"en", "250.000 particular clients", "es", "250,00 clientes", 1, 1},
                      Pair{"en", "It costs €250.000.", "de", "Es kostet 250.000 €.", 0, 0},
                      Pair{"en", "It weighs 5.000 kg.", "de", "Es wiegt 5,000 kg.", 0, 0},
                      Pair{"en", "It weighs 5.000 kg.", "de", "Es wiegt 5.000 kg.", 1, 1},
                      Pair{"en", "250,000 clients", "de", "250,000 Kunden", 1, 1},
                      Pair{"en", "It has 1.500 employees.", "de", "Es hat 1.500 Angestellte.", 0, 0},
                      Pair{"en", "It has 1,500 employees.", "de", "Es hat 1,500 Angestellte.", 1, 1},
                      Pair{"de", "250.000 Kunden", "en", "250.000 clients", 1, 1},
                      Pair{"en", "5,963,373 people", "de", "5,963,373 Menschen", 0, 0},
                      Pair{"en", "He prepared the 1:0.", "de", "Er bereitete das 1.0:0 vor.", 1, 1},
                      Pair{"en", "in the first half year of 2018", "de", "im ersten Halbjahr 2018", 0, 0}));

// Numbers that were taken for a time, and times for another half of the day.
INSTANTIATE_TEST_SUITE_P(
    PartsOfTheDayAndScores, ComparedValues,
    ::testing::Values(
        Pair{"de", "Heute Abend um 8 Uhr gehen wir ins Kino.", "en", "Tonight we go out at 8 a.m.", 1, 1},
        Pair{"de", "Heute Abend um 8 Uhr gehen wir ins Kino.", "en", "Tonight we go out at 8 p.m.", 0, 0},
        Pair{"de", "Heute Abend um 8 Uhr gehen wir ins Kino.", "en", "We go out at 8 tonight.", 0, 0},
        Pair{"en", "Tonight at 8:30 we go out.", "de", "Um 8:30 Uhr gehen wir heute Abend aus.", 0, 0},
        Pair{"de", "Nachts um 1 Uhr war es laut.", "en", "It was loud at 1:00 p.m. at night.", 1, 1},
        Pair{"de", "Gegen 1 Uhr war es in der Nacht laut.", "en", "It was loud in the night, at 1 p.m.", 1,
             1},
        Pair{"de", "Am Sonnabend um 8 Uhr", "en", "on Saturday at 8 p.m.", 1, 1},
        Pair{"es", "Nos vemos por la tarde, a las 4.", "en", "See you in the afternoon, at 4 a.m.", 1, 1},
        Pair{"es", "Nos vemos por la tarde, a las 4.", "en", "See you in the afternoon, at 4.", 0, 0},
        Pair{"es", "Nos vemos a las 4.", "en", "See you at 4 a.m.", 1, 1},
        Pair{"es", "abierto de las 10 a las 18", "en", "open from 10 a.m. to 6 p.m.", 0, 0},
        Pair{"es", "entre las 4 y las 5 de la tarde", "en", "between 4 a.m. and 5 p.m.", 1, 1},
        Pair{"es", "entre las 4 y las 5 de la tarde", "en", "between 4 p.m. and 5 p.m.", 0, 0},
        Pair{"es", "entre las 4 y las 5 de la tarde", "en", "between four o'clock and 5 p.m.", 0, 0},
        Pair{"es", "entre las 3 y las 5 a.m.", "en", "between 3 am and 5 a.m.", 0, 0},
        Pair{"de", "von 3 bis 5 Uhr nachmittags", "en", "from 3 to 5 p.m.", 0, 0},
        Pair{"de", "von 3 bis 5 Uhr nachmittags", "en", "from 3 a.m. to 5 p.m.", 1, 1},
        Pair{"es", "después de las 13 h locales", "en", "after 1:00 p.m. local time", 0, 0},
        Pair{"de", "Um 2 Uhr mittags kommt er.", "en", "He comes at 2 a.m. at noon.", 1, 1},
        Pair{"de", "Um 2 Uhr mittags kommt er.", "en", "He comes at noon, at 2 p.m.", 0, 0},
        Pair{"de", "um 12 Uhr mittags", "en", "at noon", 0, 0},
        Pair{"es", "a las doce del mediodía", "en", "at noon, at twelve o'clock", 0, 0},
        Pair{"es", "A la 1 del mediodía comemos.", "en", "At noon we eat at 1 a.m.", 1, 1},
        Pair{"en", "The score was 3-0 at half-time.", "de", "In der Halbzeit stand es null um 3 Uhr.", 1, 1},
        Pair{"en", "The final score was 3-0.", "de", "Der Endstand war 3:00.", 2, 1},
        Pair{"en", "The final score was 3-5.", "de", "Der Endstand war 3:05.", 2, 1},
        Pair{"en", "The final score was 3-0.", "de", "Der Endstand war 0. 3.", 1, 0},
        Pair{"en", "The final score was 3-0.", "de", "Der Endstand war 3:0.", 0, 0},
        Pair{"en", "open from 9 to 5", "es", "abierto de 9 a 5:00", 0, 0},
        Pair{"en", "The score was 9 to 5.", "es", "El resultado fue de 9 a 5:00.", 1, 1},
        Pair{"en", "open 9-17", "de", "von 9 bis 17 Uhr offen", 0, 0},
        Pair{"en", "At 7 and 20 people came.", "de", "Um 7 Uhr und 20 Leute kamen.", 0, 0},
        Pair{"en", "He ran it in 3:45.", "de", "Er lief es in 3:45 Uhr.", 1, 1},
        Pair{"en", "He ran it in 3:05.", "de", "Er lief es in 3 Minuten und 5 Sekunden.", 0, 0},
        Pair{"de", "Zwischen halb acht und halb neun bin ich da.", "en",
             "I'll be there between half past eight and half past seven.", 1, 0},
        Pair{"de", "Zwischen halb acht und halb neun bin ich da.", "en",
             "I'll be there between half past seven and half past eight.", 0, 0},
        Pair{"de", "um halb acht und um halb neun", "en", "at half past eight and half past seven", 0, 0},
        Pair{"en", "It's 20 to 9.", "de", "Es ist 20 bis 9.", 1, 2},
        Pair{"en", "It's 20 to 9.", "de", "Es ist zwanzig vor neun.", 0, 0},
        Pair{"en", "It was 20 to 9.", "de", "Es war 20 zu 9.", 0, 0},
        Pair{"en", "It was 20 to 9.", "de", "Es war zwanzig vor neun.", 0, 0},
        Pair{"de", "Es steht 20 zu 9.", "en", "It's 20 to 9.", 0, 0},
        Pair{"de", "Es steht 20 zu 9.", "en", "It's 20 for 8.", 1, 1},
        Pair{"de", "Es ist zwanzig vor neun.", "en", "It's 20 to 9.", 0, 0},
        Pair{"de", "Es war zwanzig vor neun.", "en", "It was 20 to 9.", 0, 0},
        Pair{"es", "Era 10 a 5 en el descanso.", "en", "It was 10 to 5 at the break.", 0, 0},
        Pair{"de", "Nachts um 6 Uhr kam er.", "en", "He came at 6 a.m. at night.", 0, 0},
        Pair{"en", "Come tonight at 6.", "de", "Komm heute Abend um 18 Uhr.", 0, 0}));

INSTANTIATE_TEST_SUITE_P(
    SharedUnitsAndMarks, ComparedValues,
    ::testing::Values(
        Pair{"en", "It lost $1.2bn in 2023.", "de", "Es hat 2023 $ und 1,2 Milliarden Dollar verloren.", 0,
             1},
        Pair{"en", "It costs 5 or 10 dollars.", "de", "Es kostet 5 Dollar oder 10 Dollar.", 0, 0},
        Pair{"de", "Der Preis stieg von 5 auf 7 Euro.", "en", "The price rose from €5 to €7.", 0, 0},
        Pair{"es", "Cuesta 5 o 10 euros.", "en", "It costs €5 or €10.", 0, 0},
        Pair{"en", "It costs $5-$10.", "de", "Es kostet 5-Dollar10 $.", 1, 0},
        Pair{"es", "Pagó 1,250 pesos.", "en", "It paid 1.250 pesos.", 1, 1},
        Pair{"es", "Pagó 1,250 pesos.", "en", "He paid 1,250 pesos.", 0, 0},
        Pair{"es", "Ganó $1,500.", "en", "It won $1.500.", 1, 1},
        Pair{"es", "Cuesta 1,459 euros el litro.", "en", "It costs 1.459 euros a liter.", 0, 0},
        Pair{"en", "a 1.5-liter engine", "de", "ein 1.5-Liter-Motor", 1, 1},
        Pair{"en", "a 1.5-liter engine", "de", "ein 1.5- Liter Motor", 1, 1},
        Pair{"en", "a 1.5-liter engine", "de", "ein 1,5- Liter Motor", 0, 0},
        Pair{"es", "El siglo II fue duro.", "en", "The third century was tough.", 1, 0},
        Pair{"es", "El siglo II fue duro.", "en", "The second century was tough.", 0, 0}));

// A number is the day of another date, or an hour, although it counts something else.
INSTANTIATE_TEST_SUITE_P(
    MovedNumbers, ComparedValues,
    ::testing::Values(
        Pair{"en", "a table for 10 on February 2nd", "es", "una mesa para el 10 de febrero a 2 de febrero", 0,
             1},
        Pair{"en", "a table for 2 on February 2nd", "de", "am 2. Februar einen Tisch für 2. Februar", 0, 1},
        Pair{"en", "2 people from December 24 to December 28", "de",
             "24 Personen vom 2. Dezember bis zum 28. Dezember", 0, 1},
        Pair{"en", "from May 3 to June 5", "de", "vom 5. Mai bis zum 3. Juni", 1, 2},
        Pair{"en", "from 3 May 2019 to 3 May 2020", "de", "vom 3. Mai 2019 bis zum 3. Mai 2020", 0, 0},
        Pair{"en", "May 3, 4 and 5", "de", "am 3., 4. und 5. Mai", 0, 0},
        Pair{"es", "el 3 y el 4 de mayo", "en", "May 3 and May 4", 0, 0},
        Pair{"en", "the 3rd of May, not the 4th", "de", "am 3. Mai, nicht am 4. Mai", 0, 0},
        Pair{"de", "vom 3. bis 7. Mai", "en", "from May 3 to May 7", 0, 0},
        Pair{"es", "el sábado 18 de octubre, en lugar del viernes 24", "en",
             "Saturday, October 18 instead of Friday, October 24", 0, 0},
        Pair{"en", "The 21st century began on January 1.", "es", "El 21 de enero comenzó el 1 de enero.", 0,
             1},
        Pair{"en", "10 guests in February", "de", "10 Gäste am 10. Februar", 0, 1},
        Pair{"en", "Reserve 2 seats at 7 pm.", "de", "Um 2 Uhr, um 19 Uhr.", 1, 1},
        Pair{"en", "a table for 4 people", "es", "una mesa a las 4:00", 1, 1},
        Pair{"de", "2 Plätze um 19 Uhr", "en", "2:00 at 7 p.m.", 0, 1},
        Pair{"es", "Llevo dos horas aquí.", "en", "I've been here since two o'clock.", 1, 1},
        Pair{"de", "um drei Zeugin eines Unfalls", "en", "at three o'clock the witness of an accident", 0, 0},
        Pair{"de", "gegen 17.00 GMT", "en", "around 17:00 GMT", 0, 0},
        Pair{"en", "at 6 this evening", "de", "heute Abend um 18 Uhr", 0, 0},
        Pair{"en", "We meet at 10 on Friday.", "de", "Wir treffen uns Freitag um 10 Uhr.", 0, 0}));

/// A number with decimals is not a thousand times as much in Spanish. The reverse, "1,125" for 1125, is usual
/// in Mexico.
INSTANTIATE_TEST_SUITE_P(
    PartsOfAMillion, ComparedValues,
    ::testing::Values(
        Pair{"en", "Half a million people", "de", "Die Hälfte einer Million Menschen", 0, 0},
        Pair{"en", "Half a million people", "de", "Halbe fünfhunderttausend Menschen", 0, 1},
        Pair{"en", "Half a million dollars", "de", "Die Hälfte von 500.000 Dollar", 0, 1},
        Pair{"en", "A quarter of a million people", "de", "Ein Viertel einer Million Menschen", 0, 0},
        Pair{"en", "A quarter of a million people", "de", "Ein Viertel von zweihundertfünfzigtausend", 0, 1},
        Pair{"en", "A quarter of a million people", "de", "Ein Viertel von Millionen Menschen, 250.000", 0,
             1},
        Pair{"en", "Half a million dollars", "es", "A mitad de 500.000 dólares", 0, 1},
        Pair{"en", "Half a million people", "es", "la mitad de un millón de personas", 0, 0},
        Pair{"en", "A quarter of a million", "es", "una cuarta parte de unas doscientas cincuenta mil", 0, 1},
        Pair{"de", "Die Hälfte einer Million Euro", "en", "Half a million euros", 0, 0},
        Pair{"de", "Die Hälfte einer Million Euro", "en", "Half of 500,000 euros", 0, 1},
        // Of other numbers, halves are halves.
        Pair{"en", "Half of 500 people", "de", "Die Hälfte von 500 Leuten", 0, 0},
        Pair{"en", "Half the 500 people", "de", "Die Hälfte von 500 Leuten", 0, 0},
        Pair{"de", "Ein Viertel von 80", "es", "La cuarta parte de 80", 0, 0},
        // Also beside parts of an hour and of a million.
        Pair{"de", "Die Hälfte von 200 Leuten wartete eine halbe Stunde.", "en",
             "Half of 200 people waited half an hour.", 0, 0},
        Pair{"de", "Ein Viertel von 100 Gästen blieb eine Viertelstunde.", "en",
             "A quarter of 100 guests stayed for a quarter of an hour.", 0, 0},
        Pair{"en", "In half an hour he ate half of 20 cookies.", "de",
             "In einer halben Stunde aß er die Hälfte von 20 Keksen.", 0, 0},
        Pair{"en", "A quarter of 100 people waited three quarters of an hour.", "de",
             "Ein Viertel von 100 Leuten wartete eine Dreiviertelstunde.", 0, 0},
        Pair{"en", "He spent half of 500 dollars in half an hour.", "es",
             "Gastó la mitad de 500 dólares en media hora.", 0, 0},
        Pair{"es", "En media hora comió la mitad de 20 galletas.", "en",
             "In half an hour, he ate half of 20 cookies.", 0, 0},
        Pair{"en", "Half of 200 guests spent half a million dollars.", "de",
             "Die Hälfte von 200 Gästen gab eine halbe Million Dollar aus.", 0, 0},
        Pair{"en", "Half of 200 guests spent half a million dollars.", "de",
             "Die Hälfte von 200 Gästen gab die Hälfte von 500.000 Dollar aus.", 0, 1}));

INSTANTIATE_TEST_SUITE_P(
    PeriodsWithinAndBehindNumbers, ComparedValues,
    ::testing::Values(Pair{"en", "in an hour and a half", "de", "in 1,5 Minuten", 1, 1},
                      Pair{"en", "in an hour and a half", "de", "in 1,5 Stunden", 0, 0},
                      Pair{"en", "in an hour and a half", "de", "in anderthalb Stunden", 0, 0},
                      Pair{"en", "in an hour and a half", "es", "en hora y media", 0, 0},
                      Pair{"en", "in an hour and a half", "es", "en un año y medio", 1, 1},
                      Pair{"en", "I was 23rd.", "es", "Yo tenía 23 años.", 0, 1},
                      Pair{"en", "I was 23rd.", "es", "Fui el 23.", 0, 0},
                      Pair{"en", "the 18th-century house", "es", "la casa de 18 años", 0, 1},
                      Pair{"en", "The screen is 27\" wide.", "es", "La pantalla es de 27 años.", 0, 1},
                      Pair{"en", "The screen is 27″ wide.", "es", "La pantalla es de 27 años.", 0, 1},
                      Pair{"en", "He said \"I am 27\".", "es", "Dijo: «Tengo 27 años».", 0, 0},
                      Pair{"en", "He said “I am 27”.", "es", "Dijo: «Tengo 27 años».", 0, 0},
                      Pair{"en", "her 18th birthday", "es", "sus 18 años", 0, 0},
                      Pair{"en", "in the 5th week", "es", "en la 5 semana", 0, 0}));

INSTANTIATE_TEST_SUITE_P(
    AbbreviationsOfDays, ComparedValues,
    ::testing::Values(Pair{"de", "bis zum 1. März fällig", "en", "is €1 until March", 1, 1},
                      Pair{"de", "bis zum 1. März fällig", "en", "due by 1 March", 0, 0},
                      Pair{"de", "am Mo., 3.6., 9:15 Uhr", "en", "on June 3, 9:15 a.m.", 1, 0},
                      Pair{"de", "am Mo., 3.6., 9:15 Uhr", "en", "on Monday, June 3, 9:15 a.m.", 0, 0},
                      Pair{"de", "5. Dez 2024", "en", "Dez 5, 2024", 1, 0},
                      Pair{"en", "on Mar 5, 2025", "de", "am 5. März 2025", 0, 0},
                      Pair{"en", "Jun 5, 2024", "es", "5 de julio de 2024", 1, 1},
                      Pair{"en", "Tue 3pm, Thu 4pm", "es", "a las 15:00, Thu las 16:00", 2, 0},
                      Pair{"es", "el 15 ene. 2024", "en", "on the 15th. 2024", 1, 0},
                      Pair{"en", "on Nov. 5, 1999", "de", "am 5. Nov geboren. 1999.", 1, 1},
                      Pair{"en", "on Nov. 5, 1999", "de", "am 5. Nov. 1999", 0, 0},
                      Pair{"en", "on Nov. 5", "de", "am 5. Nov.", 0, 0},
                      Pair{"en", "Nov. 5 to Nov. 19, 1999", "de", "5. bis 19. Nov. 1999", 0, 0},
                      Pair{"en", "on Nov. 5, 1999", "es", "el 5 de Nov. 1999", 1, 1},
                      Pair{"en", "on Nov. 5, 1999", "es", "el 5 de nov. 1999", 0, 0},
                      Pair{"es", "el 3 oct. 2010", "en", "on the 3 oct. 2010", 1, 1},
                      Pair{"es", "el 3 oct. 2010", "en", "on 3 Oct. 2010", 0, 0},
                      Pair{"de", "Am 5. Mai Do-it-yourself-Markt", "en", "On May 5, Do-it-yourself Markt", 0,
                           0},
                      Pair{"de", "So 15 Minuten später", "en", "about 15 minutes later", 0, 0},
                      Pair{"en", "The Sun, 5 May 2024", "de", "The Sun, 5. Mai 2024", 0, 0}));

INSTANTIATE_TEST_SUITE_P(
    BordersOfCodesAndBytesThatAreNoCharacter, ComparedValues,
    ::testing::Values(Pair{"en", "The code is 8F-32-AA.", "de", "Der Code ist 8F-32-AA.", 0, 0},
                      Pair{"en", "The code is 8F-32-AA.", "de", "Der Code ist 8F-32-AAA.", 1, 1},
                      Pair{"en", "The code is 8F-32-AAA.", "de", "Der Code ist 8F-32-AA.", 1, 1},
                      Pair{"de", "zwei A380", "en", "two A380s", 0, 0},
                      Pair{"de", "die Seite von Node.js", "en", "Node.js's page", 0, 0},
                      Pair{"de", "COVID-19", "en", "Covid-19", 0, 0},
                      Pair{"de", "in Berlin; †2010", "en", "in Berlin;\uFFFD2010", 0, 1},
                      Pair{"de", "in Berlin; †2010 →", "en", "in Berlin; †2010 \uFFFD\uFFFD", 0, 1},
                      Pair{"de", "„Berlin“ – 2010", "en", "\uFFFDBerlin\uFFFD 2010", 0, 0},
                      Pair{"de", "\uFFFD in Berlin", "en", "\uFFFD in Berlin", 0, 0}));

TEST(SpanishMarks, DoNotHideAFactorOfAThousand) {
  for (const char* number : {"1.125", "4.5", "12.75", "999.999"}) {
    for (const ValueLanguage* from : {&german_values(), &english_values()}) {
      const std::string text = write_figures(number, *from), right = write_figures(number, spanish_values());
      std::string wrong = write_figures(with_zeros(number, 3), spanish_values());
      if (wrong.size() == 4) wrong.insert(1, ".");
      EXPECT_EQ(compare_values({text, *from}, {right, spanish_values()}).count(), 0U) << text << right;
      EXPECT_GT(compare_values({text, *from}, {wrong, spanish_values()}).count(), 0U) << text << wrong;
      EXPECT_GT(compare_values({wrong, spanish_values()}, {text, *from}).count(), 0U) << text << wrong;
    }
  }
}

// Errors of translations that agreed with their source, but not with a translation by people; and what people
// write.
INSTANTIATE_TEST_SUITE_P(
    OnceSilent, ComparedValues,
    ::testing::Values(Pair{"en", "at a quarter to midnight", "es", "a las 23:45", 0, 0},
                      Pair{"en", "at a quarter to midnight", "es", "a medianoche", 1, 1},
                      Pair{"en", "30 to 50 thousand people", "es", "de 30 000 a 50 000 personas", 0, 0},
                      Pair{"en", "30 to 50 thousand people", "es", "de 300 a 50 000 personas", 1, 1},
                      Pair{"en", "$2.8 billion", "es", "2,8 miles de millones de dólares", 0, 0},
                      Pair{"en", "all 20,000 of them", "es", "a las 20 000 personas", 0, 0},
                      Pair{"de", "auf 19 552,88 Punkte", "en", "to 19,552.88 points", 0, 0},
                      Pair{"de", "auf 19 552,88 Punkte", "en", "to 19,552 points", 1, 1},
                      Pair{"de", "An die 100 Tsd. Gäste", "en", "about 100,000 guests", 0, 0},
                      Pair{"de", "nicht 100-prozentig", "en", "not 100 per cent", 0, 0},
                      Pair{"en", "It takes two or three weeks.", "es", "Tarda dos semanas.", 1, 0},
                      Pair{"de", "zwei-drei Wochen lang", "en", "for two weeks", 1, 0},
                      Pair{"en", "two or three cats", "de", "ein paar Katzen", 1, 0},
                      Pair{"en", "a $1 billion investment", "es", "una inversión de mil millones", 1, 0},
                      Pair{"en", "a $50 lamp", "de", "eine Lampe für 50 Dollar", 0, 0},
                      Pair{"en", "in the early 90s", "es", "a principios", 1, 0},
                      Pair{"en", "in the early 90s", "es", "a principios de la década de 1990", 0, 0},
                      Pair{"en", "within a fortnight", "es", "en una noche", 1, 0},
                      Pair{"en", "within a fortnight", "es", "en dos semanas", 0, 0},
                      Pair{"en", "within a fortnight", "es", "en quince días", 0, 0},
                      Pair{"en", "within a fortnight", "de", "in vierzehn Tagen", 0, 0},
                      Pair{"de", "100 US Dollar", "en", "100", 1, 0},
                      Pair{"de", "die vierjährige Anna", "en", "Anna", 1, 0},
                      Pair{"de", "die vierjährige Anna", "en", "four-year-old Anna", 0, 0},
                      Pair{"de", "vor drei Jahren bei den Wahlen", "en", "at the elections", 1, 0},
                      Pair{"de", "die Vierprozenthürde", "en", "the four-hurdle", 1, 0},
                      Pair{"de", "die Vierprozenthürde", "en", "the 4% hurdle", 0, 0},
                      Pair{"es", "un millón de metros cúbicos", "en", "a million cubic metres", 0, 0},
                      Pair{"es", "un millón de metros cúbicos", "en", "a million meters", 1, 1},
                      Pair{"es", "las cuatro científicas", "en", "the four scientists", 0, 0},
                      Pair{"es", "las cuatro científicas", "en", "the four o'clock", 1, 1},
                      Pair{"es", "Vi a las quince mujeres.", "en", "I saw the fifteen women.", 0, 0},
                      Pair{"es", "a las 21 horas", "en", "at 9 p.m.", 0, 0},
                      Pair{"es", "a las 21 horas", "en", "in 21 hours", 1, 1},
                      Pair{"es", "a las dos horas de llegar", "en", "two hours after arriving", 0, 0},
                      Pair{"en", "five to six days", "es", "cinco a seis días", 0, 0},
                      Pair{"en", "five to six days", "es", "a las seis menos cinco días", 2, 1},
                      Pair{"en", "in the 1950s", "es", "en 1950", 1, 1},
                      Pair{"en", "in the 1950s", "es", "en los años 50", 0, 0},
                      Pair{"de", "in den 1990-er Jahren", "en", "in the 1990s", 0, 0},
                      Pair{"es", "a mediados de los años 1990", "en", "in the mid-1990 years", 1, 1},
                      Pair{"en", "in the eighties", "es", "en los ochoies", 1, 0},
                      Pair{"en", "in the eighties", "de", "in den Achtzigern", 0, 0},
                      Pair{"en", "in his eighties", "de", "mit über achtzig", 0, 0},
                      Pair{"es", "el cien por cien", "en", "a hundred", 1, 0},
                      Pair{"es", "la séptima versión", "en", "the version", 1, 0},
                      Pair{"es", "el octavo grado", "en", "the eighth grade", 0, 0},
                      Pair{"de", "85 Quadratmeter", "en", "85 m²", 0, 0},
                      Pair{"de", "85 Quadratmeter", "en", "85 meters", 1, 1},
                      Pair{"es", "30 kilómetros cuadrados", "en", "30 square kilometres", 0, 0},
                      Pair{"es", "30 kilómetros cuadrados", "en", "30 km", 1, 1},
                      Pair{"en", "12 sq mi", "de", "12 Quadratmeilen", 0, 0}));

INSTANTIATE_TEST_SUITE_P(
    WaysToSayTheSame, ComparedValues,
    ::testing::Values(Pair{"de", "um 14:35 Uhr", "en", "at 2:35 p.m.", 0, 0},
                      Pair{"de", "um halb zehn", "en", "at 9:30", 0, 0},
                      Pair{"de", "um sechs Uhr", "en", "at six", 0, 0},
                      Pair{"de", "um 10 Uhr", "en", "at 10:00", 0, 0},
                      Pair{"de", "von 10 bis 12 Uhr", "en", "from ten to twelve", 0, 0},
                      Pair{"en", "from 8 a.m. to noon", "de", "von 8 bis 12 Uhr", 0, 0},
                      Pair{"en", "at midnight", "de", "um Mitternacht", 0, 0},
                      Pair{"en", "at five to ten percent", "de", "bei fünf bis zehn Prozent", 0, 0},
                      Pair{"de", "60 Milliarden Euro", "en", "€60bn", 0, 0},
                      Pair{"de", "3,5 Millionen Pfund", "en", "£3.5m", 0, 0},
                      Pair{"en", "It costs $5k.", "de", "Es kostet 5.000 Dollar.", 0, 0},
                      Pair{"en", "flight LH 6887", "de", "Flug LH6887", 0, 0},
                      Pair{"de", "die WM 2022", "en", "the 2022 World Cup", 0, 0},
                      Pair{"de", "heute Abend um 6 Uhr", "en", "at 6 o'clock this evening", 0, 0},
                      Pair{"de", "um 18 Uhr", "en", "at six this evening", 0, 0},
                      Pair{"en", "from ten to twelve people", "de", "zehn bis zwölf Leute", 0, 0},
                      Pair{"de", "zwölf Affen", "en", "12 monkeys", 0, 0},
                      Pair{"de", "Beide kamen.", "en", "The two came.", 0, 0},
                      Pair{"en", "the two of them", "de", "sie", 0, 0},
                      Pair{"en", "a dozen eggs", "de", "zwölf Eier", 0, 0},
                      Pair{"en", "a four-year-old", "de", "ein Vierjähriger", 0, 0},
                      Pair{"en", "March 4, 2024", "de", "4. März 2024", 0, 0},
                      Pair{"en", "3/4/2024", "es", "3/4/2024", 0, 0},
                      Pair{"de", "vom 5. bis 19. August", "en", "from August 5 to August 19", 0, 0},
                      Pair{"de", "1. Milch kaufen", "en", "1. Buy milk", 0, 0},
                      Pair{"de", "1. Bundesliga", "en", "First league", 0, 0},
                      Pair{"de", "Ludwig XIV.", "en", "Louis the fourteenth", 0, 0},
                      Pair{"en", "COVID-19 cases", "de", "Covid-19-Fälle", 0, 0},
                      Pair{"de", "CO2", "en", "CO2", 0, 0},
                      Pair{"en", "in the 1930s", "es", "en los años 30", 0, 0},
                      Pair{"en", "half an hour", "de", "30 Minuten", 0, 0},
                      Pair{"en", "1,250 people", "es", "1,250 personas", 0, 0},
                      Pair{"en", "One cannot have a cat.", "de", "Man kann keine Katze haben.", 0, 0}));

INSTANTIATE_TEST_SUITE_P(
    SmallNumbers, ComparedValues,
    ::testing::Values(
        Pair{"en", "two days off", "de", "frei", 1, 0},
        Pair{"en", "Take two tablets daily.", "de", "Täglich nehmen.", 1, 0},
        Pair{"en", "Take two small tablets.", "de", "Tabletten nehmen.", 1, 0},
        Pair{"de", "Nimm drei kleine Tabletten.", "en", "Take tablets.", 1, 0},
        Pair{"es", "Tome dos pastillas.", "en", "Take pills.", 1, 0},
        Pair{"en", "The cats sleep.", "de", "Die zwei Katzen schlafen.", 0, 1},
        Pair{"en", "I can give you two tickets.", "de", "Ich kann dir Karten geben.", 1, 0},
        Pair{"en", "a table for two", "de", "ein Tisch", 1, 0},
        Pair{"en", "He sold it to two of his waiters.", "de", "Er verkaufte es Kellnern.", 1, 0},
        Pair{"en", "neither of the two answers", "de", "keine der Antworten", 0, 0},
        Pair{"en", "every other day", "de", "alle zwei Tage", 0, 0},
        Pair{"en", "Cut it in half.", "de", "Schneide es in zwei Hälften.", 0, 0},
        Pair{"en", "Cut it in half.", "es", "Córtalo en dos mitades.", 0, 0},
        Pair{"es", "Es el día 6 a mediodía.", "en", "It is on the 6th at noon.", 0, 0},
        Pair{"es", "el 6 a mediodía", "en", "from 6 a.m. to noon", 1, 1},
        Pair{"es", "de 6 a mediodía", "en", "from 6 a.m. to noon", 0, 0},
        Pair{"en", "A table for 4 at 5:30 p.m.", "de", "Ein Tisch für 4 Uhr um 17:30 Uhr.", 1, 1},
        Pair{"en", "A table for 4 at 5:30 p.m.", "de", "Ein Tisch für 4 um 17:30 Uhr.", 0, 0},
        Pair{"en", "A table for 7, please.", "de", "Ein Tisch für 7 Uhr, bitte.", 0, 0},
        Pair{"es", "los años 2020 a 2024", "en", "the years 2020 to 2024", 0, 0},
        Pair{"es", "Pagué $10,000.", "en", "I paid $10,000.000.", 1, 1},
        Pair{"es", "Pagué $10,000.", "en", "I paid $10,000.", 0, 0},
        Pair{"en", "I paid $10,000.", "es", "Pagué $10,000.", 0, 0},
        Pair{"en", "Gas is $3.459 per gallon.", "de", "Benzin kostet $3,459 je Gallone.", 0, 0},
        Pair{"en", "Two tickets, please.", "de", "Zweimals, bitte.", 1, 1},
        Pair{"de", "Alle drei schließen.", "en", "All three a.m. close.", 1, 1},
        Pair{"de", "Um sieben gibt es Tee.", "en", "Tea is at 7 a.m.", 0, 0},
        Pair{"de", "um 21 Uhr zwei Karten", "en", "two tickets at 9 p.m.", 0, 0},
        Pair{"de", "um 21 Uhr zwei Karten", "en", "two tickets at 9:02 p.m.", 1, 1},
        Pair{"de", "um 20 Uhr zwölf Karten", "en", "twelve tickets at 8 p.m.", 0, 0},
        Pair{"de", "um 20 Uhr zwölf", "en", "at 8:12 p.m.", 0, 0}));

ValueDifferences of(std::string_view source, std::string_view translation) {
  return compare_values({source, german_values()}, {translation, english_values()});
}

TEST(RepairTrials, PutTheRightValueInPlaceOfTheWrongOne) {
  const std::string source = "Der Bus kommt um halb zehn.", translation = "The bus comes at 2:00.";
  const auto trials =
      repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 0);
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(translation.substr(0, trials[0].kept_bytes), "The bus comes at ");
  EXPECT_EQ(trials[0].inserted, "half past nine");
  EXPECT_EQ(trials[1].required, std::vector<std::string>{"half past nine"});
  EXPECT_EQ(
      repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 1)[0]
          .inserted,
      "9:30");
}

TEST(RepairTrials, AreBoundedByTheNumberOfValues) {
  std::string source, translation;
  size_t trials = 0, largest = 0;
  for (size_t values = 1; values <= 300; ++values) {
    source += fmt::format("{}, ", values + 3);
    translation += "7, ";
    const ValueDifferences found = of(source, translation);
    EXPECT_EQ(found.compared, 2 * values);
    const size_t count =
        repair_trials(found, {source, translation}, german_values(), english_values(), 0).size();
    trials += count;
    if (count > 0) largest = values;
  }
  EXPECT_EQ(largest, 32U);
  EXPECT_LE(trials, 3 * largest);
}

TEST(RepairTrials, WriteShortPeriodsInWords) {
  const auto rewritten = [](const std::string& source, const std::string& translation) {
    const auto trials =
        repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 0);
    return trials.empty() ? "" : trials[0].source;
  };
  EXPECT_EQ(rewritten("Er brauchte 2 Std. dafür.", "He needed 2 kd for it."), "Er brauchte 2 Stunden dafür.");
  EXPECT_EQ(rewritten("Es dauert 12 Sek.", "It takes 12 sects."), "Es dauert 12 Sekunden.");
  EXPECT_EQ(rewritten("Warte 1Min bitte", "Wait 1st please"), "Warte 1 Minute bitte");
}

TEST(RepairTrials, NameMonths) {
  const auto rewritten = [](const std::string& source, const std::string& translation) {
    std::vector<std::string> sources;
    for (const RepairTrial& trial : repair_trials(of(source, translation), {source, translation},
                                                  german_values(), english_values(), 0)) {
      if (!trial.source.empty()) sources.push_back(trial.source);
    }
    return sources;
  };
  const std::string range = "Wir haben vom 24. Dezember bis zum 2. Januar geschlossen.";
  EXPECT_THAT(rewritten("Wir haben vom 24.12. bis zum 2.1. geschlossen.", "We're closed on December 24, 2."),
              ::testing::ElementsAre(range, range));  // without and with required values
  EXPECT_THAT(rewritten("Urlaub: 3.8. bis 21.8.", "Vacation: August 3, August 21."),
              ::testing::ElementsAre("Urlaub: 3. August bis 21. August."));
  EXPECT_THAT(rewritten("Am 3.8. kommen 20 Leute.", "On August 3, people come."), ::testing::ElementsAre());
}

TEST(RepairTrials, NameAbbreviatedMonthsAndWeekdays) {
  const auto trials = [](const std::string& source, const std::string& translation) {
    return repair_trials(of(source, translation), {source, translation}, german_values(), english_values(),
                         0);
  };
  EXPECT_EQ(trials("5. Dez 2024", "Dez 5, 2024").front().source, "5. Dezember 2024");
  EXPECT_EQ(trials("Es war am 5. Mär.", "It was on the 5th").front().source, "Es war am 5. März.");
  // A weekday is not written behind its abbreviation.
  const auto weekday = trials("Am Mo., 3.6., um 9:15 Uhr", "On Mo., June 3, at 9:15 a.m.");
  ASSERT_EQ(weekday.size(), 1U);
  EXPECT_EQ(weekday[0].source, "Am Montag, 3. Juni, um 9:15 Uhr");
}

TEST(RepairTrials, WriteRangesOfWeekdaysWithAWord) {
  const auto names = [](const char* from, const std::string& source, const std::string& translation) {
    const ValueLanguage &language = *value_language(from), &target = german_values();
    return repair_trials(compare_values({source, language}, {translation, target}), {source, translation},
                         language, target, 0)
        .front();
  };
  const RepairTrial english = names("en", "Open Mon–Fri, Sat - Sunday.", "Mon–Fri offen.");
  EXPECT_EQ(english.source, "Open Monday to Friday, Saturday to Sunday.");
  EXPECT_EQ(english.named, (std::vector<size_t>{16, 11, 5}));  // the translation must say them
  EXPECT_EQ(names("es", "Lun.-vie. de 9 a 14 h.", "Lun.-vie. 9 bis 14 Uhr").source,
            "lunes a viernes de 9 a 14 h.");
  EXPECT_EQ(names("en", "Sat/Sun, Mon and Tue", "Sat/Sun").source, "Saturday/Sunday, Monday and Tuesday");
}

TEST(RepairTrials, SayAFortnightInDays) {
  const std::string source = "See you in a fortnight.", translation = "Wir sehen uns in einer Nacht.";
  const ValueDifferences found = compare_values({source, english_values()}, {translation, german_values()});
  ASSERT_EQ(found.missing.size(), 1U);
  const auto trials = repair_trials(found, {source, translation}, english_values(), german_values(), 0);
  ASSERT_FALSE(trials.empty());
  EXPECT_EQ(trials[0].source, "See you in 14 days.");
}

TEST(RepairTrials, PutAMarkerFirst) {
  const std::string source = "1. Milch kaufen";
  const auto trials = repair_trials(of(source, "buying milk 1"), {source, "buying milk 1"}, german_values(),
                                    english_values(), 0);
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0].kept_bytes, 0U);
  EXPECT_EQ(trials[0].inserted, "1.");
}

TEST(RepairTrials, LeaveOutMoreOfAValue) {
  const std::string source = "Wir heiraten am 25.03.",
                    translation = "We are getting married on March 25, 25.";
  const auto trials =
      repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 0);
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(translation.substr(0, trials[1].kept_bytes), "We are getting married on March 25");
  EXPECT_EQ(translation.substr(trials[1].resumed_bytes), ".");
}

TEST(RepairTrials, AvoidAValueThatIsOnlyAdded) {
  const std::string source = "Der Hund schläft.", translation = "The dog sleeps at 7.";
  const auto trials =
      repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 0);
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(translation.substr(0, trials[0].kept_bytes), "The dog sleeps at ");
  EXPECT_EQ(trials[0].inserted, "");
}

TEST(RepairTrials, LeaveOutAUnit) {
  const std::string source = "1.250 Karten zu je 18,50 €", translation = "€1,250 tickets for €18.50";
  const auto trials =
      repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 0);
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[1].kept_bytes, 0U);
  EXPECT_EQ(trials[1].inserted, "1,250");
}

TEST(RepairTrials, WriteNumberWordsOfTheSourceInFigures) {
  const std::string source = "Der zweihundertneunte Gast kaufte zweiundvierzig Lampen für 3 Euro.",
                    translation = "The guest bought lamps for 3 euros.";
  const auto trials =
      repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 0);
  ASSERT_FALSE(trials.empty());
  EXPECT_EQ(trials.front().source, "Der 209. Gast kaufte 42 Lampen für 3 Euro.");
  EXPECT_EQ(trials.back().required, (std::vector<std::string>{"209th", "forty-two"}));
  // What the translation has stays in words.
  const std::string half = "The 209th guest bought lamps for 3 euros.";
  EXPECT_EQ(
      repair_trials(of(source, half), {source, half}, german_values(), english_values(), 0).front().source,
      "Der zweihundertneunte Gast kaufte 42 Lampen für 3 Euro.");
}

TEST(RepairTrials, KeepTheUnitBetweenANumberAndItsHalf) {
  const std::string source = "Estuvo dos meses y medio en el hospital.", translation = "It was in hospital.";
  const auto trials =
      repair_trials(compare_values({source, spanish_values()}, {translation, english_values()}),
                    {source, translation}, spanish_values(), english_values(), 0);
  ASSERT_FALSE(trials.empty());
  EXPECT_EQ(trials.front().source, "Estuvo 2,5 meses en el hospital.");
}

TEST(RepairTrials, PeriodsOfFiguresAreInPlural) {
  const std::string source = "She comes in an hour and a half.", translation = "Sie kommt.";
  const auto trials =
      repair_trials(compare_values({source, english_values()}, {translation, german_values()}),
                    {source, translation}, english_values(), german_values(), 0);
  ASSERT_FALSE(trials.empty());
  EXPECT_EQ(trials.front().source, "She comes in 1.5 hours.");
}

TEST(RepairTrials, FiguresKeepTheirUnit) {
  const std::string source = "Wir kauften zweieinhalb Liter Milch und eine fünfprozentige Lösung.",
                    translation = "We bought two and a half of milk and a solution.";
  const auto trials =
      repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 0);
  ASSERT_FALSE(trials.empty());
  EXPECT_EQ(trials.front().source, "Wir kauften 2,5 Liter Milch und eine fünfprozentige Lösung.");
}

TEST(RepairTrials, LeaveWordsThatSayMoreThanFigures) {
  for (const char* source :
       {"Wir warteten eine Dreiviertelstunde auf sieben Gäste.",
        "Wir warteten eine halbe Stunde auf sieben Gäste.", "In den Neunzigerjahren kamen sieben Gäste."}) {
    const std::string translation = "The guests came.";
    const auto trials =
        repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 0);
    ASSERT_FALSE(trials.empty());
    EXPECT_EQ(trials.front().source.find("sieben"), std::string::npos) << trials.front().source;
    EXPECT_NE(trials.front().source.find(" 7 "), std::string::npos) << trials.front().source;
    EXPECT_EQ(trials.front().source.find_first_of(",0"), std::string::npos) << trials.front().source;
  }
}

TEST(ValueWarnings, NameWhatIsMissingAndWhatIsNew) {
  const std::string source = "Der Bus kommt um halb zehn.", translation = "The bus comes at 2:00.";
  EXPECT_EQ(
      value_warnings(of(source, translation), {source, translation}),
      (std::vector<std::string>{"the translation lacks \"halb zehn\"", "the source does not say \"2:00\""}));
}

TEST(RepairTrials, WriteTheWholeRange) {
  const std::string source = "Our shop is open from 9 a.m. to 1 p.m. on Saturdays.",
                    translation = "Unser Laden ist samstags ab 9 Uhr offen.";
  const ValueDifferences found = compare_values({source, english_values()}, {translation, german_values()});
  ASSERT_TRUE(found.range.has_value());
  const RepairTrial trial =
      repair_trials(found, {source, translation}, english_values(), german_values(), 0).front();
  EXPECT_EQ(trial.inserted, "von 9 Uhr bis 13 Uhr");
  EXPECT_EQ(translation.substr(0, trial.kept_bytes), "Unser Laden ist samstags");
  // Where both times are there, there is nothing to write.
  const std::string right = "Unser Laden ist samstags von 9 bis 13 Uhr offen.";
  EXPECT_FALSE(compare_values({source, english_values()}, {right, german_values()}).range.has_value());
}

TEST(RepairTrials, WriteTheWholeRangeInPlaceOfItsPrepositionWithACapital) {
  const std::string source = "Von halb acht bis viertel nach neun.", translation = "From half past eight.";
  const RepairTrial trial =
      repair_trials(of(source, translation), {source, translation}, german_values(), english_values(), 0)
          .front();
  EXPECT_EQ(trial.kept_bytes, 0U);
  EXPECT_EQ(trial.inserted, "From half past seven to quarter past nine");
}

TEST(RepairTrials, WriteBothNumbersOfAScore) {
  const std::string source = "The final score was 3-0.", translation = "Der Endstand war 3:00.";
  const auto trials =
      repair_trials(compare_values({source, english_values()}, {translation, german_values()}),
                    {source, translation}, english_values(), german_values(), 0);
  EXPECT_TRUE(std::ranges::any_of(
      trials, [](const RepairTrial& trial) { return trial.required == std::vector<std::string>{"3-0"}; }));
}

TEST(RepairTrials, LeaveOutAWordBehindADuration) {
  const std::string source = "He ran it in 3:45.", translation = "Er lief es in 3:45 Uhr.";
  const RepairTrial trial =
      repair_trials(compare_values({source, english_values()}, {translation, german_values()}),
                    {source, translation}, english_values(), german_values(), 0)
          .front();
  EXPECT_EQ(translation.substr(0, trial.kept_bytes), "Er lief es in 3:45");
  EXPECT_EQ(translation.substr(trial.resumed_bytes), ".");
}

TEST(RepairTrials, ChangeOnlyTheMarkOfADecimalNumber) {
  const std::string source = "a 1.5-liter engine", translation = "ein 1.5- Liter Motor";
  const RepairTrial trial =
      repair_trials(compare_values({source, english_values()}, {translation, german_values()}),
                    {source, translation}, english_values(), german_values(), 0)
          .front();
  EXPECT_EQ(
      translation.substr(0, trial.kept_bytes) + trial.inserted + translation.substr(trial.resumed_bytes),
      "ein 1,5- Liter Motor");
}

TEST(RepairTrials, WriteTheUnitOfADecimalNumberInAWordToo) {
  const std::string source = "The 2.5-liter engine is strong.",
                    translation = "Die 2.5-litermaschine ist stark.";
  const auto trials =
      repair_trials(compare_values({source, english_values()}, {translation, german_values()}),
                    {source, translation}, english_values(), german_values(), 0);
  ASSERT_GE(trials.size(), 2);
  EXPECT_EQ(translation.substr(0, trials[0].kept_bytes) + trials[0].inserted, "Die 2,5 Liter");
  EXPECT_EQ(translation.substr(0, trials[1].kept_bytes) + trials[1].inserted, "Die 2,5 l");
  for (const RepairTrial& trial : trials) EXPECT_EQ(trial.resumed_bytes, 0);  // the unit would stay missing
}

TEST(RepairTrials, WriteBothTimesOfAList) {
  const std::string source = "They have appointments at 10 a.m. and 11 a.m. on Friday.",
                    translation = "Sie haben Termine um 11 Uhr am Freitag.";
  const ValueDifferences found = compare_values({source, english_values()}, {translation, german_values()});
  const RepairTrial trial =
      repair_trials(found, {source, translation}, english_values(), german_values(), 0).front();
  EXPECT_EQ(trial.inserted, "10 Uhr und 11 Uhr");
  EXPECT_EQ(translation.substr(0, trial.kept_bytes), "Sie haben Termine um");
}

TEST(ComparedValues, OfRepeatedTextTakeLittleTime) {
  const auto copies = [](std::string_view text) {
    std::string result;
    for (int n = 0; n < 4000; ++n) result += text;
    return result;
  };
  // Of each of these, the time was once quadratic: in the length of the text, or in its values.
  EXPECT_GT(compare_values({copies("5, "), german_values()}, {copies("5 %, "), english_values()}).count(),
            0U);
  EXPECT_GT(compare_values({copies("2:1 "), german_values()}, {copies("1:2 "), english_values()}).count(),
            0U);
  EXPECT_GT(compare_values({copies("+49 30 123456 "), german_values()},
                           {copies("+49 30 123457 "), english_values()})
                .count(),
            0U);
  EXPECT_EQ(compare_values({copies("1 "), german_values()}, {copies("1 "), english_values()}).count(), 0U);
  EXPECT_EQ(
      compare_values({copies("for 5 "), english_values()}, {copies("um 5 Uhr "), german_values()}).count(),
      0U);
}

TEST(ComparedValues, OfGivenTextsAreNoDifferences) {
  const std::string source = "Der Hund schläft.", translation = "The 24 Hours of dog: 3 sleep.";
  ValueDifferences found = compare_values({source, german_values()}, {translation, english_values()});
  EXPECT_EQ(found.added.size(), 2U);
  leave_out_given({"", "the 24 Hours", "hours of 3"}, translation, found);
  ASSERT_EQ(found.added.size(), 1U);
  EXPECT_EQ(found.added[0].normal, "3");
}

std::string written(const std::string& text, const char* from, const char* to) {
  const TextValues found = find_values(text, *value_language(from));
  return write_value(found.values.at(0), text, *value_language(to)).at(0);
}

TEST(WrittenValues, YearsHaveNoSeparators) {
  EXPECT_EQ(written("seit 2008", "de", "en"), "2008");
  EXPECT_EQ(written("2008 €", "de", "en"), "€2,008");
  EXPECT_EQ(written("2.008 Gäste", "de", "en"), "2,008");
}

TEST(WrittenValues, RangesOfMoneyKeepTheirHyphen) {
  const auto rewritten = [](const char* text, const char* from, const char* to) {
    return rewrite_numbers(text, *value_language(from), *value_language(to)).value_or("");
  };
  EXPECT_EQ(rewritten("$5-$10", "en", "de"), "5 Dollar-10 Dollar");
  EXPECT_EQ(rewritten("$1,000.50-$2,000", "en", "es"), "1000,50 dólares-2000 dólares");
  EXPECT_EQ(rewritten("€1.000-€2.000", "de", "en"), "€1,000-€2,000");
}

TEST(WrittenValues, MillionsAreWords) {
  EXPECT_EQ(written("300 Millionen Euro", "de", "en"), "€300 million");
  EXPECT_EQ(written("440 mil millones de dólares", "es", "en"), "$440 billion");
  EXPECT_EQ(written("$440 billion", "en", "es"), "440.000 millones de dólares");
  EXPECT_EQ(written("1,6 Billionen Dollar", "de", "en"), "$1.6 trillion");
  EXPECT_EQ(written("40.200 millones de coronas", "es", "de"), "40,2 Milliarden");
  EXPECT_EQ(written("$150,000,000", "en", "de"), "150.000.000 Dollar");
  EXPECT_EQ(written("eine Million Euro", "de", "en"), "€1,000,000");
}

TEST(WrittenValues, PartsOfAMillionAreWords) {
  EXPECT_EQ(written("half a million people", "en", "de"), "eine halbe Million");
  EXPECT_EQ(written("half a million dollars", "en", "de"), "eine halbe Million Dollar");
  EXPECT_EQ(written("half a million euros", "en", "es"), "medio millón de euros");
  EXPECT_EQ(written("tres cuartos de millón", "es", "en"), "three quarters of a million");
  EXPECT_EQ(written("un cuarto de millón", "es", "de"), "ein Viertel einer Million");
  EXPECT_EQ(written("Viertelmillion", "de", "es"), "un cuarto de millón");
  EXPECT_EQ(written("five hundred thousand people", "en", "de"), "fünfhunderttausend");
}

TEST(WrittenValues, DecadesAndQuartersOfAnHour) {
  EXPECT_EQ(written("Neunzigerjahre", "de", "en"), "90s");
  EXPECT_EQ(written("1990s", "en", "de"), "1990er");
  EXPECT_EQ(written("Dreiviertelstunde", "de", "en"), "three quarters of an hour");
  EXPECT_EQ(written("a quarter of an hour", "en", "es"), "un cuarto de hora");
  EXPECT_EQ(written("tres cuartos de hora", "es", "de"), "eine Dreiviertelstunde");
}

TEST(WrittenValues, RomanNumeralsAreCopied) {
  const std::string source = "Henry VIII had six wives.";
  const ValueLanguage &english = *value_language("en"), &german = *value_language("de");
  const ValueDifferences differences =
      compare_values({source, english}, {"Heinrich VIIII. hatte sechs Frauen.", german});
  ASSERT_EQ(differences.missing.size(), 1U);
  EXPECT_EQ(write_value(differences.missing[0], source, german), std::vector<std::string>{"VIII"});
}

}  // namespace
}  // namespace heed::translate
