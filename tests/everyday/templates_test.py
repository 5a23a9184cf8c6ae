"""The sentence templates of recipes/everyday: three languages with the same slots, and none that the held-out sentences
with values (tests/data/values.*) could come from."""
import functools
import pathlib
import random
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVERYDAY = ROOT / "recipes" / "everyday"
sys.path.insert(0, str(EVERYDAY))
from value_slots import MADE, ordinal

TEMPLATES = [EVERYDAY / f"{name}.tsv" for name in ("templates", "clock", "dates", "numbers", "lists", "headings")]


def triples():
    for path in TEMPLATES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.name}:{number}", line.split("\t")


LISTED = {}  # slot: its values in slots.tsv
for row in (EVERYDAY / "slots.tsv").read_text(encoding="utf-8").splitlines():
    LISTED.setdefault(row.split("\t")[0], []).append(row.split("\t")[1:])


@functools.cache
def pattern(text, column):
    """What a template can become: listed slots are one of their values, made ones some words."""
    def slot(match):
        kind = match[1]
        if kind in MADE: return r"\S+(?: \S+){0,3}"
        values = [row[column] for row in LISTED["capital" if kind == "country" else kind] + LISTED.get(kind, [])]
        return "(?:" + "|".join(map(re.escape, values)) + ")"
    return re.compile(re.sub(r"\\\{([a-z_]+)\d?\\\}", slot, re.escape(text)))


def filled(*arguments):
    command = [sys.executable, EVERYDAY / "fill-templates", *arguments, EVERYDAY / "slots.tsv", *TEMPLATES]
    output = subprocess.run([str(word) for word in command], capture_output=True, text=True, encoding="utf-8", check=True).stdout
    return [line.split("\t") for line in output.splitlines()]


class Templates(unittest.TestCase):
    def test_same_slots_in_all_languages(self):
        for where, texts in triples():
            self.assertEqual(len(texts), 3, where)
            slots = [sorted(set(re.findall(r"\{\w+\}", text))) for text in texts]
            if "{capital}" not in slots[0]: self.assertTrue(slots[0] == slots[1] == slots[2], f"{where}: {slots}")

    def test_no_template_makes_a_held_out_sentence(self):
        held_out = set()
        for path in sorted((ROOT / "tests" / "data").glob("values.*.tsv")):
            for line in path.read_text(encoding="utf-8").splitlines(): held_out.update(line.split("\t")[:2])
        self.assertGreater(len(held_out), 300)
        for where, texts in triples():
            for column, text in enumerate(texts):
                if not re.sub(r"\{\w+\}|\W", "", text): continue  # of slots alone
                for sentence in held_out: self.assertIsNone(pattern(text, column).fullmatch(sentence), f"{where}: {sentence}")


    def test_the_frames_of_the_grid_are_not_trained_on(self):
        """tests/data/value-frames.tsv has templates for scoring: none has the words of one for training."""
        words = lambda text: re.sub(r"\W+", " ", re.sub(r"\{\w+\}", "", text)).strip().casefold()
        trained = {words(text) for _, texts in triples() for text in texts}
        frames = [line.split("\t") for line in (ROOT / "tests" / "data" / "value-frames.tsv").read_text(encoding="utf-8").splitlines()]
        for texts in frames:
            self.assertEqual(len(texts), 3)
            slots = [sorted(re.findall(r"\{\w+\}", text)) for text in texts]
            self.assertTrue(slots[0] == slots[1] == slots[2], texts)
            for text in texts: self.assertFalse(words(text) and words(text) in trained, text)
        kinds = {kind for texts in frames for kind in re.findall(r"\{(\w+)\}", texts[0])}
        self.assertGreaterEqual(kinds, {"oclock", "hours", "clock", "fulldate", "date", "words", "temperature", "room", "platform", "marker"})


class Filled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.usual = filled(1, 8)
        cls.from_german = filled("--from", "de", 1, 8)

    def test_no_slot_is_left(self):
        for triple in self.usual + self.from_german:
            self.assertEqual(len(triple), 3)
            self.assertNotRegex(" ".join(triple), r"[{}]")

    def test_a_sentence_ends_in_one_period(self):
        for triple in self.usual + self.from_german:
            for text in triple: self.assertNotRegex(text, r"(?<!\.)\.\.(?!\.)")
        self.assertTrue(any(text.endswith("p.m.") for _, text, _ in self.usual))

    def test_sentences_begin_with_a_capital(self):
        for german, english, spanish in self.usual:
            if german[0].isalpha() and not re.match(r"\w+[.)@]|http|www|\w+-?\w*\.\w", german):
                self.assertTrue(german[0].isupper() and english[0].isupper(), f"{german} | {english}")

    def test_afternoon_is_afternoon(self):
        """A German time with "Uhr" has the same hour in English, with a.m. before noon and p.m. after it."""
        seen = 0
        for german, english, _ in self.usual:
            for hour, minute in re.findall(r"(?<![\d.:])(\d{1,2})[.:](\d\d) Uhr", german):
                hour, half = int(hour), "a.m." if int(hour) < 12 else "p.m."
                expected = f"{(hour - 1) % 12 + 1}:{minute} {half}"
                if minute == "00": expected = {0: "midnight", 12: "noon"}.get(hour, f"{(hour - 1) % 12 + 1} {half}")
                self.assertIn(expected, english, german)
                seen += 1
        self.assertGreater(seen, 300)

    def test_other_ways_only_in_the_source_language(self):
        ways = {"date": r"\d\d\.\d\d\.\d{4}", "clock": r"dreiviertel|halb \d", "time": r"\d\d\.\d\d Uhr"}
        for kind, way in ways.items():
            count = lambda triples: sum(bool(re.search(way, german)) for german, _, _ in triples)
            self.assertEqual(count(self.usual), 0, kind)
            self.assertGreater(count(self.from_german), 5, kind)
        for _, english, spanish in self.from_german: self.assertNotRegex(english + spanish, r"\d [ap]m\b|\d/\d+/\d{4}")

    def test_the_seed_decides(self):
        self.assertEqual(self.usual, filled(1, 8))
        self.assertNotEqual(self.usual, filled(2, 8))


class Slots(unittest.TestCase):
    def test_each_has_three_languages_and_no_empty_way(self):
        for kind, make in MADE.items():
            rnd = random.Random(5)
            for _ in range(300):
                value = make(rnd)
                self.assertEqual(len(value), 3, kind)
                for ways in value:
                    for way in [ways] if isinstance(ways, str) else ways: self.assertTrue(way and way == way.strip(), kind)

    def test_spanish_article_of_one_o_clock(self):
        rnd = random.Random(1)
        for _ in range(3000):
            for way in MADE["oclock"](rnd)[2] + MADE["clock"](rnd)[2]:
                self.assertEqual(way.startswith("la "), bool(re.match(r"las? (1|una)(?!\d)", way)), way)

    def test_ordinals(self):
        self.assertEqual([ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30, 31)],
                         "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 23rd 30th 31st".split())


if __name__ == "__main__":
    unittest.main()
