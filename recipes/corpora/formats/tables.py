"""Text that is aligned already: tables with tabs, parallel files of lines, and TMX."""
import csv
import io
import xml.etree.ElementTree

from . import Found, code


def extract(options, trees, language):
    """columns: their numbers or names by language in a table with tabs (commas in .csv). Without it, {language} in paths names
    one file of lines for each language; first_column: of tables, whose first column counts."""
    tree = trees[language]
    if "columns" in options:
        for path in tree.paths(options["paths"].replace("{language}", code(options, language))): yield from _table(tree.read(path), path, options["columns"], language)
    elif options["paths"].endswith(".tmx"):
        for path in tree.paths(options["paths"]): yield from _tmx(tree.read(path), language)
    else:
        english, foreign = (trees[each].read(options["paths"].replace("{language}", code(options, each))).splitlines()
                            for each in ("en", language))
        if len(english) != len(foreign): raise ValueError(f"{options['paths']}: {len(english)} English and {len(foreign)} other lines")
        if options.get("first_column"): english, foreign = ([line.split("\t")[0] for line in lines] for lines in (english, foreign))
        yield from map(Found, english, foreign)


def _table(text, path, columns, language):
    rows = csv.reader(io.StringIO(text)) if path.endswith(".csv") else (line.split("\t") for line in text.splitlines())
    english, foreign = columns["en"], columns[language]
    if isinstance(english, str):
        header = next(iter(rows))
        english, foreign = header.index(english), header.index(foreign)
    for row in rows:
        if len(row) > max(english, foreign): yield Found(row[english], row[foreign])


def _tmx(text, language):
    for unit in xml.etree.ElementTree.fromstring(text).iter("tu"):
        texts = {}
        for variant in unit.iter("tuv"):
            name = variant.get("{http://www.w3.org/XML/1998/namespace}lang", variant.get("lang", ""))[:2].lower()
            texts[name] = "".join(variant.find("seg").itertext())
        if "en" in texts and language in texts: yield Found(texts["en"], texts[language])
