"""Number words, clock times and dates of recipes/everyday against forms written by hand."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "recipes" / "everyday"))
from numerals import (english_clock_variants, english_number, german_clock_variants, german_number, long_date,
                      spanish_clock_variants, spanish_number, twelve_hour)


class NumberWords(unittest.TestCase):
    def test_german(self):
        for n, words in {
                0: "null", 1: "eins", 7: "sieben", 16: "sechzehn", 17: "siebzehn", 20: "zwanzig", 21: "einundzwanzig",
                30: "dreißig", 66: "sechsundsechzig", 73: "dreiundsiebzig", 77: "siebenundsiebzig", 100: "einhundert",
                101: "einhunderteins", 121: "einhunderteinundzwanzig", 312: "dreihundertzwölf",
                999: "neunhundertneunundneunzig", 1001: "eintausendeins", 21000: "einundzwanzigtausend",
                101000: "einhunderteintausend"}.items():
            self.assertEqual(german_number(n), words)

    def test_english(self):
        for n, words in {
                0: "zero", 13: "thirteen", 40: "forty", 73: "seventy-three", 100: "one hundred", 215: "two hundred fifteen",
                999: "nine hundred ninety-nine", 1001: "one thousand one", 12300: "twelve thousand three hundred"}.items():
            self.assertEqual(english_number(n), words)
        self.assertEqual(english_number(215, british=True), "two hundred and fifteen")
        self.assertEqual(english_number(1001, british=True), "one thousand and one")
        self.assertEqual(english_number(1215, british=True), "one thousand two hundred and fifteen")
        self.assertEqual(english_number(1200, british=True), "one thousand two hundred")

    def test_spanish(self):
        for n, words in {
                0: "cero", 15: "quince", 16: "dieciséis", 21: "veintiuno", 22: "veintidós", 26: "veintiséis", 31: "treinta y uno",
                73: "setenta y tres", 100: "cien", 101: "ciento uno", 500: "quinientos", 745: "setecientos cuarenta y cinco",
                999: "novecientos noventa y nueve", 1000: "mil", 2024: "dos mil veinticuatro", 21000: "veintiún mil"}.items():
            self.assertEqual(spanish_number(n), words)

    def test_spanish_in_front_of_a_noun(self):
        for n, masculine, feminine in (
                (1, "un", "una"), (21, "veintiún", "veintiuna"), (31, "treinta y un", "treinta y una"),
                (101, "ciento un", "ciento una"), (200, "doscientos", "doscientas"), (500, "quinientos", "quinientas"),
                (721, "setecientos veintiún", "setecientas veintiuna"), (100, "cien", "cien"),
                (31000, "treinta y un mil", "treinta y una mil")):
            self.assertEqual((spanish_number(n, "m"), spanish_number(n, "f")), (masculine, feminine))

    def test_out_of_range(self):
        for number in (german_number, english_number, spanish_number):
            for n in (-1, 1_000_000):
                with self.assertRaises(ValueError): number(n)

    def test_all_numbers_differ(self):
        for number in (german_number, english_number, spanish_number):
            self.assertEqual(len({number(n) for n in range(10000)}), 10000)


class ClockTimes(unittest.TestCase):
    def test_usual_forms(self):
        for hour, minute, german, english, spanish in (
                (1, 0, "ein Uhr", "one o'clock", "la una"), (9, 0, "neun Uhr", "nine o'clock", "las nueve"),
                (8, 5, "fünf nach acht", "five past eight", "las ocho y cinco"),
                (8, 10, "zehn nach acht", "ten past eight", "las ocho y diez"),
                (12, 15, "Viertel nach zwölf", "a quarter past twelve", "las doce y cuarto"),
                (4, 20, "zwanzig nach vier", "twenty past four", "las cuatro y veinte"),
                (9, 25, "fünf vor halb zehn", "twenty-five past nine", "las nueve y veinticinco"),
                (9, 30, "halb zehn", "half past nine", "las nueve y media"),
                (12, 30, "halb eins", "half past twelve", "las doce y media"),
                (9, 35, "fünf nach halb zehn", "twenty-five to ten", "las diez menos veinticinco"),
                (4, 40, "zwanzig vor fünf", "twenty to five", "las cinco menos veinte"),
                (8, 45, "Viertel vor neun", "a quarter to nine", "las nueve menos cuarto"),
                (12, 45, "Viertel vor eins", "a quarter to one", "la una menos cuarto"),
                (11, 50, "zehn vor zwölf", "ten to twelve", "las doce menos diez"),
                (12, 55, "fünf vor eins", "five to one", "la una menos cinco")):
            self.assertEqual((german_clock_variants(hour, minute)[0], english_clock_variants(hour, minute)[0],
                              spanish_clock_variants(hour, minute)[0]), (german, english, spanish))

    def test_other_forms(self):
        self.assertIn("dreiviertel neun", german_clock_variants(8, 45))
        self.assertIn("viertel neun", german_clock_variants(8, 15))
        self.assertIn("zehn vor halb fünf", german_clock_variants(4, 20))
        self.assertIn("eight oh five", english_clock_variants(8, 5))
        self.assertIn("ten fifteen", english_clock_variants(10, 15))
        self.assertIn("las ocho y cuarenta y cinco", spanish_clock_variants(8, 45))

    def test_hours_as_figures(self):
        self.assertEqual(german_clock_variants(9, 30, digits=True), ["halb 10"])
        self.assertEqual(german_clock_variants(1, 0, digits=True), ["1 Uhr"])
        self.assertEqual(english_clock_variants(9, 30, digits=True), ["half past 9"])
        self.assertEqual(spanish_clock_variants(12, 45, digits=True)[0], "la 1 menos cuarto")

    def test_each_form_says_one_time(self):
        for variants in (german_clock_variants, english_clock_variants, spanish_clock_variants):
            said = {}
            for hour in range(1, 13):
                for minute in range(0, 60, 5):
                    for form in variants(hour, minute):
                        self.assertEqual(said.setdefault(form, (hour, minute)), (hour, minute), form)

    def test_twelve_hours(self):
        for hour, minute, english in ((0, 0, "midnight"), (0, 20, "12:20 a.m."), (9, 42, "9:42 a.m."), (12, 0, "noon"),
                                      (12, 5, "12:05 p.m."), (13, 5, "1:05 p.m."), (18, 0, "6 p.m."), (23, 59, "11:59 p.m.")):
            self.assertEqual(twelve_hour(hour, minute), english)
        self.assertEqual(twelve_hour(0, 0, full_hour_digits=True), "12:00 a.m.")


class Dates(unittest.TestCase):
    def test_long(self):
        self.assertEqual([long_date(l, 12, 3, 2024) for l in ("de", "en", "es")],
                         ["12. März 2024", "March 12, 2024", "12 de marzo de 2024"])
        self.assertEqual([long_date(l, 1, 12) for l in ("de", "en", "es")], ["1. Dezember", "December 1", "1 de diciembre"])


if __name__ == "__main__":
    unittest.main()
