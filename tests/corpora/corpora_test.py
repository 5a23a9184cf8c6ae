"""The builder of training corpora in recipes/corpora: cleaning, each format, and a whole build from a folder and a repository."""
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

CORPORA = pathlib.Path(__file__).resolve().parents[2] / "recipes" / "corpora"
sys.path.insert(0, str(CORPORA))
import cleaning
from formats import Found, counterparts, html_paragraphs, monolingual, pages, po, qt, strings, tables, xliff
from trees import FolderTree, find


def tree(**files):
    """A folder with these files; __ in a name is a slash, and dots are written out in the tests' own paths."""
    folder = pathlib.Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(__import__("shutil").rmtree, folder)
    for name, content in files.items(): write(folder / name, content)
    return FolderTree(folder)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


class Cleaning(unittest.TestCase):
    def test_faults(self):
        languages = ("de", "en")
        for german, english, reason in (
                ("Der Hund schläft.", "The dog sleeps.", None), ("", "The dog.", "empty"), ("{n} Hunde", "{n} dogs", "placeholder"),
                ("%s ist da", "%s is here", "placeholder"), ("5 % sind weg.", "5% are gone.", None),
                ("Der <b>Hund</b>", "The dog", "placeholder"), ("Siehe [hier](x)", "See here", "markup"), ("ab " * 101, "ab " * 101 + "c", "long"),
                ("Ja", "That is a sentence that is much too long for it.", "ratio"), ("Heed", "Heed", "identical"),
                ("12", "13", "letters"), ("Es kostet 1.250 Euro.", "It costs 1,250 euros.", None),
                ("Seite 120", "Page 121", "numbers"),
                ("The cat and the dog are in the house.", "The cat and the dog are in a house.", "language")):
            self.assertEqual(cleaning.fault(german, english, languages), reason, german)

    def test_normal_form(self):
        self.assertEqual(cleaning.normal("  u\u0308ber\u00ad\u200bmorgen \n kommt "), "übermorgen kommt")

    def test_tags(self):
        self.assertEqual(cleaning.without_tags('Press <key xref="a">Ctrl</key> if 1 < 2.'), "Press Ctrl if 1 < 2.")

    def test_a_pair_is_kept_once_and_not_if_held_out(self):
        cleaner = cleaning.Cleaner(("de", "en"), held_out=["Der Zug ist weg!", "Zug"], known=[("Ja.", "Yes.")])
        decide = cleaner.reason_to_drop
        self.assertIsNone(decide("Der Bus ist weg.", "The bus has left."))
        self.assertEqual(decide("der Bus ist weg", "The bus has left!"), "duplicate")
        self.assertEqual(decide("der zug ist weg", "The train has gone."), "held out")
        self.assertEqual(decide("Ja.", "Yes."), "duplicate")
        self.assertIsNone(decide("Zug", "Train"))  # single words are not held out

    def test_sentences(self):
        self.assertEqual(cleaning.sentences("Das gilt z.B. Heute. Und es sind 3.5 km! Ja?"),
                         ["Das gilt z.B. Heute.", "Und es sind 3.5 km!", "Ja?"])


class Formats(unittest.TestCase):
    def test_po(self):
        text = '''msgid ""
msgstr "Header"

#, fuzzy
msgid "Guess"
msgstr "Schätzung"

msgid "One \\"two\\" "
"three"
msgstr "Eins „zwei“ "
"drei"

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d Datei"
msgstr[1] "%d Dateien"

msgid "Untranslated"
msgstr ""
'''
        self.assertEqual(list(po.entries(text)), [('One "two" three', "Eins „zwei“ drei"), ("%d file", "%d Datei"), ("%d files", "%d Dateien")])

    def test_strings(self):
        files = tree(**{"values/strings.xml": '<r><string name="a">Don\\\'t</string><string name="x" translatable="false">X</string></r>',
                        "values-de/strings.xml": '<r><string name="a">Nicht</string><string name="x">X</string></r>',
                        "i18n/en.json": json.dumps({"a": {"b": "Save", "c": "Only English"}}),
                        "i18n/de.json": json.dumps({"a": {"b": "Speichern"}})})
        trees = {"en": files, "de": files}
        self.assertEqual(list(strings.extract({"paths": "values{language}/*.xml", "codes": {"en": "", "de": "-de"}}, trees, "de")),
                         [Found("Don't", "Nicht")])
        self.assertEqual(list(strings.extract({"paths": "i18n/{language}.json"}, trees, "de")), [Found("Save", "Speichern")])

    def test_xliff(self):
        unit = '<trans-unit><source>{}</source><target state="{}">{}</target></trans-unit>'
        body = unit.format("Open", "translated", "Öffnen") + unit.format("New", "new", "New")
        files = tree(**{"a.de.xlf": f'<?xml version="1.0" encoding="utf-8"?><xliff xmlns="urn:oasis:names:tc:xliff:document:1.2"><body>{body}</body></xliff>'})
        self.assertEqual(list(xliff.extract({"paths": "*.{language}.xlf"}, {"de": files}, "de")), [Found("Open", "Öffnen")])

    def test_strings_by_key(self):
        files = tree(**{"en.json": json.dumps({"x": {"tts": ["dog"], "default": ["animal"]}, "y": 1}),
                        "de.json": json.dumps({"x": {"tts": ["Hund"], "default": ["Tier"]}, "y": 2})})
        options = {"paths": "{language}.json", "only": r"\.tts\.0$"}
        self.assertEqual(list(strings.extract(options, {"en": files, "de": files}, "de")), [Found("dog", "Hund")])

    def test_qt(self):
        message = "<message><source>{}</source><translation{}>{}</translation></message>"
        body = message.format("&amp;Save", "", "&amp;Speichern") + message.format("New", ' type="unfinished"', "")
        files = tree(**{"x_de.ts": f"<TS>{body}</TS>"})
        self.assertEqual(list(qt.extract({"paths": "x_{language}.ts"}, {"de": files}, "de")), [Found("Save", "Speichern")])

    def test_monolingual(self):
        files = tree(**{"a.json": json.dumps({"x": [["One", "label"], ["Two", "label"]]}), "b.csv": "id,text\n1,Three\n", "c.txt": "Four\n"})
        texts = lambda **options: list(monolingual.monolingual(options, files))
        self.assertEqual(texts(paths="*.json", keys="*.*.0"), ["One", "Two"])
        self.assertEqual(texts(paths="*.csv", column="text"), ["Three"])
        self.assertEqual(texts(paths="*.txt"), ["Four"])

    def test_html_paragraphs(self):
        page = '<p id="a" class="x">See <b>this</b> &amp; that</p><p id="b">One</p><p id="b">Two</p><h1 id="c">Title</h1><p id="d"><img src="x"></p>'
        self.assertEqual(html_paragraphs.paragraphs(page), {"a": "See this & that", "c": "Title"})

    def test_tables(self):
        files = tree(**{"t.tsv": "English\tOther\tGerman\nHello\tx\tHallo\n", "x.en": "one\ntwo\n", "x.de": "eins\nzwei\n",
                        "m.tmx": '<tmx><tu><tuv xml:lang="en"><seg>Hi</seg></tuv><tuv xml:lang="de-DE"><seg>Hallo</seg></tuv></tu></tmx>'})
        trees = {"en": files, "de": files}
        self.assertEqual(list(tables.extract({"paths": "t.tsv", "columns": {"en": "English", "de": "German"}}, trees, "de")), [Found("Hello", "Hallo")])
        self.assertEqual(list(tables.extract({"paths": "x.{language}"}, trees, "de")), [Found("one", "eins"), Found("two", "zwei")])
        self.assertEqual(list(tables.extract({"paths": "*.tmx"}, trees, "de")), [Found("Hi", "Hallo")])

    def test_counterparts(self):
        files = tree(**{"a/en/x/b.md": "", "a/de/x/b.md": ""})
        self.assertEqual(list(counterparts({"paths": "a/{language}/*.md"}, {"de": files}, "de")), [("a/en/x/b.md", "a/de/x/b.md")])
        self.assertEqual(list(counterparts({"english": "core.md", "paths": "a/{language}/*.md"}, {"de": files}, "de")), [("core.md", "a/de/x/b.md")])

    def test_counterparts_with_titles_in_their_names(self):
        files = tree(**{"en/01_dog.md": "", "en/02_cat.md": "", "de/02_katze.md": "", "de/03_maus.md": ""})
        self.assertEqual(list(counterparts({"paths": "{language}/*.md", "match": r"/(\d+)_"}, {"en": files, "de": files}, "de")),
                         [("en/02_cat.md", "de/02_katze.md")])


class Pages(unittest.TestCase):
    ENGLISH = """---
title: X
---
# Save *files*

Click [Save](x.md). Then wait.

* One
* [!UICONTROL Two] `three`

```
code
```

## More

A paragraph.

## Last

Same &eacute;.
"""
    GERMAN = ENGLISH.replace("Save *files*", "Dateien *speichern*").replace("Click [Save](x.md). Then wait.", "Klicken Sie auf [Speichern](x.md). Dann warten Sie.") \
        .replace("* One", "* Eins").replace("Two]", "Zwei]").replace("More", "Mehr").replace("A paragraph.", "Ein Absatz.\n\nNoch einer.").replace("Last", "Letztes")

    def test_blocks(self):
        self.assertEqual(pages.blocks(self.ENGLISH)[:5], [("h1", "Save files"), ("p", "Click Save. Then wait."), ("li", "One"), ("li", "Two three"), ("code", "")])

    def test_sections_of_another_structure_are_left_out(self):
        pairs = list(pages.aligned(pages.blocks(self.ENGLISH), pages.blocks(self.GERMAN)))
        self.assertEqual([pair for pair in pairs if pair[0]],
                         [("Save files", "Dateien speichern"), ("Click Save.", "Klicken Sie auf Speichern."), ("Then wait.", "Dann warten Sie."),
                          ("One", "Eins"), ("Two three", "Zwei three"), ("Last", "Letztes"), ("Same é.", "Same é.")])

    def test_pages_without_the_licence_are_left_out(self):
        files = {language: tree(**{"a.md": f"A text.\n\n* {licence}\n"}) for language, licence in (("en", "[BY]"), ("de", "[BY]"), ("es", "[BY-NC]"))}
        options = {"paths": "a.md", "where": r"\[BY\]"}
        self.assertTrue(list(pages.extract(options, files, "de")))
        self.assertFalse(list(pages.extract(options, files, "es")))

    def test_a_heading_without_text_separates(self):
        self.assertEqual(pages.sections(pages.blocks("##\nOne.\n\n##\nTwo.\n")), [[("h2", ""), ("p", "One.")], [("h2", ""), ("p", "Two.")]])

    def test_other_headings_give_nothing(self):
        self.assertEqual(list(pages.aligned(pages.blocks(self.ENGLISH), pages.blocks(self.GERMAN.replace("## Mehr", "### Mehr")))), [])


class Table(unittest.TestCase):
    def test_every_source_is_complete(self):
        sources = tomllib.loads((CORPORA / "sources.toml").read_text(encoding="utf-8"))["source"]
        self.assertGreater(len(sources), 30)
        self.assertEqual(len({source["name"] for source in sources}), len(sources))
        for source in sources:
            self.assertTrue((CORPORA / "formats" / f"{source['format']}.py").exists(), source["name"])
            for key in ("trees", "licence", "domain", "expected", "paths"): self.assertIn(key, source, source["name"])
            self.assertNotRegex(source["licence"], r"(?<!L)GPL|GFDL", source["name"])
            for place in source["trees"].values(): self.assertRegex(place, r"^[\w.-]+(/[\w.-]+)? @ [\w.]+$")
            if "human" in source: self.assertIn("synthetic_weight", source)


class Build(unittest.TestCase):
    def test_whole(self):
        """A page is aligned with the English one that it was translated from, and marked as synthetic where it says so."""
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(__import__("shutil").rmtree, folder)
        repository = folder / "sources" / "docs.en"
        git = lambda *words: subprocess.run(["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.com", *words],
                                            check=True, capture_output=True, text=True).stdout.strip()
        write(repository / "a.md", "# A title\n\nThe old text is here.\n")
        git("init", "-q"), git("add", "."), git("commit", "-qm", "1")
        old = git("rev-parse", "HEAD")
        write(repository / "a.md", "# A title\n\nThe text is new and differs.\n")
        git("commit", "-qam", "2")
        german = "---\ncommit: {}\ndegree: {}\n---\n# Ein Titel\n\n{}\n"
        write(folder / "sources" / "docs.de" / "a.md", german.format(old, "100%", "Der alte Text ist hier."))
        write(folder / "sources" / "docs.de" / "b.md", german.format(old, "100%", "Ohne englische Seite."))
        write(folder / "sources.toml", """[[source]]
name = "docs"
trees = { en = "docs.en", de = "docs.de" }
licence = "MIT"
format = "pages"
paths = "*.md"
source_commit = "commit"
human = '^degree: 100%'
without = 'xxx'
weight = 0.5
synthetic_weight = 0.1
[[source]]
name = "shrunken"
trees = { en = "docs.en", de = "docs.de" }
licence = "MIT"
format = "po"
paths = "*.po"
expected = { de-en = 10 }
[[source]]
name = "missing"
trees = { all = "nobody/nothing" }
licence = "MIT"
format = "po"
paths = "*.po"
""")
        write(folder / "held.tsv", "Ein Titel.\tx y\n")
        build = lambda: subprocess.run([sys.executable, CORPORA / "build", "--table", folder / "sources.toml", "--sources", folder / "sources",
                                        "--output", folder / "out", "--held-out", folder / "held.tsv"], capture_output=True, text=True, check=True)
        said = build().stderr
        self.assertIn("no nobody/nothing", said)
        self.assertIn("shrunken de-en: 10 were expected", said)
        self.assertEqual((folder / "out" / "docs.de-en.tsv").read_text(encoding="utf-8"), "Der alte Text ist hier.\tThe old text is here.\n")
        self.assertIn("docs\tde-en\t1\t0\tMIT\theld out 1", (folder / "out" / "counts.tsv").read_text(encoding="utf-8"))
        write(folder / "sources" / "docs.de" / "a.md", german.format(old, "30%", "Der alte Text ist hier."))
        build()
        self.assertTrue((folder / "out" / "docs-synthetic.de-en.tsv").exists())
        self.assertIn("weight = 0.1", (folder / "out" / "corpora.toml").read_text(encoding="utf-8"))

    def test_names_of_repositories(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(__import__("shutil").rmtree, folder)
        write(folder / "owner+name" / "x", "")
        write(folder / "other" / "x", "")
        self.assertIsNotNone(find(folder, "owner/name"))
        self.assertIsNotNone(find(folder, "somebody/other"))
        self.assertIsNone(find(folder, "owner/another"))


if __name__ == "__main__":
    unittest.main()
