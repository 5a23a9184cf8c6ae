#!/usr/bin/env python3
"""How many values a model translates right: 500 generated sentences for each kind of value, in frames that
recipes/everyday does not have (tests/data/value-frames.tsv), with and without the check of values.

Usage: bench/value_grid.py [--heed build/bin/heed] [--pair de-en] [--cases 500] [--seed 1] [--kind TEXT] [--write DIR]

Columns of the table: right without the check; right with it; wrong with a warning; wrong without one; right and
warned of all the same.

--kind: only kinds with this text in their name.
--write: leaves the sentences as pairs with their accepted forms, for `heed evaluate --must-contain`, and what is
wrong or warned of (*.review)."""
import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVERYDAY = ROOT / "recipes" / "everyday"
sys.path.insert(0, str(EVERYDAY))

from numerals import (english_clock_variants, english_number, german_clock_variants, german_number,  # noqa: E402
                      long_date, spanish_clock_variants, spanish_number)
from value_slots import MADE  # noqa: E402

LANGUAGES = ("de", "en", "es")
KINDS = {
    "times in words": ["clock"], "times of a part of the day": ["clockday"], "24-hour times": ["oclock"],
    "opening hours": ["hours"], "dates with a year": ["fulldate"],
    "dates": ["date"], "number words": ["words", "words_m", "words_f"], "temperatures": ["temperature", "frost"],
    "rooms, platforms, codes": ["room", "platform", "code", "line", "flight"], "list markers": ["marker"],
    "amounts": ["price"], "percentages": ["percent"], "large numbers": ["bignumber"],
    "telephone numbers, addresses": ["phone", "email", "url"], "years": ["year"],
}
# These have no frames, or few, among those of tests/data.
MORE_FRAMES = [
    ("Bei {clockday} war Schluss.", "It was over at {clockday}.", "Se acabó a {clockday}."),
    ("Um {clockday} hat der Hund gebellt.", "The dog barked at {clockday}.", "El perro ladró a {clockday}."),
    ("Wir haben uns um {clockday} verabschiedet.", "We said goodbye at {clockday}.", "Nos despedimos a {clockday}."),
    ("Um {clockday} sind alle müde.", "Everybody is tired at {clockday}.", "A {clockday} todos están cansados."),
    ("Der Klempner ist unter {phone} zu erreichen.", "The plumber can be reached at {phone}.", "Se puede llamar al fontanero al {phone}."),
    ("Beschwerden bitte an {email} richten.", "Please address complaints to {email}.", "Por favor, dirija las quejas a {email}."),
    ("Das Protokoll liegt unter {url} bereit.", "The minutes are available at {url}.", "El acta está disponible en {url}."),
    ("Seit {year} gehört die Mühle der Gemeinde.", "The mill has belonged to the village since {year}.", "El molino es del pueblo desde {year}."),
    ("Die Brücke stammt aus dem Jahr {year}.", "The bridge dates from {year}.", "El puente es del año {year}."),
    ("Der Hammer liegt bei {price}, die Säge ist teurer.", "The hammer is {price}, the saw is more expensive.", "El martillo sale a {price}, la sierra es más cara."),
    ("Wer hat um {oclock} das Fenster geöffnet?", "Who opened the window at {oclock}?", "¿Quién abrió la ventana a {oclock}?"),
    ("Vor {clock} steht hier niemand auf.", "Nobody gets up here before {clock}.", "Aquí nadie se levanta antes de {clock}."),
    ("Die Eisdiele verkauft {hours} Waffeln.", "The ice cream parlor sells waffles {hours}.", "La heladería vende gofres {hours}."),
    ("Der Schatz wurde am {fulldate} gehoben.", "The treasure was raised on {fulldate}.", "El tesoro se sacó el {fulldate}."),
    ("Erst am {date} blüht der Kaktus.", "The cactus does not bloom until {date}.", "El cactus no florece hasta el {date}."),
    ("Am Zaun hängen {words_m} Luftballons.", "There are {words_m} balloons on the fence.", "De la valla cuelgan {words_m} globos."),
    ("{marker} Fahrrad putzen", "{marker} Clean the bicycle", "{marker} Limpiar la bicicleta"),
    ("Der Teppich kostet {price}.", "The carpet costs {price}.", "La alfombra cuesta {price}."),
    ("Für das Fahrrad habe ich {price} bezahlt.", "I paid {price} for the bicycle.", "Pagué {price} por la bicicleta."),
    ("Sie schuldet mir noch {price}.", "She still owes me {price}.", "Todavía me debe {price}."),
    ("Nur {percent} der Äpfel waren reif.", "Only {percent} of the apples were ripe.", "Solo el {percent} de las manzanas estaban maduras."),
    ("Die Miete ist um {percent} gestiegen.", "The rent has gone up by {percent}.", "El alquiler ha subido un {percent}."),
    ("Das Stadion fasst {bignumber} Zuschauer.", "The stadium holds {bignumber} spectators.", "El estadio tiene capacidad para {bignumber} espectadores."),
    ("Auf der Insel leben {bignumber} Menschen.", "{bignumber} people live on the island.", "En la isla viven {bignumber} personas."),
]


def template_tool():
    loader = importlib.machinery.SourceFileLoader("fill_templates", str(EVERYDAY / "fill-templates"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fill_templates", loader))
    loader.exec_module(module)
    return module


FILL = template_tool()


def other_forms():
    """By the usual German form of a value in words: its forms in figures, by language."""
    forms = {}
    for n in range(2, 1000):
        words = {"de": german_number(n), "en": english_number(n), "es": spanish_number(n)}
        forms[words["de"]] = {language: [str(n), words[language]] for language in LANGUAGES}
        forms[words["de"]]["en"].append(english_number(n, british=True))
        if 100 <= n < 200: forms[words["de"]]["en"] += [form.replace("one hundred", "a hundred") for form in forms[words["de"]]["en"][1:]]
        forms[words["de"]]["es"] += [spanish_number(n, "m"), spanish_number(n, "f")]
    for hour in range(1, 13):
        for minute in range(0, 60, 5):
            ways = {"de": german_clock_variants, "en": english_clock_variants, "es": spanish_clock_variants}
            figures = [f"{h}:{minute:02d}" for h in (hour % 12, hour % 12 + 12, 12 if hour == 12 else hour)]
            figures += [f"0{text}" for text in figures if len(text) == 4] + ([str(hour)] if minute == 0 else [])
            key = german_clock_variants(hour, minute)[0]
            forms[key] = {language: ways[language](hour, minute) + ways[language](hour, minute, digits=True) + figures
                          for language in LANGUAGES}
            if minute >= 10: forms[key]["es"].append(f"{spanish_clock_variants(hour, 0)[0]} {spanish_number(minute)}")
            if minute in (25, 35):
                other = german_clock_variants(hour if minute == 25 else hour % 12 + 1, 0)[0].split()[0].replace("ein", "eins").replace("einss", "eins")
                forms[key]["de"].append(f"fünfundzwanzig {'nach' if minute == 25 else 'vor'} {other}")
    return forms


OTHER_FORMS = other_forms()
MONTH_DAYS = {long_date("de", day, month): (day, month) for month in range(1, 13) for day in range(1, 32)}


AMOUNT_FORMS = {
    "€": {"de": "{} €|{} Euro|{}€", "en": "€{}|{} euros|{} euro|€ {}|{} €", "es": "{} €|{} euros|{}€"},
    "$": {"de": "{} $|{} Dollar", "en": "${}|{} dollars", "es": "{} $|{} dólares|${}"},
    "%": {"de": "{} %|{} Prozent|{}%", "en": "{}%|{} percent|{} per cent|{} %", "es": "{} %|{} por ciento|{}%"},
}


def amount_forms(form, language):
    """€5, 5 euros and so on for one of them."""
    unit = next((sign for sign, words in {"€": "€|uro", "$": r"\$|ollar", "%": "%|rozent|percent|por ciento"}.items() if re.search(words, form)), None)
    number = re.search(r"\d[\d.,]*", form)
    return [each.replace("{}", number.group(0)) for each in AMOUNT_FORMS[unit][language].split("|")] if unit and number else []


def hours_forms(ways, column):
    """Opening hours: a column of forms for each of the two times."""
    columns, times = [], re.findall(r"\d+:\d\d", ways[2])
    opens, closes = (int(time.split(":")[0]) for time in times)
    noon = {"de": ["Mittag", "mittags"], "en": ["noon"], "es": ["mediodía"]}[LANGUAGES[column]]
    for time_text in times:
        hour, minute = map(int, time_text.split(":"))
        face = (hour - 1) % 12 + 1
        plain = [f"{hour}:{minute:02d}", f"{hour:02d}:{minute:02d}", f"{hour}.{minute:02d}"] + ([str(hour)] if minute == 0 else [])
        halves = ("a.m.", "am", "AM") if hour < 12 else ("p.m.", "pm", "PM")
        english = [f"{time}{space}{half}" for half in halves for space in (" ", "")
                   for time in [f"{face}:{minute:02d}"] + ([str(face)] if minute == 0 else [])] + (["noon"] if (hour, minute) == (12, 0) else [])
        # "From 8 to 10 a.m.", "from 10 to 1 p.m.": the second time says what half of the day the first is of.
        natural = not columns and ((opens < 12) == (closes < 12) or (opens < 12 and closes - 12 < opens))
        bare = [f"{face}:{minute:02d}"] + ([str(face)] if minute == 0 else []) if natural else []
        spanish = day_ways(hour, f"{minute:02d}", "es") if LANGUAGES[column] == "es" else []
        columns.append((english + plain[:2] + bare if LANGUAGES[column] == "en" else plain + spanish) + (noon if (hour, minute) == (12, 0) else []))
    return columns


def accepted(ways, column):
    """The columns of accepted forms of a value in a language."""
    language, usual = LANGUAGES[column], ways[0] if isinstance(ways[0], str) else ways[0][0]
    if usual.startswith("von ") and "bis" in usual: return hours_forms(ways, column)
    forms = [ways[column]] if isinstance(ways[column], str) else list(ways[column])
    forms += OTHER_FORMS.get(usual, {}).get(language, []) + amount_forms(forms[0], language)
    forms += [form.replace(" ° C", " °C").replace(" °C", unit) for form in forms if "°" in form for unit in (" degrees", " Grad", " grados")]
    if usual.startswith("minus "):
        n = next(form.split()[1] for form in ways[0] if form.split()[1].isdigit())
        forms += [f"-{n} {unit}" for unit in ("degrees", "grados", "Grad", "°C")] + [f"minus {n} degrees", f"{n} degrees below zero"]
    if clock := re.match(r"las? (\d+):(\d\d)$", ways[2][0] if isinstance(ways[2], list) else ""):
        hour, minute = int(clock[1]), clock[2]
    # "Half past two" is in the afternoon for most.
    if clock and 13 <= hour < 19:
        spoken = OTHER_FORMS.get(german_clock_variants(hour - 12, int(minute))[0], {}) if int(minute) % 5 == 0 else {}
        forms += [form for form in spoken.get(language, []) if not form[0].isdigit() and len(form.split()) > 1]
    if column == 1 and clock:
        halves = ("a.m.", "am", "AM") if hour < 12 else ("p.m.", "pm", "PM")
        forms += [f"{(hour - 1) % 12 + 1}:{minute} {half}" for half in halves] + [f"{hour}:{minute}", f"{hour:02d}:{minute}"] + (["midnight"] if hour == 0 else [])
        forms += [f"{(hour - 1) % 12 + 1} {half}" for half in halves if minute == "00"]
    if usual.rsplit(" ", 1)[-1] in ("morgens", "nachmittags", "abends", "nachts"): forms += part_of_day_forms(usual, language)
    if usual in MONTH_DAYS: forms += dates(language, *MONTH_DAYS[usual])
    if language == "es": forms += [form[:-3] for form in forms if form.endswith(" de")]
    number = "°" in usual or amount_forms(ways[0] if isinstance(ways[0], str) else ways[0][0], "de") or re.fullmatch(r"\d\.\d{3}", usual)
    if language == "es" and number: forms += spanish_figures(forms)
    if language == "en": forms += [re.sub(r"(?<=\d),(?=\d{3})", "", form) for form in forms if re.search(r"(?<![\d,])\d,\d{3}(?!,)", form)]
    if million := re.fullmatch(r"(\d+) million", forms[0]): forms.append(f"{million[1]},000,000")
    if column != 1 and clock: forms += [f"{hour}:{minute}"] + day_ways(hour, minute, language)
    return [list(dict.fromkeys(forms))]


def spanish_figures(forms):
    """Numbers with the other marks that Spanish has: 1037 and 1.037, 40,3 and 40.3."""
    found = []
    for form in forms:
        found += [re.sub(r"(?<![\d.,])(\d)(\d{3})(?![\d.])", r"\1.\2", form), re.sub(r"(\d),(\d{1,2})(?!\d)", r"\1.\2", form)]
    return found


def day_ways(hour, minute, language):
    """Other ways to say a time on the 24-hour clock in German and Spanish."""
    if language == "de": return ["Mitternacht"] if hour == 0 and minute == "00" else [f"{hour:02d}:{minute}"]
    face = (hour - 1) % 12 + 1
    halves = ("a.m.", "am", "AM", "a. m.") if hour < 12 else ("p.m.", "pm", "PM", "p. m.")
    times = [f"{face}:{minute}"] + ([str(face)] if minute == "00" else [])
    ways = [f"{time}{space}{half}" for time in times for half in halves for space in (" ", "")]
    if minute == "00": ways += [f"las {hour}", f"la {hour}"] + {0: ["medianoche"], 12: ["mediodía"]}.get(hour, [])
    return ways


def part_of_day_forms(usual, language):
    """A time in words in the right part of the day, or in figures of the right half of it."""
    words, part = usual.rsplit(" ", 1)
    morning = part in ("morgens", "nachts")
    forms = list(OTHER_FORMS.get(words, {}).get(language, []))
    also = {"morgens": "am Morgen", "nachmittags": "am Nachmittag", "abends": "am Abend", "nachts": "in der Nacht"}[part]
    if language == "de":
        forms += [f"{form} {also}" for form in forms if form.endswith(" Uhr")]
    def fits(form):
        if not form[0].isdigit() or form.endswith(also): return True
        if form.endswith(" Uhr"): return False
        hour = int(re.match(r"\d+", form).group(0))
        return (language == "en" and hour <= 12) or (hour < 12) == morning
    return [form for form in forms if fits(form)]


def dates(language, day, month):
    if language == "es": return [long_date("es", day, month).replace("1 de", "uno de")] if day == 1 else []
    return []


def cases(slots, count, columns, seed):
    """Sentences with values of these slots: source, target and the columns of accepted forms."""
    source, target = columns
    frames = [line.rstrip("\n").split("\t") for line in open(ROOT / "tests" / "data" / "value-frames.tsv", encoding="utf-8")]
    frames = [frame for frame in frames + [list(f) for f in MORE_FRAMES] if any("{" + slot + "}" in frame[0] for slot in slots)]
    names, rnd, found = FILL.read_slots(EVERYDAY / "slots.tsv"), random.Random(seed), {}
    for _ in range(200 * count):
        if len(found) == count: break
        frame = rnd.choice(frames)
        kinds = {m.group(0)[1:-1]: m.group(1) for text in frame for m in FILL.SLOT.finditer(text)}
        ways = {name: rnd.choice(names[kind]) if kind in names else MADE[kind](rnd) for name, kind in sorted(kinds.items())}
        values = {name: [FILL.chosen(way, column == source, rnd) for column, way in enumerate(way_list)]
                  for name, way_list in ways.items()}
        row = [FILL.filled(frame[source], values, source), FILL.filled(frame[target], values, target)]
        for name in ways:
            if name in slots:
                row += ["|".join(forms) for forms in accepted(ways[name], target)]
        if source == 1 and "fulldate" in slots and is_ambiguous(row[0]): continue
        if slots == ["marker"] and not row[0].strip("(")[:1].isdigit(): continue
        if all("{" not in cell for cell in row): found.setdefault(row[0], row)
    return list(found.values())


def is_ambiguous(text):
    """7/5/1921 is in July in some countries and in May in others."""
    date = re.search(r"\b(\d\d?)/(\d\d?)/\d{4}", text)
    return date is not None and int(date[1]) <= 12 and int(date[2]) <= 12


def contains(text, form):
    """As `heed evaluate --must-contain`: not as a part of a longer word or number."""
    before = r"(?<!\w)(?<!\d[.,:])" if form[:1].isalnum() else ""
    behind = r"(?!\w|[.,:]\d)" if form[-1:].isalnum() else ""
    return re.search(before + re.escape(form) + behind, text, re.IGNORECASE if form[:1].isalpha() else 0) is not None


def translations(heed, pair, rows, *options):
    """Each translation and its warnings."""
    command = [heed, "translate", "--pair", pair, "--quiet", "--json", *options]
    done = subprocess.run(command, input="".join(row[0] + "\n" for row in rows), capture_output=True, text=True)
    if done.returncode != 0: sys.exit(f"{' '.join(command)}: {done.stderr}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [(answer["translation"], answer["warnings"]) for answer in answers]


def is_right(row, line):
    """Whether a translation has all values. A list marker has to be at the beginning."""
    marker = row[2].split("|")[0]
    if marker == row[0].split(" ")[0] and marker[:1].isdigit() and marker[-1:] in ".)" and not line.startswith(marker):
        return False
    return all(any(contains(line, form) for form in forms.split("|")) for forms in row[2:])


COLUMNS = ["right without the check", "right with it", "wrong, with a warning", "wrong, without one", "right, but a warning"]


def counts(rows, before, after):
    """By column, the cases: source, translation, warnings and accepted forms."""
    found = [[] for _ in COLUMNS]
    for row, (line, _), (checked, warnings) in zip(rows, before, after):
        right = is_right(row, checked)
        if is_right(row, line): found[0].append(())
        if right: found[1].append(())
        column = 4 if right and warnings else 2 if not right and warnings else 3 if not right else None
        if column: found[column].append((row[0], checked, "; ".join(warnings), " & ".join(row[2:])))
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("Usage: ")[1].split("\n")[0])
    parser.add_argument("--heed", default=str(ROOT / "build" / "bin" / "heed"))
    parser.add_argument("--pair", default="de-en")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="")
    parser.add_argument("--write")
    options = parser.parse_args()
    columns = [LANGUAGES.index(language) for language in options.pair.split("-")]
    folder = pathlib.Path(options.write or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    print(f"| kind | cases | {' | '.join(COLUMNS)} |\n| --- | ---:{' | ---:' * len(COLUMNS)} |")
    cases_of_all, total = 0, [0] * len(COLUMNS)

    def print_row(kind, cases_of_kind, numbers):
        shares = [f"{100 * number / cases_of_kind:.1f}%" for number in numbers[:2]] + [str(number) for number in numbers[2:]]
        print(f"| {kind} | {cases_of_kind} | {' | '.join(shares)} |", flush=True)

    for kind, slots in KINDS.items():
        if options.kind not in kind: continue
        rows = cases(slots, options.cases, columns, options.seed)
        path = folder / f"{kind.replace(' ', '-').replace(',', '')}.{options.pair}.tsv"
        path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        found = counts(rows, translations(options.heed, options.pair, rows, "--no-check-values"),
                       translations(options.heed, options.pair, rows))
        review = "".join(f"{COLUMNS[column]}\t" + "\t".join(each) + "\n" for column in (3, 4, 2) for each in found[column])
        path.with_suffix(".review").write_text(review, encoding="utf-8")
        numbers = [len(each) for each in found]
        print_row(kind, len(rows), numbers)
        cases_of_all += len(rows)
        total = [a + b for a, b in zip(total, numbers)]
    print_row("all", cases_of_all, total)


if __name__ == "__main__":
    main()
