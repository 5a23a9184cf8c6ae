#!/usr/bin/env python3
"""The explorer page in a real browser: every view of a page from `heed attend --output page.html`, by pointer and by
keyboard, in light and dark, small and large, with no message in the console and no request to anywhere.

    explorer_test.py HEED [PICTURES] [--site SITE]

HEED is the command; PICTURES, a folder, gets pictures of the views. SITE is what `make site` builds: with it, the tests
of served pages run on that instead, without a server. Exits 77 (skipped) where there is no Chromium,
except where CI is set: there it is a failure.
"""

import base64
import csv
import html
import io
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

from frames import cpu_time_while_hovering
from static_files import StaticFiles
from webdriver import PATIENCE, Browser, find_browser, wait_until

HEED = ""
MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
FAMILIES = pathlib.Path(os.environ.get("HEED_FAMILIES") or MODELS.parent.parent / "shared/families")
PICTURES = None
SITE = None
SHORT = "Der Hund schläft."
LONG = "Das kleine Kind, das gestern im Garten spielte, hat heute mit seiner Großmutter einen Kuchen gebacken."
VIEWS = ["lines", "heads", "head", "query", "change"]
# How many colours the picture of the view has.
PIXELS = """
  const canvas = document.querySelector('SELECTOR');
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
  copy.drawImage(canvas, 0, 0);
  const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;"""
PAINTED = PIXELS.replace("SELECTOR", "#panel canvas") + """
  const seen = new Set();
  for (let n = 0; n < data.length; n += 4) seen.add(data[n] << 16 | data[n + 1] << 8 | data[n + 2]);
  return seen.size;"""

# Questions for integrated gradients get no answer: neither from a server nor from the worker of a site.
WITHHOLD_INTEGRATED_GRADIENTS = """
  window.withheld = [];
  const isMeant = (body) => /"method":"integrated"/.test(body);
  const {fetch} = window, {postMessage, terminate} = Worker.prototype, ended = new Set();
  window.fetch = (address, options) => {
    if (!isMeant(options?.body)) return fetch(address, options);
    withheld.push({dropped: () => options.signal.aborted});
    return new Promise((_, reject) => options.signal.addEventListener('abort', () => reject(options.signal.reason)));
  };
  Worker.prototype.postMessage = function(message) {
    if (!isMeant(message.fields?.body)) return postMessage.call(this, message);
    withheld.push({dropped: () => ended.has(this)});
  };
  Worker.prototype.terminate = function() {
    ended.add(this);
    terminate.call(this);
  };"""

# Answers of the server that a test holds back until release(), breaks off or refuses. `answers` maps a path to what
# becomes of a request with a body: "hold", "break", a status, or nothing. `asked` is what was asked.
INTERCEPT = """
  const {fetch} = window;
  window.answers = {};
  window.asked = [];
  window.held = [];
  window.arrived = 0;
  window.release = () => {
    window.answers = {};
    held.splice(0).forEach((go) => go());
  };
  window.fetch = async (path, options) => {
    const body = JSON.parse(options?.body ?? '{}'), fate = answers[path]?.(body);
    asked.push({path, body});
    if (fate === 'hold') await new Promise((go) => held.push(go));
    if (fate === 'break') return new Response(new ReadableStream({pull: (stream) => stream.error(new TypeError('broken off'))}));
    if (typeof fate === 'number') return new Response('{"error": "refused"}', {status: fate});
    return fetch(path, options).finally(() => ++arrived);
  };"""


class Saving:
    """What the page saves, in `folder`."""

    def saved(self, name):
        path = pathlib.Path(self.folder.name) / name
        wait_until(lambda: path.exists() and path.stat().st_size > 0, f"{name} is saved")
        content = path.read_bytes()
        path.unlink()
        return content


def attend(*arguments):
    subprocess.run([HEED, "attend", "--quiet", *arguments], check=True)


def query_steps(browser):
    """The numbers of the table of One query, for each key, by the name of their column."""
    names, rows = browser.run("""
        const texts = (selector, within = document) => [...within.querySelectorAll(selector)].map((each) => each.textContent);
        const rows = [...document.querySelectorAll('table.steps tbody tr')];
        return [texts('table.steps thead tr:last-child th'), rows.map((row) => texts('th, td', row))];""")
    strips = {"Key", "Key vector k", "Value v", "Weight × v"}
    return {name: [float(row[n].removesuffix(" %").replace("−∞", "-inf")) for row in rows]
            for n, name in enumerate(names) if name not in strips}


class Page(Saving, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="heed-explorer-")
        cls.path = pathlib.Path(cls.folder.name) / "page.html"
        attend(SHORT, LONG, "--output", str(cls.path))
        cls.numbers = json.loads(subprocess.run([HEED, "attend", SHORT, "--json", "--quiet"], check=True,
                                                capture_output=True, text=True).stdout)
        cls.browser = Browser(downloads=cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def show(self, **state):
        self.browser.open("about:blank")
        self.browser.open(self.path.as_uri() + "#" + urllib.parse.urlencode(state))
        self.browser.wait("document.querySelector('main:not(.empty) #panel > *')", f"the page with {state}")

    def picture(self, name, whole=False):
        if PICTURES:
            time.sleep(0.3)
            self.browser.screenshot(os.path.join(PICTURES, name + ".png"), whole)

    def state(self):
        return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.browser.run("return location.href")).fragment))

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])
        elsewhere = [url for url in self.browser.requests() if not url.startswith(("file:", "about:", "blob:", "data:", "chrome"))]
        self.assertEqual(elsewhere, [])

    def test_every_view_in_every_look(self):
        for width, height, dark in [(1280, 900, False), (360, 740, True), (3840, 2160, False)]:
            self.browser.resize(width, height, dark)
            for view in VIEWS:
                for stack in ["cross", "decoder"] if width == 1280 else ["cross"]:
                    self.show(view=view, stack=stack, sentence=2, token="t3", head=2)
                    if view in ("lines", "heads", "head"):
                        self.assertGreater(self.browser.run(PAINTED), 8, (view, width))
                    body = self.browser.run("return document.documentElement.scrollWidth")
                    self.assertLessEqual(body, width, f"{view} is wider than {width} pixels")
                self.picture(f"{view}-{width}{'-dark' if dark else ''}")
        self.browser.resize(1280, 900)

    def test_table_holds_the_numbers_of_the_command(self):
        self.show(view="head", stack="cross", layer=2, head=5)
        self.browser.run("document.querySelector('details.numbers').open = true")
        self.browser.wait("document.querySelector('details.numbers td')", "the table")
        rows = self.browser.run("return [...document.querySelectorAll('details.numbers tbody tr')]"
                                ".map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent)))")
        expected = self.numbers["attention"]["cross"][1][4]
        self.assertEqual(len(rows), len(expected))
        for row, weights in zip(rows, expected):
            for cell, weight in zip(row, weights):
                self.assertAlmostEqual(cell, weight, delta=0.0011)

    def test_a_marked_token_is_marked_in_every_view(self):
        overlay = PIXELS.replace("SELECTOR", "#panel .overlay") + "return data.some((part) => part > 0);"
        for view in ["lines", "heads", "head"]:
            self.show(view=view)
            self.assertFalse(self.browser.run(overlay), view)
            token = self.browser.run("const box = document.querySelectorAll('.tokens')[1].children[1].getBoundingClientRect();"
                                     "return [box.x + box.width / 2, box.y + box.height / 2]")
            self.browser.move(*token)
            self.browser.wait(f"(() => {{{overlay}}})()", f"marks in {view}")
            self.browser.move(2, 2)
        self.show(view="query", token="t2", head=1)
        key = self.browser.run("const box = document.querySelectorAll('.tokens')[0].children[1].getBoundingClientRect();"
                               "return [box.x + box.width / 2, box.y + box.height / 2]")
        self.browser.move(*key)
        self.browser.wait("document.querySelector('tr.marked')", "the row of the marked key")
        self.assertEqual(self.browser.run("return document.querySelector('tr.marked th').textContent"), "Hund")
        self.browser.move(2, 2)

    def test_one_query_adds_up(self):
        """Softmax of the scores is the weights, and the parts of the output sum to all of it."""
        for stack in ["encoder", "cross", "decoder"]:
            self.show(view="query", stack=stack, layer=2, head=3, token="s3" if stack == "encoder" else "t3")
            steps = query_steps(self.browser)
            self.assertEqual("Mask" in steps, stack == "decoder")
            scores, weights = steps.get("Mask") or steps["÷ √32"], steps["Softmax"]
            total = sum(math.exp(score - max(scores)) for score in scores)
            for score, weight in zip(scores, weights):
                self.assertAlmostEqual(math.exp(score - max(scores)) / total, weight, delta=0.02)
            self.assertAlmostEqual(sum(weights), 1, delta=0.01)
            self.assertAlmostEqual(sum(steps["Part of the output"]), 100, delta=1)

    def test_one_query_of_a_token_that_is_not_there(self):
        for stack, token in [("cross", "t99"), ("encoder", "s99")]:
            self.show(view="query", stack=stack, token=token)
            self.browser.wait("document.querySelector('table.steps tbody tr')", "the steps")
            time.sleep(0.2)
            self.assertEqual(self.browser.run("return document.querySelector('#panel select').value"), "0")
            self.assertEqual(self.browser.console(), [], token)

    def test_keyboard_alone(self):
        self.show()
        self.browser.press("Tab")
        self.assertEqual(self.browser.run("return document.activeElement.className"), "skip")
        for _ in range(40):
            self.browser.press("Tab")
            if self.browser.run("return document.activeElement.getAttribute('role')") == "tab":
                break
        self.browser.press("ArrowRight", "ArrowRight")
        self.assertEqual(self.state()["view"], "head")
        for _ in range(20):
            self.browser.press("Tab")
            if self.browser.run("return document.activeElement.classList.contains('overlay')"):
                break
        self.browser.press("ArrowDown", "ArrowRight")
        self.browser.wait("/“dog” gives “Hund”/.test(document.querySelector('.reading').textContent)", "the reading of a cell")
        self.browser.press("Enter")
        self.assertEqual(self.state()["token"], "t2")
        self.browser.press("Escape")
        self.assertNotIn("token", self.state())

    def test_back_and_forward(self):
        self.show()
        self.browser.click("#tab-heads")
        self.browser.click("#tab-query")
        self.browser.call("POST", "/back", {})
        self.browser.wait("document.querySelector('#tab-heads[aria-selected=true]')", "back to all heads")
        self.browser.call("POST", "/forward", {})
        self.browser.wait("document.querySelector('#tab-query[aria-selected=true]')", "forward to one query")

    def test_in_a_frame_of_a_notebook(self):
        """A frame with the page as its srcdoc has no address and, with `sandbox`, no origin."""
        outer = pathlib.Path(self.folder.name) / "notebook.html"
        page = html.escape(self.path.read_text(), quote=True)
        outer.write_text(f'<!doctype html><meta charset="utf-8"><iframe srcdoc="{page}" '
                         'sandbox="allow-scripts allow-downloads" style="width: 100%; height: 800px"></iframe>')
        self.browser.open(outer.as_uri())
        self.browser.enter_frame(0)
        try:
            self.browser.wait("document.querySelector('main:not(.empty) #panel > *')", "the page in a frame")
            for view in ("heads", "query", "lines"):
                self.browser.run(f"document.querySelector('[data-view={view}]').click()")
                self.browser.wait(f"document.querySelector('[data-view={view}]').ariaSelected === 'true'", view)
            self.assertGreater(self.browser.run(PAINTED), 4)
            # A frame that is shown later has no width at first.
            self.browser.enter_frame(None)
            self.browser.run("const frame = document.querySelector('iframe'); frame.style.width = '0'; frame.srcdoc = frame.srcdoc")
            time.sleep(0.5)
            self.browser.run("document.querySelector('iframe').style.width = '100%'")
            self.browser.enter_frame(0)
            self.browser.wait("document.querySelector('#panel canvas')?.clientWidth > 600", "a picture as wide as the frame")
        finally:
            self.browser.enter_frame(None)

    def test_words(self):
        self.show(view="head", words=1, sentence=2)
        tokens = self.browser.run("return [...document.querySelectorAll('.tokens')[0].children].map((each) => each.textContent)")
        self.assertIn("Großmutter", tokens)
        self.assertIn("Kind,", tokens)

    def test_a_page_that_begins_with_words(self):
        page = pathlib.Path(self.folder.name) / "words.html"
        attend(LONG, "--words", "--output", str(page))
        has_words = "[...document.querySelectorAll('.tokens button')].some((each) => each.textContent === 'Kind,')"
        self.browser.open(page.as_uri())
        self.browser.wait(has_words, "the words")
        self.browser.run("[...document.querySelectorAll('[role=radio]')].find((each) => each.textContent === 'Tokens').click()")
        self.browser.wait(f"!{has_words}", "the tokens")
        self.browser.call("POST", "/refresh", {})
        self.browser.wait(f"document.querySelector('.tokens button') && !{has_words}", "the tokens of a link")
        self.browser.click("#tab-heads")
        for _ in range(2):
            self.browser.call("POST", "/back", {})
        self.browser.wait(has_words, "the words again")

    def test_one_query_without_a_head_is_that_of_the_first(self):
        self.show(view="query", stack="cross", layer=2, token="t2")
        tints = self.browser.run("return [...document.querySelectorAll('.tokens')[0].children].map((each) => parseInt(each.style.getPropertyValue('--weight')))")
        expected = self.numbers["attention"]["cross"][1][0][1]
        for tint, weight in zip(tints, expected, strict=True):
            self.assertAlmostEqual(tint, 62 * weight, delta=0.6)
        self.browser.click(".export button:nth-of-type(5)")
        rows = list(csv.DictReader(io.StringIO(self.saved("attention-cross-2-1.csv").decode())))
        for row, weight in zip(rows[len(expected):], expected):
            self.assertAlmostEqual(float(row["weight"]), weight, delta=0.001)
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.place [aria-checked=true]')].map((each) => each.textContent)"), ["Cross", "2", "1"])

    def test_what_is_not_copied(self):
        self.show()
        copy = "document.querySelector('.command button')"
        command = self.browser.run("return document.querySelector('.command code').textContent")
        for clipboard in ["undefined", "{writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError'))}"]:
            self.browser.run(f"getSelection().empty(); Object.defineProperty(navigator, 'clipboard', {{configurable: true, get: () => ({clipboard})}}); {copy}.click()")
            self.browser.wait(f"{copy}.textContent.startsWith('Selected')", "that the command is selected")
            self.assertEqual(self.browser.run("return String(getSelection())"), command)
            self.browser.wait(f"{copy}.textContent === 'Copy'", "the button as it was")
        self.browser.run(f"Object.defineProperty(navigator, 'clipboard', {{configurable: true, get: () => ({{writeText: async (text) => {{ window.copied = text; }}}})}}); {copy}.click()")
        self.browser.wait(f"{copy}.textContent === 'Copied'", "that the command is copied")
        self.assertEqual(self.browser.run("return copied"), command)

    def test_heads_are_sorted_and_filtered(self):
        for column, metric in enumerate(["entropy", "distance", "diagonal", "ends", "punctuation"], 1):
            self.show(view="heads", sort=metric)
            self.browser.run("document.querySelector('details.numbers').open = true")
            self.browser.wait("document.querySelector('details.numbers td')", "the table")
            values = self.browser.run("return [...document.querySelectorAll('details.numbers tbody tr')]"
                                      ".map((row) => parseFloat(row.children[arguments[0]].textContent))", column)
            self.assertEqual(len(values), 96)
            self.assertEqual(values, sorted(values, reverse=True), metric)
            self.assertGreater(values[0], values[-1])
        self.show(view="heads", least="diagonal>0.5")
        self.assertRegex(self.browser.run("return document.querySelector('.count').textContent"), r"^\d+ of 96 heads$")

    def test_exports_open_again(self):
        self.show(view="head", layer=2, head=5)
        buttons = {name: f".export button:nth-of-type({n})" for n, name in enumerate(["SVG", "PNG", "PDF", "JSON", "CSV"], 1)}
        self.browser.click(buttons["JSON"])
        trace = json.loads(self.saved("attention.json"))
        self.assertEqual(trace["target_tokens"], self.numbers["target_tokens"])
        for rows, expected in zip(trace["attention"]["cross"][1][4], self.numbers["attention"]["cross"][1][4]):
            for weight, right in zip(rows, expected):
                self.assertAlmostEqual(weight, right, delta=0.001)
        self.browser.click(buttons["CSV"])
        rows = list(csv.DictReader(io.StringIO(self.saved("attention-cross-2-5.csv").decode())))
        self.assertEqual(len(rows), len(trace["source_tokens"]) * len(trace["target_tokens"]))
        self.browser.click(buttons["PNG"])
        self.assertTrue(self.saved("attention-cross-2-5.png").startswith(b"\x89PNG"))
        self.browser.click(buttons["SVG"])
        svg = self.saved("attention-cross-2-5.svg").decode()
        xml.etree.ElementTree.fromstring(svg)
        for word in ["Hund", "sleeping"]:
            self.assertIn(word, svg)
        self.browser.click(buttons["PDF"])
        command = self.browser.run("return document.querySelector('.command code').textContent")
        self.assertRegex(command, r"^heed attend 'Der Hund schläft.' .*--output attention-cross-2-5.pdf$")
        self.show(view="query", layer=2)
        self.assertIn("--head 1 ", self.browser.run("return document.querySelector('.command code').textContent"))

    def test_a_view_that_the_trace_does_not_have_is_lines(self):
        for view in ["next", "none"]:
            self.show(view=view, layer=2)
            self.assertEqual(self.browser.run("return document.querySelector('[role=tab][aria-selected=true]').dataset.view"), "lines")
            self.assertIn("--head all ", self.browser.run("return document.querySelector('.command code').textContent"))
            heads = self.browser.run("return [...document.querySelectorAll('.place .field:last-child [role=radio]')].map((each) => each.textContent)")
            self.assertEqual(heads[0], "All")

    def test_the_title_of_a_picture_is_what_it_shows(self):
        for view in ["lines", "heads", "head"]:
            self.show(view=view, layer=2, head=5)
            label = self.browser.run("return document.querySelector('#panel .overlay').ariaLabel")
            self.browser.click(".export button:nth-of-type(1)")
            svg = xml.etree.ElementTree.fromstring(self.saved("attention.svg" if view == "heads" else "attention-cross-2-5.svg").decode())
            self.assertEqual(svg.find("{http://www.w3.org/2000/svg}title").text, label, view)

    def test_the_command_has_the_options_of_the_page(self):
        page, options = str(pathlib.Path(self.folder.name) / "target.html"), ["--target", "It's a cat.", "--ablate", "cross:1:2", "--ablate", "encoder:2:all", "--no-shortlist"]
        attend(SHORT, *options, "--head", "3", "--words", "--output", page)
        self.browser.open(pathlib.Path(page).as_uri() + "#view=head&stack=cross&layer=2&head=3&words=1")
        self.browser.wait("document.querySelector('main:not(.empty) #panel > *')", "the page")
        words = shlex.split(self.browser.run("return document.querySelector('.command code').textContent"))
        self.assertEqual(words[:3], ["heed", "attend", SHORT])
        written = str(pathlib.Path(self.folder.name) / "again.json")
        subprocess.run([HEED, *words[1:words.index("--output")], "--quiet", "--output", written], check=True)
        again = json.loads(pathlib.Path(written).read_text())
        self.assertEqual(again["target"], "It's a cat.")
        expected = subprocess.run([HEED, "attend", SHORT, *options, "--words", "--json", "--quiet"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(again["attention"]["cross"][1][2], json.loads(expected)["attention"]["cross"][1][2])

    def test_what_needs_the_model_says_so(self):
        for view in ["layers", "why", "patch", "model"]:
            self.show(view=view)
            self.assertIn("heed serve --pair de-en", self.browser.run("return document.querySelector('#panel').textContent"), view)
        self.show(view="change")
        self.assertIn("heed serve --pair de-en", self.browser.run("return document.querySelector('#panel').textContent"))
        self.assertTrue(self.browser.run("return [...document.querySelectorAll('#panel button, #panel input')].every((each) => each.disabled)"))

    def test_roles_names_and_contrast(self):
        for dark in (False, True):
            self.browser.resize(1280, 900, dark)
            for view in VIEWS:
                self.show(view=view)
                self.assertEqual(self.browser.run(CHECK_ACCESS), [], view)
            self.show(token="t6")  # tints ⟨end⟩, too
            self.assertEqual(self.browser.run(CHECK_ACCESS), [], "a marked token")
        self.browser.resize(1280, 900)

    def test_tour(self):
        self.show()
        self.browser.click(".start")
        titles = []
        for step in range(1, 9):
            self.assertEqual(self.state()["tour"], str(step))
            titles.append(self.browser.run("return document.querySelector('.tour h2').textContent"))
            self.assertEqual(self.browser.run("return document.activeElement.id"), "tour-title")
            self.browser.click(".tour .primary")
        self.assertEqual(len(set(titles)), 8)
        self.assertTrue(self.browser.run("return document.querySelector('.tour').hidden"))

    def test_an_address_with_a_step_of_the_tour(self):
        self.show(tour=3)
        self.assertTrue(self.browser.run("return document.querySelector('#tab-head').ariaSelected === 'true'"))
        self.assertIn("empty triangle", self.browser.run("return document.querySelector('.tour').textContent"))
        self.browser.run("document.querySelector('details.numbers').open = true")
        self.browser.wait("document.querySelector('details.numbers td')", "the table")
        keys = self.browser.run("return document.querySelector('details.numbers').textContent")
        self.assertIn("Decoder layer 2, head 8", keys)
        self.assertIn("⟨start⟩", keys)
        # What is chosen during the tour stays in the address, also where it is the page's default.
        self.browser.click("#tab-lines")
        self.assertEqual(self.state(), {"tour": "3", "view": "lines"})
        self.show(tour=3, view="lines")
        self.assertTrue(self.browser.run("return document.querySelector('#tab-lines').ariaSelected === 'true'"))

    def test_the_tour_covers_nothing(self):
        for width in (1280, 2560):
            self.browser.resize(width, 900)
            self.show(tour=1)
            bottom, top = self.browser.run("return [document.querySelector('.tour').getBoundingClientRect().bottom,"
                                           " document.querySelector('.tabs').getBoundingClientRect().top]")
            self.assertLessEqual(bottom, top)
        self.browser.resize(1280, 900)

    def test_size_and_speed(self):
        twenty = ("Das kleine Kind, das gestern im Garten spielte, hat heute mit seiner alten Großmutter "
                  "in der Küche einen Kuchen gebacken.")
        path = pathlib.Path(self.folder.name) / "twenty.html"
        attend(twenty, "--output", str(path))
        self.assertLess(path.stat().st_size, 600_000 / 72 * 96)  # 600 kB for 3 + 3 layers of 8 heads; these are 6 + 3
        self.browser.open(path.as_uri() + "#view=heads")
        self.browser.wait("document.querySelector('#panel .overlay')", "the page")
        # How long the page takes to mark one token after the other in 96 maps, which is what hovering costs.
        frame = cpu_time_while_hovering(self.browser, 60)
        print(f"page of 20 words: {path.stat().st_size} bytes; CPU time of a frame while hovering: {frame:.1f} ms", file=sys.stderr)
        self.assertLess(frame, 20)


class Families(unittest.TestCase):
    """One query of models whose scores are more than scaled products, beside the numbers of `heed attend --json`."""

    # What One query shows of a layer between q · k and the softmax.
    CASES = [
        ("decoder_families/llama32", "decoder", 1, ["÷ √8", "Mask"]),
        ("decoder_families/mistral", "decoder", 1, ["÷ √8", "Mask"]),
        ("decoder_families/gemma2", "decoder", 1, ["÷ √9", "Cap 4", "Mask"]),
        ("decoder_families/gemma2", "decoder", 2, ["÷ √9", "Cap 4", "Mask"]),
        ("seq2seq_families/t5", "encoder", 2, ["+ position"]),
        ("seq2seq_families/t5", "decoder", 1, ["+ position", "Mask"]),
        ("seq2seq_families/t5", "cross", 2, []),
        ("encoder_families/mpnet", "encoder", 1, ["÷ √8", "+ position"]),
        ("encoder_families/modernbert", "encoder", 1, ["÷ √8"]),
        ("encoder_families/modernbert", "encoder", 2, ["÷ √8", "Mask"]),
    ]

    def setUp(self):
        if not FAMILIES.is_dir():
            self.skipTest(f"no models of families in {FAMILIES}")
        self.folder = tempfile.TemporaryDirectory(prefix="heed-explorer-")
        self.browser = Browser(downloads=self.folder.name)

    def tearDown(self):
        self.browser.close()
        self.folder.cleanup()

    @staticmethod
    def expected(detail, weights, query):
        """The numbers of the columns between the key and the value, for each key."""
        q, visible, steps = detail["query"][query], detail.get("visible"), []
        for key, k in enumerate(detail["key"]):
            product = sum(a * b for a, b in zip(q, k))
            column = [product]
            if detail["scale"] != 1:
                column.append(product * detail["scale"])
            if detail["cap"]:
                column.append(detail["cap"] * math.tanh(column[-1] / detail["cap"]))
            if "bias" in detail:
                column.append(column[-1] + detail["bias"][query][key])
            if visible:
                column.append(column[-1] if visible[query][key] else -math.inf)
            steps.append([*column, weights[query][key]])
        return zip(*steps)

    def test_one_query_of_every_kind_of_score(self):
        hidden = small = 0
        for family, stack, layer, names in self.CASES:
            path = pathlib.Path(self.folder.name) / (family.replace("/", "-") + ".html")
            command = ["Tom asks me when the old dog sleeps.", "--model", str(FAMILIES / family / "model"),
                       *(["--target", "Tom fragt mich, wann er schläft."] if family.startswith("seq2seq") else [])]
            attend(*command, "--output", str(path))
            trace = json.loads(subprocess.run([HEED, "attend", "--quiet", *command, "--json", "--details"], check=True,
                                              capture_output=True, text=True).stdout)
            for head in (1, 2):
                detail = trace["details"][stack][layer - 1][head - 1]
                weights = trace["attention"][stack][layer - 1][head - 1]
                for query in (len(weights) // 2, len(weights) - 1):
                    token = f"{'s' if stack == 'encoder' else 't'}{query + 1}"
                    state = dict(view="query", stack=stack, layer=layer, head=head, token=token)
                    self.browser.open("about:blank")
                    self.browser.open(path.as_uri() + "#" + urllib.parse.urlencode(state))
                    self.browser.wait("document.querySelector('table.steps tbody tr')", f"the steps of {family}, {state}")
                    shown = query_steps(self.browser)
                    self.assertEqual(list(shown), ["q · k", *names, "Softmax", "Part of the output"], family)
                    # Half of the last digit, and of q · k a weight's 2^-11 divided by the scale.
                    digits = [0.06 if detail["scale"] < 0.5 else 0.0071, *[0.0071] * len(names), 0.00051 + 2 ** -12]
                    for name, numbers, digit in zip(shown, self.expected(detail, weights, query), digits):
                        for number, said in zip(numbers, shown[name], strict=True):
                            where = f"{name} of {family}, {state}: {said} for {number}"
                            self.assertEqual(math.isinf(number), math.isinf(said), where)
                            if math.isfinite(number):
                                self.assertLessEqual(abs(number - said), digit + 0.001 * abs(number), where)
                    hidden += sum(map(math.isinf, shown.get("Mask", [])))
                    small += sum(weight < 1e-4 for weight in weights[query])
                    faded = self.browser.run("return document.querySelectorAll('tr.hidden-key').length")
                    self.assertEqual(faded, sum(map(math.isinf, shown.get("Mask", []))))
        self.assertGreater(hidden, 20)
        self.assertGreater(small, 20)


def patch_table(browser):
    """The rows of the table of Patch: the part, and what comes back."""
    browser.run("document.querySelector('details.numbers').open = true")
    browser.wait("document.querySelector('details.numbers td')", "the table")
    return browser.run("return [...document.querySelectorAll('details.numbers tbody tr')]"
                       ".map((row) => [...row.children].map((cell) => cell.textContent))")


class OfServer(Saving, unittest.TestCase):
    """Pages of `heed serve`, which ask the model."""

    @classmethod
    def models(cls):
        """Options of the server."""
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        commands = subprocess.run([HEED, "--help"], check=True, capture_output=True, text=True).stdout
        if not re.search(r"^ +serve ", commands, re.MULTILINE):
            raise unittest.SkipTest("this command has no server")
        cls.folder = tempfile.TemporaryDirectory(prefix="heed-explorer-")
        cls.start()
        cls.browser = Browser(downloads=cls.folder.name)

    @classmethod
    def start(cls):
        cls.server = subprocess.Popen([HEED, "serve", "--port", "0", *cls.models()], stderr=subprocess.PIPE, text=True, cwd=cls.folder.name)
        for line in cls.server.stderr:
            if match := re.search(r"http://\S+?:\d+/", line):
                cls.url = match.group(0)
                break
        else:
            raise AssertionError("the server does not say where it listens")
        # Nobody else reads what it says from here on.
        threading.Thread(target=cls.server.stderr.read, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()
        cls.stop()

    @classmethod
    def stop(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.server.stderr.close()

    def show(self, **state):
        self.browser.open("about:blank")
        self.browser.open(self.url + "?" + urllib.parse.urlencode(state))

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])
        elsewhere = [url for url in self.browser.requests() if not url.startswith((self.url, "about:", "blob:", "data:", "chrome"))]
        self.assertEqual(elsewhere, [])

    def ask(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def intercept(self, **answers):
        """What becomes of the page's requests from now on, by their route, as INTERCEPT says."""
        self.browser.run(INTERCEPT + "".join(f"answers['v1/{route}'] = (body) => {fate};" for route, fate in answers.items()))

    def release(self):
        """Lets the answers that were held back come, and waits until they did, and whatever becomes of them."""
        count = self.browser.run("const count = arrived + held.length; release(); return count")
        self.browser.wait(f"arrived >= {count}", "the late answers")
        time.sleep(0.3)

    def type(self, text, field="#source"):
        self.browser.run("const box = document.querySelector(arguments[0]); box.value = arguments[1]; box.dispatchEvent(new Event('input'))",
                         field, text)

    def asked(self, route):
        """The bodies of the page's requests to a route since intercept()."""
        return self.browser.run("return asked.filter(({path}) => path === arguments[0]).map(({body}) => body)", f"v1/{route}")

    def go(self, **state):
        """Shows another state in the same page."""
        self.browser.run("history.pushState(null, '', '?' + arguments[0]); dispatchEvent(new PopStateEvent('popstate'))",
                         urllib.parse.urlencode(state))

    def ask_again(self):
        """Lets the answers come that were refused, and the page ask once more, with a key."""
        self.browser.run("answers = {}; const box = document.querySelector('input[type=password]');"
                         "box.value = 'key'; box.dispatchEvent(new Event('change'))")

    def picture(self, name):
        if not PICTURES:
            return
        for width, height, dark in [(1280, 900, False), (360, 740, True)]:
            self.browser.resize(width, height, dark)
            time.sleep(0.3)
            self.browser.screenshot(os.path.join(PICTURES, f"{name}-{width}.png"), True)
        self.browser.resize(1280, 900)

    def translation(self):
        return self.browser.run("return document.querySelector('#translation').textContent")

    def state(self):
        return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.browser.run("return location.href")).query))


class Languages(OfServer):
    """Models with several languages, of which the page lets one choose."""

    @classmethod
    def models(cls):
        # The German-English model with codes of target languages, in place of pieces that no text has.
        codes = pathlib.Path(cls.folder.name) / "codes"
        codes.mkdir()
        for path in (MODELS / "de-en").iterdir():
            if path.name != "vocab.json":
                (codes / path.name).symlink_to(path)
        pieces = json.loads((MODELS / "de-en" / "vocab.json").read_text())
        codes_of_pieces = {"<0xFE>": ">>fra<<", "<0xFF>": ">>spa<<"}
        (codes / "vocab.json").write_text(json.dumps({codes_of_pieces.get(piece, piece): id for piece, id in pieces.items()}))
        several = FAMILIES / "seq2seq_families/nllb/model"
        cls.has_nllb = several.is_dir()
        if cls.has_nllb:
            (codes.parent / "nllb").symlink_to(several)
        return ["--pair", "de-en", "--model", str(codes), *(["--model", str(codes.parent / "nllb")] if cls.has_nllb else [])]

    def wait_for_token(self, token):
        self.browser.wait(f"document.querySelector('.tokens button')?.textContent === {json.dumps(token)}", f"the token {token}")

    def shown(self):
        """What the two selects show; None where there is none."""
        return self.browser.run("return ['from', 'to'].map((side) => document.querySelector(`#${side}-language`))"
                                ".map((box) => box.checkVisibility() ? box.selectedOptions[0].textContent : null)")

    def test_models_of_one_pair_have_no_choice(self):
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.assertEqual(self.shown(), [None, None])

    def test_target_language(self):
        self.show(model="codes", to="es", text=SHORT)
        self.wait_for_token(">>spa<<")
        self.browser.wait("document.querySelector('#to-language').checkVisibility()", "the choice")
        self.assertEqual(self.shown(), [None, "Spanish"])
        self.assertIn("/codes --target-language es", self.browser.run("return document.querySelector('.command code').textContent"))
        # By keyboard: from the models to the languages, and to French by its first letter.
        self.browser.run("document.querySelector('.top select').focus()")
        self.browser.press("Tab", "F")
        self.wait_for_token(">>fra<<")
        self.assertEqual(self.state()["to"], "fr")
        self.browser.call("POST", "/back", {})
        self.wait_for_token(">>spa<<")
        self.assertEqual(self.shown(), [None, "Spanish"])
        # A model without languages of its own.
        self.browser.run("const box = document.querySelector('.top select'); box.value = 'pair:de-en'; box.dispatchEvent(new Event('change'))")
        self.wait_for_token("Der")
        self.assertEqual(self.shown(), [None, None])
        self.assertNotIn("to", self.state())

    def test_a_target_language_is_chosen_where_the_model_needs_one(self):
        self.show(model="codes", text=SHORT)
        self.wait_for_token(">>spa<<")
        self.assertEqual(self.shown(), [None, "Spanish"])
        self.assertTrue(all("400" in message for message in self.browser.console()))  # asked before this was known

    def test_both_languages(self):
        if not self.has_nllb:
            self.skipTest("no NLLB model; HEED_FAMILIES can name another folder")
        self.show(model="nllb", text="Tom asks me.")
        self.wait_for_token("eng_Latn")
        self.browser.wait("document.querySelector('#to-language').checkVisibility()", "the choice")
        self.assertEqual(self.shown(), ["English", "German"])
        self.browser.run("const box = document.querySelector('#from-language'); box.value = 'de'; box.dispatchEvent(new Event('change'))")
        self.wait_for_token("deu_Latn")
        self.assertEqual(self.shown(), ["German", "English"])
        self.assertEqual({name: self.state()[name] for name in ["from", "to"]}, {"from": "de", "to": "en"})
        self.assertEqual(self.browser.run("return document.querySelectorAll('.tokens')[1].children[0].textContent"), "eng_Latn")
        # The languages find the model.
        self.show(**{"from": "en", "to": "es", "text": "Tom asks me."})
        self.wait_for_token("eng_Latn")
        self.browser.wait("/model=nllb/.test(location.href)", "the model's name")
        self.assertEqual(self.shown(), ["English", "Spanish"])


    def test_other_languages_and_models_begin_anew(self):
        """The pinned token, words of the translation and heads are of the languages and the model before."""
        choose = "const box = document.querySelector(arguments[0]); box.value = arguments[1]; box.dispatchEvent(new Event('change'))"
        own = {"token": "t1", "prefix": "The", "forbid": "cat"}
        self.show(model="codes", to="es", text=SHORT, **own)
        self.wait_for_token(">>spa<<")
        self.browser.wait("document.querySelector('#to-language').checkVisibility()", "the choice")
        self.browser.run(choose, "#to-language", "fr")
        self.wait_for_token(">>fra<<")
        self.assertEqual(set(self.state()), {"model", "to", "text"})
        self.show(model="codes", to="es", text=SHORT, head=2, layer=1, **own)
        self.wait_for_token(">>spa<<")
        self.browser.run(choose, ".top select", "pair:de-en")
        self.wait_for_token("Der")
        self.assertEqual(set(self.state()), {"pair", "text"})

    def test_a_branch_has_no_language_code(self):
        if not self.has_nllb:
            self.skipTest("no NLLB model; HEED_FAMILIES can name another folder")
        self.show(model="nllb", text="Tom asks me.", view="search", **{"from": "en", "to": "de"})
        self.browser.wait("document.querySelector('.finished li')", "the tree")
        self.browser.run("document.querySelector('#panel .overlay').focus()")
        self.browser.press("ArrowRight", "ArrowRight", "ArrowDown", "Enter")
        self.browser.wait("/prefix=/.test(location.href)", "a branch that is continued")
        prefix = self.state()["prefix"]
        self.assertNotIn("deu_Latn", prefix)
        self.browser.wait(f"document.querySelector('#translation').textContent.startsWith({json.dumps(prefix)})", "what continues it")


class Named(OfServer):
    @classmethod
    def models(cls):
        return ["--model", f"kitchen={MODELS / 'en-es'}"]

    def test_a_name_is_shown_with_the_languages(self):
        self.show(text="The dog sleeps.")
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.browser.wait("document.querySelector('.top select').selectedOptions[0]?.textContent === 'English → Spanish (kitchen)'", "the name")
        self.show(text="The dog sleeps.", view="compare", other="model:kitchen")
        self.browser.wait("[...document.querySelectorAll('#panel option')].some((each) => each.textContent === 'English → Spanish (kitchen)')", "the name to compare with")


class Through(OfServer):
    """A pair for which a text passes through two models."""

    @classmethod
    def models(cls):
        return ["--pair", "de-es"]

    def test_it_shows_the_way(self):
        text = "Der Hund schläft."
        self.show(pair="de-es", text=text)
        self.browser.wait("document.querySelector('#steps button')", "the steps")
        answer = self.ask("v1/translate", {"text": text, "pair": "de-es"})["translations"][0]
        self.assertEqual(self.browser.run("return document.querySelector('#translation').textContent"), answer["translation"])
        self.assertIn(answer["intermediate"][0], self.browser.run("return document.querySelector('#steps').textContent"))
        chosen = self.browser.run("return document.querySelector('.row.top select').selectedOptions[0].textContent")
        self.assertIn("through English", chosen)
        self.assertTrue(self.browser.run("return getComputedStyle(document.querySelector('#panel')).visibility === 'hidden'"))
        # The second step is one model, whose attention there is.
        self.browser.run("document.querySelectorAll('#steps button')[1].click()")
        self.browser.wait("document.querySelector('#panel svg, #panel canvas')", "the attention of a step")
        self.assertEqual(self.browser.run("return document.querySelector('#source').value"), answer["intermediate"][0])
        self.assertEqual(self.browser.run("return document.querySelector('#translation').textContent"), answer["translation"])
        self.assertTrue(self.browser.run("return document.querySelector('#steps').hidden"))

    def test_a_text_in_lines_is_one_sentence(self):
        self.show(pair="de-es", text="Der Hund schläft\nim Garten.")
        self.browser.wait("document.querySelector('#steps button')", "the steps")
        answer = self.ask("v1/translate", {"text": "Der Hund schläft im Garten.", "pair": "de-es"})["translations"][0]
        self.assertEqual(self.browser.run("return document.querySelector('#translation').textContent"), answer["translation"])
        self.type("Die Katze schläft.")
        self.browser.wait("/gat[oa]/.test(document.querySelector('#translation').textContent)", "another sentence")


class OtherModels(OfServer):
    """A language model, a classifier and an embedding model, trained for a moment."""

    @classmethod
    def models(cls):
        folder = pathlib.Path(cls.folder.name)
        lines = ["the dog sleeps in the garden", "the cat eats in the house"]
        recipe = '[model]\narch = "{}"\nwidth = 16\nlayers = 2\nheads = 2\nfeed_forward_width = 32\nmax_length = 128\n[tokenizer]\n{}\n'
        for name, task, text, arch, tokenizer in [
                ("text", "lm", [*lines, "Once upon a time there was a little dog"], "gpt2", 'type = "characters"'),
                ("classes", "classify", [f"{label}\t{line}" for label, line in zip(["dogs", "cats"], lines)], "bert",
                 'type = "wordpiece"\nvocabulary = 80')]:
            (folder / "recipe.toml").write_text(recipe.format(arch, tokenizer))
            (folder / "text.txt").write_text("\n".join(100 * text) + "\n")
            subprocess.run([HEED, "train", "--task", task, "--text", folder / "text.txt", "--valid-text", folder / "text.txt",
                            "--recipe", folder / "recipe.toml", "--max-steps", "20", "--output", folder / name, "--quiet"],
                           check=True, capture_output=True)
        # The classifier's encoder as an embedding model.
        shutil.copytree(folder / "classes", folder / "vectors")
        config = json.loads((folder / "vectors/config.json").read_text())
        (folder / "vectors/config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
        (folder / "vectors/1_Pooling").mkdir()
        (folder / "vectors/1_Pooling/config.json").write_text('{"word_embedding_dimension": 16, "pooling_mode_mean_tokens": true}')
        (folder / "vectors/modules.json").write_text(json.dumps(
            [{"path": path, "type": "sentence_transformers.models." + kind} for path, kind in [("", "Transformer"), ("1_Pooling", "Pooling")]]))
        return ["--model", "text", "--model", "./classes", "--model", str(folder / "vectors")]

    def test_commands_run_where_the_server_was_started(self):
        for model, path, text in [("text", "text", "the d"), ("classes", "./classes", "the dog"), ("vectors", "/vectors", "the dog")]:
            self.show(model=model, text=text, view="head")
            self.browser.wait(f"document.querySelector('.command code').textContent.includes({json.dumps(path + ' ')})", "the command")
            command = self.browser.run("return document.querySelector('.command code').textContent")
            done = subprocess.run(re.sub("^heed", HEED, command), shell=True, cwd=self.folder.name, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, command + done.stderr)
            (pathlib.Path(self.folder.name) / "attention.svg").unlink()

    def test_similarities(self):
        """An embedding model has no class, but vectors, whose cosines the page shows."""
        self.show(model="vectors", text="the dog sleeps", others="the cat sleeps\n\nthe dog sleeps\nthe garden")
        self.browser.wait("document.querySelectorAll('.similarities dt').length === 3", "the similarities")
        lines = ["the cat sleeps", "the dog sleeps", "the garden"]
        own, *others = [each["embedding"] for each in self.ask("v1/embeddings", {"model": "vectors", "input": ["the dog sleeps", *lines]})["data"]]
        dot = lambda a, b: sum(x * y for x, y in zip(a, b))
        cosines = {line: dot(own, each) / (dot(own, own) * dot(each, each)) ** 0.5 for line, each in zip(lines, others)}
        shown = self.browser.run("return [...document.querySelectorAll('.similarities dt')].map((each) => "
                                 "[each.textContent, Number(each.nextSibling.textContent)])")
        self.assertEqual([line for line, _ in shown], sorted(cosines, key=cosines.get, reverse=True))
        for line, cosine in shown:
            self.assertAlmostEqual(cosine, cosines[line], delta=0.00051)
        self.assertIn("16 numbers", self.browser.run("return document.querySelector('.similarities').textContent"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('.name')[1].textContent"), "Vector")
        self.assertFalse(self.browser.run("return document.querySelector('.classes').checkVisibility()"))
        self.assertEqual([url for url in self.browser.requests() if url.endswith("/v1/classify")], [])
        # Examples, and what is typed.
        self.show(model="vectors", text="the dog sleeps")
        self.browser.wait("document.querySelectorAll('.similarities dt').length === 3", "similarities of examples")
        self.browser.run("const box = document.querySelector('#others'); box.value = 'a cat'; box.dispatchEvent(new Event('input'))")
        self.browser.wait("document.querySelectorAll('.similarities dt').length === 1", "similarities of what was typed")
        self.assertEqual(self.state()["others"], "a cat")
        self.assertEqual(self.browser.run(CHECK_ACCESS), [])
        self.picture("similarities")

    def test_options_of_the_search_are_not_asked_for(self):
        """An address of a translation may name them, which the server refuses here."""
        for model in ("text", "classes"):
            self.show(model=model, text="the d", beam=3, penalty="0.5")
            self.browser.wait("document.querySelector('#panel svg, #panel canvas')", f"the attention of {model}")

    def test_heads_of_other_models_are_switched_off(self):
        off = [{"stack": "decoder"}]
        self.show(model="text", text="the d", view="change", off="decoder:1:1,decoder:1:2,decoder:2:1,decoder:2:2")
        self.browser.wait("document.querySelectorAll('.versus .translation').length === 2 && document.querySelector('.difference')", "both")
        sums = [sum(self.ask("v1/attend", {"model": "text", "text": "the d", "ablate": heads})["log_probabilities"][:-1]) for heads in ([], off)]
        difference = lambda: float(self.browser.run("return document.querySelector('.difference').textContent").split(": ")[1])
        self.assertAlmostEqual(difference(), sums[1] - sums[0], delta=0.002)
        self.assertNotEqual(difference(), 0)
        self.assertEqual(self.browser.run("return document.querySelectorAll('.token-change').length"), 4)
        # The first token has no change.
        for pinned, marked in [("t1", []), ("t2", ["h"]), ("t5", ["d"])]:
            self.go(model="text", text="the d", view="change", off="decoder:1:1,decoder:1:2,decoder:2:1,decoder:2:2", token=pinned)
            self.browser.wait(f"document.querySelector('.tokens [aria-pressed=true]') && document.querySelectorAll('.token-change.marked').length === {len(marked)}", "the mark")
            self.assertEqual(self.browser.run("return [...document.querySelectorAll('.token-change.marked')].map((each) => each.firstChild.textContent)"), marked)
        self.assertFalse(self.browser.run("return document.querySelector('.steering').checkVisibility()"))
        self.picture("change-text")
        off = [{"stack": "encoder", "layer": 2, "head": 1}]
        self.show(model="classes", text="the dog", view="change", off="encoder:2:1")
        self.browser.wait("document.querySelector('.difference')", "the difference")
        probabilities = [self.ask("v1/classify", {"model": "classes", "text": "the dog", "ablate": heads})["results"][0]["probabilities"] for heads in ([], off)]
        best = max(probabilities[0], key=probabilities[0].get)
        import math
        self.assertAlmostEqual(difference(), math.log(probabilities[1][best] / probabilities[0][best]), delta=0.002)
        self.assertIn(best, self.browser.run("return document.querySelector('.versus').textContent"))
        self.show(model="vectors", text="the dog", view="change", off="encoder:1:1,encoder:1:2,encoder:2:1,encoder:2:2")
        self.browser.wait("document.querySelector('.difference')", "the difference")
        self.assertLess(difference(), 0)
        # The other sentences are compared by the same changed model.
        vectors = self.ask("v1/embeddings", {"model": "vectors", "input": ["the dog", "the cat"], "ablate": [{"stack": "encoder"}]})["data"]
        self.go(model="vectors", text="the dog", view="change", off="encoder:1:1,encoder:1:2,encoder:2:1,encoder:2:2", others="the cat")
        self.browser.wait("document.querySelectorAll('.similarities dt').length === 1", "the similarity")
        one, other = [each["embedding"] for each in vectors]
        dot = lambda a, b: sum(x * y for x, y in zip(a, b))
        shown = float(self.browser.run("return document.querySelector('.similarities .bar-text').textContent"))
        self.assertAlmostEqual(shown, dot(one, other) / (dot(one, one) * dot(other, other)) ** 0.5, delta=0.00051)
        self.browser.run("[...document.querySelectorAll('#panel button')].find((each) => each.textContent.startsWith('Switch each')).click()")
        self.browser.wait("document.querySelectorAll('.change-heads table tbody tr').length === 4", "the loss of each head")
        self.picture("change-vectors")

    def test_switching_models_switches_the_example(self):
        self.show()
        self.browser.wait("/^Once upon/.test(document.querySelector('#source').value)", "an example for the language model")
        self.browser.run("const box = document.querySelector('.top select'); box.value = 'model:vectors'; box.dispatchEvent(new Event('change'))")
        self.browser.wait("document.querySelector('#source').value === 'The dog is sleeping.'", "an example for the other model")
        self.browser.wait("document.querySelector('.similarities dt')", "its similarities")
        self.show(model="text", text="the d")
        self.browser.wait("document.querySelector('.top select').options.length === 3", "the models")
        self.browser.run("const box = document.querySelector('.top select'); box.value = 'model:vectors'; box.dispatchEvent(new Event('change'))")
        self.browser.wait("document.querySelector('.similarities dt')", "similarities")
        self.assertEqual(self.state()["text"], "the d")

    def bars(self):
        return self.browser.run("return [...document.querySelectorAll('.next-row')].map((row) => "
                                "[row.className, row.querySelector('.next-token').textContent, parseFloat(row.querySelector('.bar-text').textContent)])")

    def show_next(self, **more):
        self.show(model="text", view="next", text="the d", **more)
        self.browser.wait("document.querySelector('.next-row')", "the next tokens")

    def test_next_token(self):
        self.show_next()
        with urllib.request.urlopen(urllib.request.Request(self.url + "v1/completions", json.dumps(
                {"model": "text", "prompt": "the d", "max_tokens": 1, "logprobs": 20, "temperature": 0}).encode(),
                {"Content-Type": "application/json"})) as answer:
            best = json.load(answer)["choices"][0]["logprobs"]["top_logprobs"][0]
        import math
        bars = self.bars()
        self.assertEqual([bar[2] for bar in bars[:-1]], sorted((bar[2] for bar in bars[:-1]), reverse=True))
        self.assertAlmostEqual(bars[0][2], 100 * math.exp(max(best.values())), delta=0.06)
        self.assertAlmostEqual(sum(bar[2] for bar in bars), 100, delta=1)
        self.assertEqual({bar[0] for bar in bars}, {"next-row"})
        # Warmer: the sum is over the whole vocabulary, of which others are shown as one.
        self.show_next(temperature=2)
        warm = self.ask("v1/completions", {"model": "text", "prompt": "the d", "max_tokens": 1, "logprobs": 20, "temperature": 0, "temperatures": [2]})
        warm_sum = warm["choices"][0]["logprobs"]["log_sums"][0][0]
        for bar, value in zip(self.bars(), sorted(best.values(), reverse=True)):
            self.assertAlmostEqual(bar[2], 100 * math.exp(value / 2 - warm_sum), delta=0.06)
        self.assertAlmostEqual(sum(bar[2] for bar in self.bars()), 100, delta=1)
        # Temperature makes the likeliest likelier; top-p cuts the others off.
        self.show_next(temperature=0.5, top=0.3)
        cooler = self.bars()
        self.assertGreater(cooler[0][2], bars[0][2])
        self.assertEqual(cooler[0][0], "next-row")
        self.assertEqual(cooler[-1][0], "next-row cut")
        self.assertEqual(self.browser.run(CHECK_ACCESS), [])

    def test_next_token_in_another_precision_and_with_all_heads(self):
        self.show_next()
        self.intercept(completions="401")
        self.go(model="text", view="next", text="the d", precision="int8", off="decoder:1:1")
        self.browser.wait("/refused/.test(document.querySelector('#panel .next').textContent)", "an error")
        self.ask_again()
        self.browser.wait("document.querySelector('.next-row')", "the next tokens")
        self.assertEqual({body.get("precision") for body in self.asked("completions")}, {"int8"})
        best = self.ask("v1/completions", {"model": "text", "prompt": "the d", "max_tokens": 1, "logprobs": 20, "temperature": 0, "precision": "int8"})
        self.assertAlmostEqual(self.bars()[0][2], 100 * math.exp(max(best["choices"][0]["logprobs"]["top_logprobs"][0].values())), delta=0.06)
        self.assertIn("With all heads", self.browser.run("return document.querySelector('#panel').textContent"))
        self.go(model="text", view="next", text="the d")
        self.browser.wait("!/With all heads/.test(document.querySelector('#panel').textContent)", "all heads")

    def test_similarities_after_an_error(self):
        self.show(model="text", text="the dog")
        self.browser.wait("document.querySelector('#panel canvas')", "the page")
        self.intercept(embeddings="401")
        self.go(model="vectors", text="the dog")
        self.browser.wait("/refused/.test(document.querySelector('.similarities').textContent)", "the error")
        self.ask_again()
        self.browser.wait("document.querySelector('.similarities dt')", "the similarities")
        self.assertIn("numbers", self.browser.run("return document.querySelector('.similarities p').textContent"))
        self.intercept(embeddings="401")
        self.type("the cat")
        self.browser.wait("/refused/.test(document.querySelector('.similarities').textContent)", "the error")
        self.assertEqual(self.browser.run("return document.querySelector('.similarities p').textContent"), "")

    def test_what_the_last_token_looks_at(self):
        self.show_next(layer=2, head=1)
        cells = self.browser.run("return [...document.querySelectorAll('.looking .token')].map((cell) => "
                                 "[cell.firstChild.textContent, parseInt(cell.querySelector('small').textContent)])")
        with urllib.request.urlopen(urllib.request.Request(
                self.url + "v1/attend", json.dumps({"model": "text", "text": "the d"}).encode(),
                {"Content-Type": "application/json"})) as answer:
            trace = json.load(answer)
        last = trace["attention"]["decoder"][1][0][-1]
        self.assertEqual(len(cells), len(trace["decoder_tokens"]))
        for cell, weight in zip(cells, last):
            self.assertAlmostEqual(cell[1], 100 * weight, delta=1)

    def test_queries_are_the_tokens_that_are_read(self):
        with urllib.request.urlopen(urllib.request.Request(
                self.url + "v1/attend", json.dumps({"model": "text", "text": "the d"}).encode(),
                {"Content-Type": "application/json"})) as answer:
            read = json.load(answer)["decoder_tokens"]
        self.show(model="text", view="query", text="the d", token="t1", layer=2, head=1)
        self.browser.wait("document.querySelector('table.steps tbody tr')", "the steps of a query")
        keys = self.browser.run("return [...document.querySelectorAll('table.steps tbody th')].map((each) => each.textContent)")
        self.assertEqual(len(keys), len(read))
        note = self.browser.run("return document.querySelector('table.steps .note').textContent")
        self.assertIn(f"Query q of “{keys[0]}”", note)
        tokens = self.browser.run("return [...document.querySelectorAll('.tokens:not([hidden]) .token')].map((each) => each.textContent)")
        self.assertEqual(tokens[-len(keys):], keys)
        names = self.browser.run("return [...document.querySelectorAll('.side > .name')].map((each) => each.textContent)")
        self.assertEqual(names, ["Text", "Tokens of the text"])

    def test_layers_of_all_tasks(self):
        for model, text, stack, predicts in [("text", "the d", "Decoder", True), ("classes", "the dog", "Encoder", False), ("vectors", "the dog", "Encoder", False)]:
            self.show(model=model, text=text, view="layers")
            self.browser.wait("document.querySelector('#panel .overlay')?.getAttribute('aria-label')", "the layers")
            chosen = self.browser.run("return [...document.querySelectorAll('#panel [role=radio][aria-checked=true]')].map((each) => each.textContent)")
            self.assertEqual(chosen, [stack, "Likeliest token" if predicts else "Norm"])
        self.show(model="text", text="the d", view="layers", token="t5")
        self.browser.wait("document.querySelector('.way caption')", "the way of the last token")
        best = self.ask("v1/lens", {"model": "text", "text": "the d", "top": 1})["predictions"][-1][-1][0]["token"]
        self.assertIn(f"after which “{best.replace('▁', '')}”".replace("“ ”", "“␣”"), self.browser.run("return document.querySelector('.way caption').textContent"))

    def test_why_of_all_tasks(self):
        for model, text, what in [("text", "the d", "Next token"), ("classes", "the dog", "Class")]:
            self.show(model=model, text=text, view="why")
            self.browser.wait("/they should sum to/.test(document.querySelector('#panel .sum')?.textContent)", "the sum")
            found = self.ask("v1/attribute", {"model": model, "text": text})
            shown = self.browser.run("return document.querySelector('#panel .sum').textContent").replace("−", "-")
            self.assertIn(f"sum to {found['sum'][0]:.3f}", shown)
            self.browser.wait("document.querySelectorAll('.alternatives button').length > 1", "alternatives")
            self.browser.run("document.querySelectorAll('.alternatives button')[1].click()")
            self.browser.wait("/\\) − ln P\\(/.test(document.querySelector('#panel .sum').textContent)", "the contrast")
        self.show(model="vectors", text="the dog")
        self.browser.wait("document.querySelector('.similarities dt')", "similarities")
        self.assertFalse(self.browser.run("return document.querySelector('#tab-why').checkVisibility()"))

    def test_patch_of_all_tasks(self):
        for model, text, other, stack in [("text", "the dog", "the cat", "decoder"), ("classes", "the dog", "the cat", "encoder")]:
            self.show(model=model, text=text, beside=other, view="patch", part="positions")
            self.browser.wait("/after the other one/.test(document.querySelector('#panel .sum')?.textContent)", "the difference")
            found = self.ask("v1/patch", {"model": model, "text": text, "other": other, "what": "positions"})
            rows = patch_table(self.browser)
            expected = [effect for row in found["effects"][stack] for effect in row]
            self.assertEqual([row[1] for row in rows], ["" if effect is None else f"{effect:.3f}" for effect in expected])
            self.assertFalse(self.browser.run("return document.querySelector('#panel select').checkVisibility()"))
        self.show(model="vectors", text="the dog")
        self.browser.wait("document.querySelector('.similarities dt')", "similarities")
        self.assertFalse(self.browser.run("return document.querySelector('#tab-patch').checkVisibility()"))

    def test_the_whole_model_of_all_tasks(self):
        for model, text, titles in [("text", "the d", ["What is written so far", "Decoder layer 2", "Output"]), ("classes", "the dog", ["Text to tokens", "Encoder layer 2", "Output"]),
                                    ("vectors", "the dog", ["Text to tokens", "Encoder layer 2", "Output"])]:
            stack = titles[1].split()[0].lower()
            self.show(model=model, text=text, view="model", open=f"{stack}.0,{stack}.2,{stack}.2.self-attention,{stack}.2.feed-forward,output")
            self.browser.wait("document.querySelectorAll('.vectors').length > 4", "the vectors")
            shown = self.browser.run("return [...document.querySelectorAll('.fold-title')].map((each) => each.textContent)")
            for title in titles:
                self.assertIn(title, shown)
            self.assertEqual(self.browser.run(CHECK_ACCESS), [])
            self.picture(f"model-{model}")

    def test_the_text_grows(self):
        self.show_next()
        token = self.bars()[0][1].replace("␣", " ")
        self.browser.click(".next-row button")
        self.browser.wait(f"document.querySelector('#source').value === {json.dumps('the d' + token)}", "the token that was clicked")
        self.browser.wait("document.querySelectorAll('.looking .token').length === 6", "attention of the longer text")
        write = "[...document.querySelectorAll('#panel .row button')].find((each) => /Write on|Stop/.test(each.textContent))"
        self.browser.run(write.join(["", ".click()"]))
        self.browser.wait("document.querySelector('#source').value.length >= 9", "a text that grows by itself")
        self.browser.run(write.join(["", ".click()"]))
        time.sleep(0.7)
        length = len(self.browser.run("return document.querySelector('#source').value"))
        time.sleep(1.2)
        self.assertEqual(len(self.browser.run("return document.querySelector('#source').value")), length)

    def test_writing_ends_after_forty_tokens(self):
        self.show_next(temperature=0.1)
        self.browser.run("const later = setTimeout; window.setTimeout = (work, pause, ...more) => later(work, pause === 500 ? 0 : pause, ...more)")
        write = "[...document.querySelectorAll('#panel .row button')].find((each) => /Write on|Stop/.test(each.textContent))"
        self.browser.run(f"{write}.click(); window.ended = []; new MutationObserver(() => ended.push({write}.textContent)).observe({write}, {{childList: true}})")
        self.browser.wait("document.querySelector('#source').value.length >= 45", "a text that has grown by 40 characters")
        self.assertEqual(self.browser.run("return ended"), ["Write on"])

    def test_writing_does_not_begin_again_by_itself(self):
        write = "[...document.querySelectorAll('#panel .row button')].find((each) => /Write on|Stop/.test(each.textContent))"
        source = "document.querySelector('#source').value"
        for leave in [lambda: self.type("the c"), lambda: self.browser.click("#tab-head")]:
            self.show_next()
            self.intercept(completions="'hold'")
            self.browser.run(f"{write}.click()")
            self.browser.wait(f"{source}.length > 5 && held.length > 0", "a token that is written, and the question for the next")
            leave()
            self.browser.click("#tab-next")
            self.release()
            self.browser.wait("document.querySelector('.next-row')", "the next tokens")
            text = self.browser.run(f"return {source}")
            self.assertEqual(self.browser.run(f"return {write}.textContent"), "Write on")
            time.sleep(0.7)
            self.assertEqual(self.browser.run(f"return {source}"), text)

    def test_parts_of_characters_are_not_appended(self):
        self.show(model="text", text="the d")
        self.browser.wait("document.querySelector('#panel canvas')", "the page")
        self.browser.run("""
            const {json} = Response.prototype;
            Response.prototype.json = async function() {
              const read = await json.call(this), of = read.choices?.[0].logprobs;
              if (of) of.top_logprobs = [{'\ufffd': Math.log(0.75), 'x': Math.log(0.25)}];
              return read;
            };""")
        self.browser.click("#tab-next")
        self.browser.wait("document.querySelectorAll('.next-row').length >= 2", "the next tokens")
        buttons = self.browser.run("return [...document.querySelectorAll('.next-row')].map((row) => [row.querySelector('.next-token').textContent, row.querySelector('button') !== null])")
        self.assertEqual(buttons[:2], [["\ufffd", False], ["x", True]])

    def test_what_the_class_token_looks_at(self):
        self.show(model="classes", text="the dog eats")
        self.browser.wait("document.querySelector('.classes dt')", "the classes")
        self.assertEqual(set(self.browser.run("return [...document.querySelectorAll('.classes dt')].map((each) => each.textContent)")), {"dogs", "cats"})
        self.browser.wait("document.querySelector('.tokens .here')?.textContent === '[CLS]'", "the marked class token")
        self.browser.wait("/^“\\[CLS\\]” looks at/.test(document.querySelector('.reading').textContent)", "what it looks at")
        self.assertFalse(self.browser.run("return document.querySelector('#tab-next, #tab-search').checkVisibility()"))
        self.assertEqual(self.browser.run(CHECK_ACCESS), [])

    def test_classes_of_another_text_go(self):
        has_classes = "document.querySelector('dl.classes').checkVisibility()"
        self.show(model="classes", text="the dog eats")
        self.browser.wait(has_classes, "the classes")
        self.intercept(attend="body.text === 'refused' && 400")
        for text in ["", "refused"]:
            self.type(text)
            self.browser.wait(f"!{has_classes}", f"that the classes go for '{text}'")
            self.type("the cat")
            self.browser.wait(has_classes, "the classes of another text")
        # Those that come when another model is shown.
        self.intercept(classify="'hold'")
        self.type("the dog")
        self.browser.wait("held.length === 1", "the question for classes")
        self.browser.run("const box = document.querySelector('.top select'); box.value = 'model:vectors'; box.dispatchEvent(new Event('change'))")
        self.browser.wait("document.querySelector('.similarities dt')", "the similarities")
        self.release()
        self.assertFalse(self.browser.run(f"return {has_classes}"))


class Answers(OfServer):
    """What the page makes of answers that come late, break off or never come."""

    @classmethod
    def models(cls):
        return ["--pair", "de-en"]

    def show_change(self, **more):
        self.show(pair="de-en", text=SHORT, view="change", **more)
        self.browser.wait("document.querySelector('.versus .translation')", "the original")

    def click(self, text):
        self.browser.run("[...document.querySelectorAll('#panel button')].find((each) => each.textContent.startsWith(arguments[0])).click()", text)

    def result(self):
        return self.browser.run("return document.querySelector('.versus').textContent")

    def test_losses_of_heads_of_another_sentence(self):
        self.show_change()
        self.intercept(attend="body.ablate && 'hold'")
        self.click("Switch each")
        self.browser.wait("held.length === 4", "the questions")
        self.type("Die Katze schläft.")
        self.browser.wait("/cat/.test(document.querySelector('.versus').textContent)", "the other sentence")
        self.release()
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.head-switch')].filter((each) => each.title).length"), 0)
        self.assertNotIn("of 96", self.browser.run("return document.querySelector('.change-heads').textContent"))

    def test_losses_asked_for_while_a_sentence_is_on_its_way(self):
        self.show_change()
        self.intercept(attend="!body.ablate && 'hold'")
        self.type("Die Katze schläft.")
        self.browser.wait("held.length === 1", "the question for the other sentence")
        self.click("Switch each")
        self.release()
        self.browser.wait("document.querySelectorAll('.change-heads table tbody tr').length === 12", "the losses")
        targets = {body["target"] for body in self.asked("attend") if body.get("ablate")}
        self.assertEqual(targets, {self.translation()})
        self.assertIn("cat", self.translation())

    def test_alternatives_of_the_token_that_is_chosen_last(self):
        alternatives = "[...document.querySelectorAll('.alternatives button')].map((each) => each.textContent)"
        self.show(pair="de-en", text=SHORT, view="why", method="gradient", token="t4")
        self.browser.wait(f"{alternatives}.length > 2", "the alternatives")
        right = self.browser.run(f"return {alternatives}")
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.intercept(lens="'hold'")
        self.go(pair="de-en", text=SHORT, view="why", method="gradient", token="t2")
        self.browser.wait("held.length === 1", "the question for alternatives")
        self.go(pair="de-en", text=SHORT, view="why", method="gradient", token="t4")
        self.browser.wait("/sleeping/.test(document.querySelector('#panel .sum').textContent)", "the other token")
        self.release()
        self.browser.wait(f"{alternatives}.length > 2", "the alternatives")
        self.assertEqual(self.browser.run(f"return {alternatives}"), right)

    def test_a_result_that_comes_late(self):
        # The original translation, asked for while it is shown again.
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.intercept(attend="!body.ablate && !body.target && 'hold'")
        self.go(pair="de-en", text=SHORT, view="change", off="cross:2:1,cross:2:2")
        self.browser.wait("held.length === 1 && document.querySelector('#panel .change')", "the question for the original")
        self.browser.run("answers = {}")
        self.click("As the model translates")
        self.browser.wait("document.querySelector('.versus .translation')", "the original")
        before = self.result()
        self.release()
        self.assertEqual(self.result(), before)
        # What each token has lost, asked for while nothing is changed any more.
        self.show_change()
        self.intercept(attend="body.ablate && body.target && 'hold'")
        self.browser.run("document.querySelector('.head-switch').click()")
        self.browser.wait("held.length === 1", "the question for each token")
        self.click("As the model translates")
        self.browser.wait("document.querySelectorAll('.versus .translation').length === 1", "the original")
        self.release()
        self.assertEqual(self.browser.run("return document.querySelectorAll('.versus .token-changes').length"), 0)

    def test_an_earlier_trace_is_not_the_original(self):
        # The view is drawn once more, in another layer, while the next sentence is on its way.
        other = "Die Katze schläft."
        self.show_change()
        self.intercept(attend="'hold'")
        self.go(pair="de-en", text=other, view="change")
        self.browser.wait("held.length === 1", "the question for the other sentence")
        self.go(pair="de-en", text=other, view="change", layer=1)
        self.browser.run("answers = {}")
        self.release()
        self.browser.wait("/cat/.test(document.querySelector('#translation').textContent)", "the other translation")
        self.assertIn("cat", self.result())

    def test_half_typed_fields_are_kept(self):
        typed = "const box = document.querySelector(arguments[0]); box.closest('details')?.setAttribute('open', ''); box.focus(); box.value = arguments[1]"
        for view, field, text in [("change", ".steering input", "The ol"), ("why", "#panel input", "slee"), ("compare", "#panel input", "Die K"), ("lines", ".settings input", "2")]:
            self.show(pair="de-en", text=SHORT, view=view, method="gradient", instead="▁cat" if view == "why" else "")
            self.browser.wait(f"document.querySelector('#translation').textContent && document.querySelector({json.dumps(field)})", view)
            self.browser.run(typed, field, text)
            self.intercept()
            self.type(LONG)
            self.browser.wait("/cake/.test(document.querySelector('#translation').textContent)", "another translation")
            self.assertEqual(self.browser.run("return document.activeElement.value"), text, view)
            # Without the focus, the field has what the state says.
            self.browser.run("document.activeElement.value = ''; document.activeElement.blur()")
            self.type(SHORT)
            self.browser.wait("/dog/.test(document.querySelector('#translation').textContent)", "the first translation")
            if view in ("why", "compare"):
                self.assertNotEqual(self.browser.run("return document.querySelector(arguments[0]).value", field), "", view)

    def test_addresses_with_numbers_that_are_not_whole(self):
        for name in ["tour", "sentence", "layer", "head", "beam"]:
            self.show(**{"pair": "de-en", "text": SHORT, name: 1.5})
            self.browser.wait("document.querySelector('#translation').textContent && document.querySelector('#panel canvas')", name)
        self.show(pair="de-en", text=SHORT, penalty="abc")
        self.browser.wait("document.querySelector('#translation').textContent && document.querySelector('#panel canvas')", "penalty")

    def test_a_picture_of_controls_is_xml(self):
        self.show(pair="de-en", text="Der \u0001Hund\uffff \ufffe schläft.", view="head", layer=2, head=5)
        self.browser.wait("document.querySelector('#panel canvas')", "the picture")
        self.browser.click(".export button:nth-of-type(1)")
        svg = xml.etree.ElementTree.fromstring(self.saved("attention-cross-2-5.svg").decode())
        title = svg.find("{http://www.w3.org/2000/svg}title").text
        self.assertIn("Der ␁HundU+FFFF U+FFFE schläft.", title)

    def test_an_answer_that_breaks_off(self):
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.intercept(attend="'break'")
        self.type("Die Katze schläft.")
        self.browser.wait("/does not answer/.test(document.querySelector('.status.failed')?.textContent)", "the error")
        self.browser.run("answers = {}")
        self.type("Die Katze schläft nicht.")
        self.browser.wait("/cat/.test(document.querySelector('#translation').textContent)", "another translation")

    def test_views_ask_again_after_an_error(self):
        failed = "/refused/.test(document.querySelector('#panel').textContent)"
        for view, route, ready in [("search", "search", "document.querySelector('.finished li')"), ("compare", "attend", "/position/.test(document.querySelector('#panel .note-line').textContent)")]:
            self.show(pair="de-en", text=SHORT)
            self.browser.wait("document.querySelector('#translation').textContent", "the translation")
            self.intercept(**{route: "401"})
            self.browser.click(f"#tab-{view}")
            self.browser.wait(failed, f"the error in {view}")
            self.ask_again()
            self.browser.wait(ready, view)

    def test_an_original_that_fails_shows_no_earlier_one(self):
        self.show_change()
        self.intercept(attend="!body.ablate && 400")
        self.go(pair="de-en", text="Die Katze schläft.", view="change", off="cross:2:1")
        self.browser.wait("/refused/.test(document.querySelector('.versus').textContent)", "the error")
        self.assertNotIn("dog", self.result())
        self.browser.run("answers = {}")
        self.go(pair="de-en", text="Die Katze schläft.", view="change", off="cross:2:2")
        self.browser.wait("document.querySelectorAll('.versus .translation').length === 2", "both translations")

    def test_answers_after_the_text_is_gone(self):
        for view, route in [("layers", "lens"), ("model", "lens"), ("search", "search"), ("compare", "attend"), ("why", "attribute"), ("patch", "patch")]:
            self.show(pair="de-en", text=SHORT, beside="Die Katze schläft.")
            self.browser.wait("document.querySelector('#translation').textContent", "the translation")
            self.intercept(**{route: "'hold'"})
            self.browser.click(f"#tab-{view}")
            self.browser.wait("held.length >= 1", f"the question of {view}")
            self.type("")
            self.browser.wait("!document.querySelector('#translation').textContent", "that the translation goes")
            self.release()
            self.assertEqual(self.browser.console(), [], view)

    def test_a_search_that_fails_shows_no_earlier_tree(self):
        tree = "document.querySelector('#panel canvas')?.checkVisibility() && document.querySelector('.finished li')?.checkVisibility()"
        self.show(pair="de-en", text=SHORT, view="search")
        self.browser.wait(tree, "the tree")
        self.intercept(search="400")
        self.type("Die Katze schläft.")
        self.browser.wait("/refused/.test(document.querySelector('#panel').textContent)", "the error")
        self.assertFalse(self.browser.run(f"return Boolean({tree})"))
        self.assertTrue(self.browser.run("return document.querySelector('.export button').disabled"), "an earlier picture can be saved")
        self.browser.run("answers = {}")
        self.type("Die Katze schläft nicht.")
        self.browser.wait(f"{tree} && /cat/.test(document.querySelector('.finished').textContent)", "another tree")

    def test_heads_can_be_switched_after_an_error(self):
        enabled = "[...document.querySelectorAll('.head-switch')].every((each) => each.disabled === {})"
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        for fate, again in [("401", True), ("'break'", True), ("400", False)]:
            self.intercept(attend=f"body.ablate && {fate}")
            self.browser.click("#tab-change")
            self.browser.wait("document.querySelector('.head-switch') && " + enabled.format("true"), f"no switch for {fate}")
            self.ask_again()
            self.browser.wait("asked.filter(({body}) => body.packed && !body.ablate).length > 0 && !document.querySelector('main.waiting')", "the trace")
            if again:
                self.browser.wait(enabled.format("false"), f"switches after {fate}")
                self.show(pair="de-en", text=SHORT)
                self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        time.sleep(0.3)
        self.assertTrue(self.browser.run("return " + enabled.format("true")))

    def test_compare_with_the_same_heads_off(self):
        scores = "/Log-probability|position|different numbers/.test(document.querySelector('#panel .note-line')?.textContent)"
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.intercept()
        off, heads = "cross:2:1,encoder:1:2:0.5", [{"stack": "cross", "layer": 2, "head": 1}, {"stack": "encoder", "layer": 1, "head": 2, "scale": 0.5}]
        for other, ablated in [("precision:int8", True), ("target:The cat sleeps.", True), ("text:Die Katze schläft.", True), ("model:de-en", False)]:
            self.go(pair="de-en", text=SHORT, view="compare", other=other, off=off)
            self.browser.wait(scores, other)
            self.browser.wait("/The other model has all its heads/.test(document.querySelector('#panel .note-line').textContent) === " + str(not ablated).lower(), f"what is said of {other}")
            self.assertEqual(self.asked("attend")[-1].get("ablate"), heads if ablated else None, other)


    def test_where_storage_is_blocked(self):
        blocked = self.browser.cdp("Page.addScriptToEvaluateOnNewDocument", source="Object.defineProperty(window, 'sessionStorage', "
                                   "{get() { throw new DOMException('storage is blocked', 'SecurityError'); }})")
        try:
            self.show(pair="de-en", text=SHORT)
            self.browser.wait("document.querySelector('#translation').textContent", "the translation")
            self.assertTrue(self.browser.run("try { return sessionStorage && false; } catch { return true; }"))
            self.intercept(attend="401")
            self.type("Die Katze schläft.")
            self.browser.wait("/refused/.test(document.querySelector('.status.failed')?.textContent)", "the error")
            self.ask_again()
            self.browser.wait("/cat/.test(document.querySelector('#translation').textContent)", "the translation with a key")
        finally:
            self.browser.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=blocked["identifier"])

    def test_compare_with_nothing(self):
        self.show(pair="de-en", text=SHORT, view="compare", other="text:Die Katze schläft.")
        self.browser.wait("/position|number/.test(document.querySelector('#panel .note-line')?.textContent)", "the comparison")
        self.browser.run("document.querySelector('details.numbers').open = true")
        columns = "document.querySelectorAll('details.numbers thead th').length === "
        self.browser.wait(columns + "5", "the differences")
        self.go(pair="de-en", text=SHORT, view="compare", other="text:")
        self.browser.wait(columns + "4", "that the other sentence goes")

    def test_precisions_are_those_of_the_model(self):
        with urllib.request.urlopen(self.url + "v1/models", timeout=PATIENCE) as answer:
            [precisions] = [each["precisions"] for each in json.load(answer)["data"]]
        options = "const box = [...document.querySelectorAll('.settings select')].find((each) => [...each.options].some(({value}) => value === 'float32'));"
        for chosen in ["", *precisions, "unknown"]:
            self.show(pair="de-en", text=SHORT, precision=chosen)
            self.browser.wait("document.querySelector('#translation').textContent || document.querySelector('.status.failed')", "the answer")
            self.browser.wait(f"(() => {{{options} return box?.options.length > 1; }})()", "the precisions")
            values, shown = self.browser.run(options + "return [[...box.options].map(({value}) => value), box.value]")
            self.assertEqual(values, ["", *precisions, *(["unknown"] if chosen == "unknown" else [])])
            self.assertEqual(shown, chosen)
        self.browser.console()  # the refusal of the last one

    def test_a_word_with_a_comma_is_no_switch(self):
        self.show(pair="de-en", text="Die Stadt hat 10.000 Einwohner.", view="change")
        self.browser.wait("/10,000/.test(document.querySelector('.versus .translation')?.textContent)", "the original")
        switches = self.browser.run("return [...document.querySelectorAll('.word-switch')].map((each) => each.textContent)")
        self.assertIn("city", switches)
        self.assertNotIn("10,000", switches)

    def test_the_whole_model_with_heads_off(self):
        self.show(pair="de-en", text=SHORT, view="model", off="cross:2:1")
        self.browser.wait("/count in the attention alone/.test(document.querySelector('#panel .note-line')?.textContent)", "what is said of the heads")

    def test_text_from_right_to_left(self):
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        direction = "return ['#source', '#translation'].map((each) => getComputedStyle(document.querySelector(each)).direction)"
        self.assertEqual(self.browser.run(direction), ["ltr", "ltr"])
        self.intercept(attend="400")
        self.type("الكلب ينام")
        self.browser.run("document.querySelector('#translation').textContent = 'الكلب ينام'")
        self.assertEqual(self.browser.run(direction), ["rtl", "rtl"])
        self.browser.wait("document.querySelector('.status.failed')", "the answer")


class StandInSite(unittest.TestCase):
    """A site whose worker answers every question about attention with the same trace, and opens no model."""

    WORKER = """
      const encode = (value) => new TextEncoder().encode(JSON.stringify(value)), headers = {};
      addEventListener('message', ({data: {number, fields}}) => {
        const named = fields.body ? {model: JSON.parse(fields.body).model} : {};
        postMessage({number, answer: {status: 200, headers, body: encode({...TRACE, ...named})}});
      });"""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="heed-explorer-")
        site = pathlib.Path(cls.folder.name) / "site"
        shutil.copytree(MODELS.parent / "web", site)
        index = site / "index.html"
        link = '<link rel="preload" as="fetch" crossorigin id="models" href="models/models.json">'
        index.write_text(index.read_text().replace("</head>", link + "</head>"))
        trace = subprocess.run([HEED, "attend", SHORT, "--json", "--quiet"], check=True, capture_output=True, text=True).stdout
        (site / "heed/worker.js").write_text(cls.WORKER.replace("TRACE", trace))
        pair = {"pair": "de-en", "source": "de", "target": "en", "task": "translation", "precisions": ["int8"]}
        models = [{"id": "de-en", "type": "marian", **pair}, {"id": "rnn", "type": "heed_rnn", **pair},
                  {"id": "en-es", "type": "marian", **pair, "pair": "en-es", "source": "en", "target": "es"}]
        (site / "models").mkdir()
        (site / "models/models.json").write_text(json.dumps({"object": "list", "data": models}))
        cls.files = StaticFiles(site)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.files.close()
        cls.folder.cleanup()

    def show(self, **state):
        self.browser.open("about:blank")
        self.browser.open(self.files.url + "?" + urllib.parse.urlencode(state))
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")

    def tearDown(self):
        self.assertEqual(self.browser.console(), [])

    def test_commands_name_the_model(self):
        for chosen, words in [({"model": "rnn"}, "--model models/rnn "), ({"pair": "en-es"}, "--pair en-es "), ({"model": "en-es"}, "--pair en-es "),
                              ({"pair": "de-en"}, ""), ({"model": "de-en"}, "")]:
            self.show(text=SHORT, **chosen)
            self.browser.wait("document.querySelector('.command code').textContent.includes('--precision')", "the command")
            command = self.browser.run("return document.querySelector('.command code').textContent")
            self.assertTrue(command.startswith(f"heed attend 'Der Hund schläft.' {words}--precision int8 "), command)

    def test_a_model_whose_files_cannot_be_read(self):
        failing = "Promise.reject(new DOMException('The file could not be read', 'NotReadableError'))"
        entry = f"{{isFile: true, fullPath: '/own/config.json', file: (_, fail) => {failing}.catch(fail)}}"
        for broken in [f"Blob.prototype.arrayBuffer = () => {failing}", f"DataTransferItem.prototype.webkitGetAsEntry = () => ({entry})"]:
            self.show(pair="de-en", text=SHORT)
            self.browser.run(broken + """;
                const dropped = new DataTransfer();
                dropped.items.add(new File(['{}'], 'own'));
                document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: dropped, bubbles: true, cancelable: true}));""")
            self.browser.wait("document.querySelector('.status.failed')?.textContent === 'own cannot be opened: The file could not be read'", "why")


class Modules(OfServer):
    """Functions of the page's modules, which `--web` serves one by one."""

    @classmethod
    def models(cls):
        return ["--pair", "de-en", "--web", str(MODELS.parent / "web")]

    def test_each_head_has_a_colour_of_its_own(self):
        for dark in (False, True):
            self.browser.resize(1280, 900, dark)
            self.show(pair="de-en", text=SHORT)
            colours = self.browser.run("return import('/picture/colours.js').then(({headColour, readColours}) => "
                                       "Array.from({length: 33}, (_, head) => headColour(readColours(), head)))")
            self.assertEqual(len(set(colours)), 33)
        self.browser.resize(1280, 900)


class Served(OfServer):
    CHECKPOINTS = ["step-100", "step-500", "step-5000"]
    MODEL_NAMES = ["German → English", "English → Spanish", "German → English (rnn)",
                   *(f"German → English ({name})" for name in ["step-100", "step-500", "step-5000"]),
                   "German → Spanish, through English"]
    OTHER_PRECISION = "int8"
    EFFECT_DELTA = 0.002
    PRECISION = []

    @classmethod
    def models(cls):
        paths = [MODELS / "rnn", *(MODELS / "checkpoints" / name for name in cls.CHECKPOINTS)]
        return ["--pair", "de-en", "--pair", "en-es", *(word for path in paths for word in ["--model", str(path)])]

    def test_an_address_shows_its_sentence(self):
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        expected = subprocess.run([HEED, "translate", SHORT, "--quiet", *self.PRECISION], check=True, capture_output=True, text=True).stdout
        self.assertEqual(self.translation(), expected.strip())
        for view in ["lines", "heads", "head"]:
            self.browser.click(f"#tab-{view}")
            self.assertGreater(self.browser.run(PAINTED), 8, view)

    def test_starts_with_an_example(self):
        self.show()
        self.browser.wait("document.querySelector('#translation').textContent", "a translation")
        self.assertEqual(self.browser.run("return document.querySelector('#source').value"), SHORT)
        self.browser.press("D", "a")  # replaces the example
        self.assertEqual(self.browser.run("return document.querySelector('#source').value"), "Da")
        self.show(pair="en-es")
        self.browser.wait("document.querySelector('#translation').textContent", "a translation")
        self.assertEqual(self.browser.run("return document.querySelector('#source').value"), "The dog is sleeping.")
        self.browser.run("const box = document.querySelector('.top select'); box.value = 'pair:de-en'; box.dispatchEvent(new Event('change'))")
        self.browser.wait(f"document.querySelector('#source').value === {json.dumps(SHORT)}", "an example in the other language")

    def test_the_picture_begins_on_the_first_screen_of_a_phone(self):
        self.browser.resize(360, 740)
        for view in ["lines", "heads", "head", "query", "layers", "why", "patch", "search", "compare"]:
            self.show(pair="de-en", text=SHORT, view=view)
            self.browser.wait("document.querySelector('#panel canvas, #panel table')?.getBoundingClientRect().height > 0", view)
            top = self.browser.run("return document.querySelector('#panel canvas, #panel table').getBoundingClientRect().top")
            self.assertLess(top, 740 - 80, view)
            self.picture(f"phone-{view}")
            self.browser.resize(360, 740)
        self.browser.resize(1280, 900)

    def test_compare_begins_with_an_example(self):
        self.show(pair="de-en", text=SHORT, view="compare")
        self.browser.wait("/Log-probability|position|different numbers/.test(document.querySelector('#panel .note-line')?.textContent)", "a comparison")
        self.assertEqual(self.browser.run("return document.querySelector('#panel input').value"), "Die Katze schläft.")
        self.picture("compare")

    def test_first_view_takes_few_requests(self):
        self.show(text=SHORT)
        self.browser.wait("performance.getEntriesByName('first view').length && /pair=/.test(location.href)", "the first view")
        paths = [urllib.parse.urlparse(url).path for url in
                 self.browser.run("return performance.getEntriesByType('resource').map((each) => each.name)")]
        # Chromium may fetch the icon once more when the address changes.
        self.assertLessEqual(len(set(paths)), 5, paths)
        self.assertEqual(paths.count("/v1/attend"), 1, "the address names no model, and the server's first is asked once")

    def test_the_second_part_of_the_tour(self):
        self.show(pair="de-en", tour=1)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.browser.run("[...document.querySelectorAll('.tour .choice button')].find((each) => each.textContent === 'The whole model').click()")
        views = ["model", "layers", "model", "patch", "model", "layers", "head", "why"]
        shown = {"patch": "/after the other one/.test(document.querySelector('#panel .sum').textContent)", "model": "document.querySelector('.vectors')",
                 "why": "/The shares sum to/.test(document.querySelector('#panel .sum').textContent)"}
        titles = set()
        for n, view in enumerate(views, 1):
            self.assertEqual(self.state()["tour"], str(8 + n))
            self.browser.wait(f"document.querySelector('#tab-{view}').ariaSelected === 'true'", view)
            self.browser.wait(shown.get(view, "document.querySelector('#panel .overlay')?.getAttribute('aria-label')"), f"step {n}: {view}")
            self.assertIn(f"{n} of 8", self.browser.run("return document.querySelector('.tour').textContent"))
            titles.add(self.browser.run("return document.querySelector('.tour h2').textContent"))
            self.assertEqual(self.browser.run("return document.activeElement.id"), "tour-title")
            self.assertEqual(self.browser.run(CHECK_ACCESS), [])
            if view == "model":  # what it is about is below the text, and both are on the screen
                top, below, bottom = self.browser.run(
                    "const box = [...document.querySelectorAll('.fold[open]')].pop().getBoundingClientRect();"
                    "const tour = document.querySelector('.tour').getBoundingClientRect();"
                    "return [tour.top, box.top - tour.bottom, innerHeight - box.bottom]")
                self.assertGreaterEqual(min(top, below, bottom), -1, f"step {n}")
            # What a step shows is what an address with only its number shows.
            self.assertLessEqual(set(self.state()) - {"tour", "pair", "model", "text"}, set(), view)
            self.picture(f"tour-{8 + n}")
            self.browser.click(".tour .primary")
        self.assertEqual(len(titles), 8)
        self.assertTrue(self.browser.run("return document.querySelector('.tour').hidden"))
        self.assertEqual(self.state()["pair"], "de-en")

    def test_a_step_of_the_tour_shows_three_checkpoints(self):
        self.show(tour=15)
        for n, name in enumerate(self.CHECKPOINTS):
            self.browser.run(f"document.querySelectorAll('.checkpoints button')[{n}].click()")
            sentence = "Der Hund hat gut geschlafen."
            expected = subprocess.run([HEED, "translate", sentence, "--quiet", "--model", str(MODELS / "checkpoints" / name)], check=True, capture_output=True, text=True).stdout
            self.browser.wait(f"/model={name}/.test(location.href) && document.querySelector('#translation').textContent === {json.dumps(expected.strip())}", name)
            self.assertEqual(self.browser.run("return document.querySelector('.checkpoints [aria-checked=true]').textContent.replace(',', '')"), name.split("-")[1])
        self.assertEqual(self.browser.run(CHECK_ACCESS), [])
        # A sentence in another language makes way for one that these models read.
        self.show(pair="en-es", text="The dog sleeps.", tour=14)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.browser.click(".tour .primary")
        self.browser.wait("document.querySelector('#source').value === 'Der Hund hat gut geschlafen.' && /model=step-100/.test(location.href)", "a German sentence")

    def test_a_step_of_the_tour_shows_the_rnn(self):
        self.show(tour=8)
        self.browser.wait("/model=rnn/.test(location.href) && /slept/.test(document.querySelector('#translation').textContent)", "the RNN's translation")
        self.assertIn("this one", self.browser.run("return document.querySelector('.tour').textContent"))
        self.assertEqual(self.browser.run("return document.querySelector('.top .field span').textContent"), "Model")
        names = self.browser.run("return [...document.querySelector('.top select').options].map((each) => each.textContent)")
        self.assertEqual(names, self.MODEL_NAMES)

    def test_translates_while_one_types(self):
        self.show(pair="de-en")
        self.browser.wait("document.activeElement && document.querySelector('#source')", "the page")
        self.browser.click("#source")
        self.browser.press("Control+a")
        for letter in "Die Katze":
            self.browser.press(" " if letter == " " else letter)
        self.browser.wait("/cat/i.test(document.querySelector('#translation').textContent)", "the translation")
        self.assertIn("text=Die+Katze", self.browser.run("return location.href"))

    def test_what_the_translation_says_otherwise(self):
        warnings = "return [...document.querySelectorAll('#warnings:not([hidden]) li')].map((each) => each.textContent)"
        self.show(pair="de-en", text="Wir haben 7 Hunde.", target="We have 8 dogs.")
        self.browser.wait("document.querySelector('#warnings li')", "the warnings")
        self.assertEqual(self.browser.run(warnings), ['Check this: the translation lacks "7"', 'Check this: the source does not say "8"'])
        look = "const of = document.querySelector('#translation'); return [of.getAttribute('aria-describedby'), getComputedStyle(of).textDecorationLine]"
        self.assertEqual(self.browser.run(look), ["warnings", "underline"])
        self.show(pair="de-en", text="Wir haben 7 Hunde.", target="We have 7 dogs.")
        self.browser.wait("document.querySelector('#translation').textContent.includes('7')", "the other translation")
        self.assertEqual(self.browser.run(warnings), [])
        self.assertEqual(self.browser.run(look), [None, "none"])

    def test_words_that_the_model_is_unsure_of(self):
        sentence = "Der Bundestagsabgeordnete kritisierte die Haushaltspolitik."
        self.show(pair="de-en", text=sentence)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        found = self.command_json("translate", sentence, "--confidence")
        unsure = [(word, confidence) for word, confidence in zip(found["translation"].split(), found["word_confidence"], strict=True) if confidence < 0.5]
        self.assertGreater(len(unsure), 1)
        self.assertEqual(self.translation(), found["translation"])
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('#translation .unsure')].map((each) => each.textContent)"), [word for word, _ in unsure])
        line = "return document.querySelector('#confidence').textContent"
        self.assertIn(f"unsure of {len(unsure)} underlined words", self.browser.run(line))
        self.browser.run("document.querySelector('#translation .unsure').focus()")
        word, confidence = unsure[0]
        shown = re.match(rf"“{re.escape(word)}”: (\d+) % ", self.browser.run(line))
        self.assertAlmostEqual(int(shown[1]), 100 * confidence, delta=1)  # its kernels may be others than the command's
        self.assertEqual(self.browser.run(CHECK_ACCESS), [])
        self.picture("unsure")
        # The switch, which the address remembers.
        self.browser.run("const box = [...document.querySelectorAll('.settings select')].find((each) => each.value === ''  && [...each.options].some((option) => option.value === 'plain'));"
                         "box.value = 'plain'; box.dispatchEvent(new Event('change'))")
        self.browser.wait("/unsure=plain/.test(location.href) && !document.querySelector('.unsure')", "no underlined words")
        self.assertFalse(self.browser.run("return document.querySelector('#confidence').checkVisibility()"))
        self.assertEqual(self.translation(), found["translation"])
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.assertFalse(self.browser.run("return document.querySelector('#confidence').checkVisibility()"))

    def test_an_error_takes_the_last_translation_away(self):
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.browser.run("const box = document.querySelector('#source'); box.value = 'x'.repeat(3000); box.dispatchEvent(new Event('input'))")
        self.browser.wait("/^The text has \\d+ tokens, and this page shows the attention of up to 256/.test(document.querySelector('.status.failed')?.textContent)", "the error")
        self.assertEqual(self.translation(), "")
        self.assertTrue(self.browser.run("return document.querySelector('main').classList.contains('empty')"))
        self.assertTrue(all("400" in message for message in self.browser.console()))

    def test_without_a_text_there_is_no_translation(self):
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        # The answer to the first of these texts comes when there is none any more.
        self.browser.run("const box = document.querySelector('#source');"
                         "for (const text of [arguments[0], '']) { box.value = text; box.dispatchEvent(new Event('input')); }", LONG)
        time.sleep(1.5)
        self.assertEqual(self.translation(), "")
        self.assertFalse(self.browser.run("return document.querySelector('main').classList.contains('waiting')"))

    def test_one_query_with_the_server(self):
        self.show(pair="de-en", text=SHORT, view="query", token="t2", layer=2, head=5)
        self.browser.wait("document.querySelectorAll('table.steps tbody tr').length === 5", "five keys")

    def test_search_tree(self):
        self.show(pair="de-en", text=SHORT, view="search")
        self.browser.wait("document.querySelector('.finished li')", "the tree")
        self.assertIn(self.translation(), self.browser.run("return document.querySelector('.finished').textContent"))
        self.assertGreater(self.browser.run(PAINTED), 8)
        # Narrower boxes where all steps then fit in the page.
        cut_off = "document.querySelector('#panel .frame').scrollWidth > document.querySelector('#panel .frame').clientWidth + 1"
        self.browser.resize(960, 900)
        self.browser.wait(f"!({cut_off})", "a tree that fits")
        self.browser.resize(360, 740)
        self.browser.wait(f"{cut_off} && document.querySelector('#panel .frame.more-right')", "a fading edge")
        self.browser.resize(1280, 900)
        # The tree is drawn again for the new width, which takes the focus away.
        self.browser.wait(f"!({cut_off}) && !document.querySelector('#panel .frame.more-right')", "a tree that fits again")
        self.browser.run("document.querySelector('#panel .overlay').focus()")
        self.browser.press("ArrowRight", "ArrowDown", "ArrowDown", "Enter")
        self.browser.wait("/prefix=/.test(location.href)", "a branch that is continued")

    def test_search_with_heads_off_and_beside_a_target(self):
        self.require_ablation()
        self.show(pair="de-en", text=SHORT, view="search", off=",".join(f"cross:2:{head}" for head in range(1, 9)))
        self.browser.wait("document.querySelector('.finished li')", "the tree")
        self.assertEqual(self.browser.run("return document.querySelector('.finished li').firstChild.textContent"), self.translation())
        self.show(pair="de-en", text=SHORT, view="search")
        self.browser.wait("document.querySelector('.finished li')", "the tree")
        own = self.browser.run("return document.querySelector('.finished li').firstChild.textContent")
        self.show(pair="de-en", text=SHORT, view="search", target="It's a cat.")
        self.browser.wait("document.querySelector('.finished li')", "the tree")
        self.assertEqual(self.browser.run("return document.querySelector('.finished li').firstChild.textContent"), own)
        self.assertIn("written by hand", self.browser.run("return document.querySelector('#panel').textContent"))

    def require_ablation(self):
        body = json.dumps({"text": SHORT, "pair": "de-en", "ablate": [{"stack": "cross", "layer": 2, "head": 1}]}).encode()
        request = urllib.request.Request(self.url + "v1/attend", body, {"Content-Type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=PATIENCE).close()
        except urllib.error.HTTPError as error:
            self.assertEqual(error.code, 501)
            error.close()
            self.skipTest("this server cannot switch heads off")

    def test_heads_are_switched_off(self):
        self.require_ablation()
        self.show(pair="de-en", text=SHORT, view="change")
        self.browser.wait("document.querySelector('.versus .translation')", "the original")
        before = self.translation()
        row = 8  # cross-attention, layer 2
        for head in range(8):
            # Not by the pointer: the page moves when another translation arrives.
            self.browser.run(f"document.querySelectorAll('.head-row')[{row - 1}].querySelectorAll('.head-switch')[{head}].click()")
            self.browser.wait(f"document.querySelectorAll('.head-switch[aria-pressed=true]').length === {head + 1}",
                              f"head {head + 1} off")
        # Until the answer to the last click is there.
        self.browser.wait("/--ablate cross:2:8/.test(document.querySelector('.command code').textContent)", "the trace without eight heads")
        self.browser.wait(f"document.querySelector('#translation').textContent !== {json.dumps(before)}", "another translation")
        self.browser.wait("parseFloat(document.querySelector('.difference')?.textContent.split(': ')[1]) < -1", "the difference")
        self.browser.wait("document.querySelectorAll('.versus mark').length > 0", "marked changes")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.head-switch[aria-pressed=true]').length"), 8)
        self.browser.call("POST", "/back", {})
        self.browser.wait("document.querySelectorAll('.head-switch[aria-pressed=true]').length === 7", "back to seven heads")

    def test_heads_are_scaled_and_all_others_switched_off(self):
        self.require_ablation()
        self.show(pair="de-en", text=SHORT, view="change")
        self.browser.wait("document.querySelector('.versus .translation')", "the original")
        self.browser.run("document.querySelector('.change input[type=number]').value = '2'; document.querySelector('.head-switch').click()")
        self.browser.wait("document.querySelector('.head-switch.scaled')?.textContent === '×2'", "a scaled head")
        self.assertEqual(self.state()["off"], "encoder:1:1:2")
        self.browser.wait("document.querySelector('.difference')", "the difference")
        self.show(pair="de-en", text=SHORT, view="change")
        self.browser.wait("document.querySelector('.versus .translation')", "the original")
        self.browser.run("[...document.querySelectorAll('#panel button')].find((each) => each.textContent === 'the others of its layer').click();"
                         "document.querySelectorAll('.head-row')[7].querySelectorAll('.head-switch')[4].click()")
        self.browser.wait("document.querySelectorAll('.head-switch[aria-pressed=true]').length === 7", "seven heads off")
        self.assertEqual(self.state()["off"], ",".join(f"cross:2:{head}" for head in [1, 2, 3, 4, 6, 7, 8]))
        self.browser.wait("document.querySelector('.difference')", "the difference")

    def test_which_heads_matter(self):
        self.require_ablation()
        self.show(pair="de-en", text=SHORT, view="change")
        self.browser.wait("document.querySelector('.versus .translation')", "the original")
        self.browser.run("[...document.querySelectorAll('#panel button')].find((each) => each.textContent.startsWith('Switch each')).click()")
        self.browser.wait("document.querySelectorAll('.change-heads table tbody tr').length === 12", "the twelve worst losses")
        losses = self.browser.run("return [...document.querySelectorAll('.change-heads table td')].map((each) => Number(each.textContent))")
        self.assertEqual(losses, sorted(losses))
        self.assertLess(losses[0], -0.05)

    def test_words_are_demanded_and_forbidden(self):
        self.show(pair="de-en", text=SHORT, view="change", require="here", forbid="sleeping,dog")
        self.browser.wait("document.querySelectorAll('.versus .translation').length === 2", "both translations")
        changed = self.translation().lower()
        self.assertIn("here", changed)
        self.assertNotIn("sleeping", changed)
        self.assertNotIn("dog", re.findall(r"\w+", changed))
        self.assertRegex(self.browser.run("return document.querySelector('.command code').textContent"),
                         r"--require here --forbid sleeping --forbid dog ")
        # A click on a word of the original forbids it.
        self.show(pair="de-en", text=SHORT, view="change")
        self.browser.wait("document.querySelector('.word-switch')", "the words of the original")
        self.assertIn("dog", self.translation())
        self.browser.run("[...document.querySelectorAll('.word-switch')].find((each) => each.textContent === 'dog').click()")
        self.browser.wait("!document.querySelector('#translation').textContent.includes('dog')", "a translation without the word")
        self.assertIn("forbid=dog*", self.browser.run("return location.href"))

    def test_pdf_is_drawn_by_the_library(self):
        self.show(pair="de-en", text=SHORT, view="head", layer=2, head=5)
        self.browser.wait("document.querySelector('#panel canvas')", "the picture")
        self.browser.click(".export button:nth-of-type(3)")
        path = pathlib.Path(self.folder.name) / "attention-cross-2-5.pdf"
        wait_until(lambda: path.exists() and path.stat().st_size > 0, "the PDF is saved")
        self.assertTrue(path.read_bytes().startswith(b"%PDF"))

    def layers(self, shown, text=SHORT, **more):
        """The rows of the table of the layers, and what /v1/lens says of the same."""
        self.show(pair="de-en", text=text, view="layers", show=shown, **more)
        self.browser.wait("document.querySelector('#panel .overlay')?.getAttribute('aria-label')", "the layers")
        self.browser.run("document.querySelector('details.numbers').open = true")
        self.browser.wait("document.querySelector('details.numbers td')", "the table")
        return self.browser.run("return [...document.querySelectorAll('details.numbers tbody tr')]"
                                ".map((row) => [...row.children].map((cell) => cell.textContent))")

    def command_json(self, *arguments):
        return json.loads(subprocess.run([HEED, *arguments, *self.PRECISION, "--json", "--quiet"], check=True, capture_output=True, text=True).stdout)

    def test_layers(self):
        rows = self.layers("predictions", token="t2")
        lens = self.command_json("lens", SHORT)
        states, tokens = lens["states"]["decoder"], len(lens["tokens"]["decoder"])
        self.assertEqual(len(rows), len(states) * tokens)
        for n, row in enumerate(rows):
            state, position = states[n // tokens], n % tokens
            self.assertAlmostEqual(float(row[2]), state["norms"][position], delta=0.006 * state["norms"][position])
            self.assertAlmostEqual(float(row[5]), state["expected"][position], delta=0.0006)
        self.assertEqual(rows[0][0], "embedding")
        self.assertEqual(rows[tokens][0], "1 self-attention")
        self.assertGreater(self.browser.run(PAINTED), 8)
        self.assertEqual(self.browser.run("return document.querySelectorAll('.way tbody tr').length"), len(states))
        self.assertIn("after which “dog” is expected", self.browser.run("return document.querySelector('.way caption').textContent"))
        self.assertEqual(self.browser.run(CHECK_ACCESS), [])
        self.picture("layers")
        # By keyboard: from the first vector to the third token's after the first sub-layer.
        self.show(pair="de-en", text=SHORT, view="layers")
        self.browser.wait("document.querySelector('#panel .overlay')?.getAttribute('aria-label')", "the layers")
        self.browser.run("document.querySelector('#panel .overlay').focus()")
        self.browser.press("ArrowRight", "ArrowRight", "ArrowDown")
        self.browser.wait("/^“dog”, 1 self-attention: .* norm .*, added /.test(document.querySelector('.reading').textContent)", "the reading of a vector")
        self.browser.press("Enter")
        self.browser.wait("/token=t3/.test(location.href) && document.querySelector('.way caption')", "the way of the token")

    def test_layers_of_the_encoder_are_norms(self):
        rows = self.layers("added", stack="encoder")
        lens = self.command_json("lens", SHORT)
        states, tokens = lens["states"]["encoder"], len(lens["tokens"]["encoder"])
        self.assertEqual([row[3] for row in rows[:tokens]], tokens * [""])
        for row, added in zip(rows[tokens:], states[1]["added_norms"]):
            self.assertAlmostEqual(float(row[3]), added, delta=0.006 * added)
        disabled = "return [...document.querySelectorAll('#panel [role=radio]:disabled')].map((each) => each.textContent)"
        self.assertEqual(self.browser.run(disabled), ["Likeliest token", "Expected token"])
        # Another stack and other numbers are asked for once.
        self.browser.run("[...document.querySelectorAll('#panel [role=radio]')].find((each) => each.textContent === 'Norm').click()")
        self.browser.wait("/Euclidean/.test(document.querySelector('.lead').textContent)", "norms")
        self.assertEqual(self.state()["show"], "norms")
        self.assertLessEqual(len([url for url in self.browser.requests() if url.endswith("/v1/lens")]), 1)

    def test_layers_of_another_translation_and_to_take_away(self):
        self.show(pair="de-en", text=SHORT, view="layers", target="The dog sleeps.", show="norms")
        self.browser.wait("document.querySelector('#panel .overlay')?.getAttribute('aria-label')", "the layers")
        command = self.browser.run("return document.querySelector('.command code').textContent")
        self.assertRegex(command, r"^heed lens 'Der Hund schläft.' .*--target 'The dog sleeps.' --stack decoder --show norms --output layers-decoder.svg$")
        buttons = {name: f".export button:nth-of-type({n})" for n, name in enumerate(["SVG", "PNG", "PDF", "JSON", "CSV"], 1)}
        for name in ["JSON", "CSV", "SVG", "PNG"]:
            self.browser.click(buttons[name])
        lens = json.loads(self.saved("layers-decoder.json"))
        self.assertEqual(lens["tokens"]["decoder"][1:4], ["▁The", "▁dog", "▁sleep"])
        rows = list(csv.DictReader(io.StringIO(self.saved("layers-decoder.csv").decode())))
        self.assertEqual(len(rows), sum(len(lens["states"][stack]) * len(lens["tokens"][stack]) for stack in ["encoder", "decoder"]))
        self.assertAlmostEqual(float(rows[-1]["norm"]), lens["states"]["decoder"][-1]["norms"][-1], places=5)
        self.assertIn("<svg", self.saved("layers-decoder.svg").decode())
        self.assertTrue(self.saved("layers-decoder.png").startswith(b"\x89PNG"))
        self.browser.click(buttons["PDF"])
        self.browser.wait("/--output layers-decoder.pdf$/.test(document.querySelector('.command code').textContent)", "the command for the PDF")

    def test_layers_of_the_rnn(self):
        self.show(model="rnn", text=SHORT, view="layers")
        self.browser.wait("/the last vectors only/.test(document.querySelector('#panel .note-line')?.textContent)", "why there are few")
        self.assertGreater(self.browser.run(PAINTED), 4)

    def show_why(self, text=SHORT, **more):
        """The values of the table of Why, by part and token."""
        self.show(pair="de-en", text=text, view="why", **more)
        self.browser.wait("/sum to/.test(document.querySelector('#panel .sum')?.textContent)", "the sum")
        return self.why_table()

    def why_table(self):
        self.browser.run("document.querySelector('details.numbers').open = true")
        self.browser.wait("document.querySelector('details.numbers td')", "the table")
        rows = self.browser.run("return [...document.querySelectorAll('details.numbers tbody tr')]"
                                ".map((row) => [...row.children].map((cell) => cell.textContent))")
        return [float(value) for _, _, value in rows]

    def test_why_by_each_method(self):
        for method, sum_says in [("gradient", "in particular"), ("leave-out", "in particular"), ("rollout", "the rest is the start token's"), ("integrated", "they should sum to")]:
            values = self.show_why(method=method, token="t2")
            expected = self.command_json("attribute", SHORT, "--method", method, "--token", "2")
            # Sums of the module are in another order than the command's. Where that divides another interval of the path,
            # integrated gradients differ by as much as the error of the quadrature.
            share = 0.03 if SITE and method == "integrated" else 0
            delta = 0.002 + share * sum(abs(each) for each in expected["attributions"][0])
            for value, right in zip(values, expected["attributions"][0], strict=True):
                self.assertAlmostEqual(value, right, delta=delta + 0.01 * abs(right), msg=method)
            says = self.browser.run("return document.querySelector('#panel .sum').textContent")
            self.assertIn(sum_says, says)
            shown = float(re.search(r"sum to (−?[\d.]+\d)", says).group(1).replace("−", "-"))
            self.assertAlmostEqual(shown, expected["sum"][0], delta=0.002 + 0.01 * abs(expected["sum"][0]), msg=method)
            self.assertEqual("ln P(“dog”)" in says, method != "rollout")
        self.assertGreater(self.browser.run(PAINTED), 8)
        self.assertEqual(self.browser.run(CHECK_ACCESS), [])
        self.picture("why")

    def test_why_not_another_token(self):
        self.show_why(method="gradient")  # of the last word
        self.assertIn("ln P(“sleeping”)", self.browser.run("return document.querySelector('#panel .sum').textContent"))
        self.browser.wait("document.querySelectorAll('.alternatives button').length > 2", "the alternatives")
        other = self.browser.run("const button = document.querySelectorAll('.alternatives button')[1]; button.click();"
                                 "return button.textContent.replace(/ <? ?[\\d.]+ %$/, '')")
        self.browser.wait(f"document.querySelector('#panel .sum').textContent.includes({json.dumps(f'ln P(“sleeping”) − ln P(“{other}”)')})", "the contrast")
        expected = self.command_json("attribute", SHORT, "--method", "gradient", "--token", "4", "--instead", self.state()["instead"])
        for value, right in zip(self.why_table(), expected["attributions"][0], strict=True):
            self.assertAlmostEqual(value, right, delta=0.002 + 0.01 * abs(right))
        # Typed, as a text; and what is no token.
        typed = "const box = document.querySelector('#panel input'); box.value = arguments[0]; box.dispatchEvent(new Event('change'))"
        self.browser.run(typed, "cat")
        self.browser.wait("document.querySelector('#panel .sum').textContent.includes('ln P(“cat”)')", "a token that was typed")
        self.browser.run(typed, "sleepily sleeping")
        self.browser.wait("/is not one token/.test(document.querySelector('#panel').textContent)", "that it is no token")
        self.assertTrue(all("400" in message for message in self.browser.console()))

    def test_why_by_keyboard(self):
        self.show_why(method="gradient")
        self.browser.run("document.querySelector('#panel .overlay').focus()")
        self.browser.press("ArrowRight")
        self.browser.wait("/^“Hund” (raises|lowers) ln P/.test(document.querySelector('.reading').textContent)", "what a token contributes")
        self.browser.press("ArrowDown", "Enter")
        self.browser.wait("/token=t[12]/.test(location.href) && /ln P\\(“(The|dog)”/.test(document.querySelector('#panel .sum').textContent)", "another token")
        # A click on a token of the translation explains it, too.
        self.browser.run("document.querySelectorAll('.tokens')[1].children[2].click()")
        self.browser.wait("/ln P\\(“is”/.test(document.querySelector('#panel .sum').textContent)", "the clicked token")
        self.assertIn("--method gradient --token 3 ", self.browser.run("return document.querySelector('.command code').textContent"))
        self.browser.click(".export button:nth-of-type(5)")
        rows = list(csv.DictReader(io.StringIO(self.saved("why-gradient-3.csv").decode())))
        self.assertEqual([row["side"] for row in rows], 5 * ["source"] + 2 * ["target"])

    def show_patch(self, text=SHORT, **more):
        """The rows of the table of Patch."""
        self.show(**{"pair": "de-en", "text": text, "view": "patch", **more})
        self.browser.wait("/after the other one/.test(document.querySelector('#panel .sum')?.textContent)", "the difference")
        return patch_table(self.browser)

    def test_patch_of_each_part(self):
        other = "Die Katze schläft."  # what the example is compared with
        for part, name in [("heads", "Cross layer 2, head 3"), ("layers", "Cross layer 2, cross-attention"), ("positions", "“Hund” after Encoder layer 6")]:
            rows = self.show_patch(part=part)
            self.assertEqual(self.browser.run("return document.querySelector('#beside').value"), other)
            found = self.command_json("patch", SHORT, other, "--what", part)
            expected = [effect for stack in ["encoder", "cross", "decoder"] for row in found["effects"][stack] for effect in row]
            for (where, shown), effect in zip(rows, expected, strict=True):
                self.assertAlmostEqual(float(shown or "nan"), effect, delta=self.EFFECT_DELTA, msg=(part, where))
            self.assertIn(name.replace("Cross layer 2, cross", "Decoder layer 2, cross"), [row[0] for row in rows])
            says = self.browser.run("return document.querySelector('#panel .sum').textContent").replace("−", "-")
            self.assertIn(f"= {found['clean']:.2f} after the sentence, {found['corrupted']:.2f} after the other one", says)
            best, (where, _) = max((effect, row) for effect, row in zip(expected, rows) if not row[0].endswith("all of it"))
            self.assertIn(f"{where} brings back the most: {best:.2f}", says)
            self.assertGreater(self.browser.run(PAINTED), 8)
            self.assertEqual(self.browser.run(CHECK_ACCESS), [])
            self.picture(f"patch-{part}")

    def test_patch_of_a_sentence_that_is_typed(self):
        self.show(pair="de-en", text="Ich habe kein Buch.", view="patch")
        self.browser.wait("/Change a word/.test(document.querySelector('#panel').textContent)", "what to do")
        self.assertEqual(self.browser.run("return document.querySelector('#beside').value"), "Ich habe kein Buch.")
        self.assertFalse(self.browser.run("return document.querySelector('#panel canvas').checkVisibility()"))
        self.browser.run("const box = document.querySelector('#beside'); box.value = 'Ich habe ein Buch.'; box.dispatchEvent(new Event('input'))")
        self.browser.wait("/head 7 brings back the most/.test(document.querySelector('#panel .sum').textContent)", "the head of the negation")
        self.assertEqual(self.state()["beside"], "Ich habe ein Buch.")
        # An empty field stays empty for who types another sentence, and has one again without the focus.
        self.browser.run("const box = document.querySelector('#beside'); box.focus(); box.value = ''; box.dispatchEvent(new Event('input'))")
        self.browser.wait("!/beside=/.test(location.href)", "the address without the other sentence")
        self.assertEqual(self.browser.run("return document.querySelector('#beside').value"), "")
        self.browser.run("document.querySelector('#beside').blur()")
        self.assertEqual(self.browser.run("return document.querySelector('#beside').value"), "Ich habe kein Buch.")
        # Another sentence has another one beside it.
        self.browser.run("const box = document.querySelector('#source'); box.value = 'Ich habe kein Haus.'; box.dispatchEvent(new Event('input'))")
        self.browser.wait("document.querySelector('#beside').value === 'Ich habe kein Haus.' && /Change a word/.test(document.querySelector('#panel').textContent)", "a copy of the new sentence")
        # What the route says against it: texts that are the same, but for white space.
        self.browser.run("const box = document.querySelector('#beside'); box.value = 'Ich  habe kein Haus.'; box.dispatchEvent(new Event('change'))")
        self.browser.wait("/both texts have the same tokens/.test(document.querySelector('#panel').textContent)", "the error")
        self.assertTrue(all("400" in message for message in self.browser.console()))

    def test_patch_watches_a_word(self):
        self.show_patch(token="t2", instead="▁cat")
        self.assertIn("ln P(“dog”) − ln P(“cat”) =", self.browser.run("return document.querySelector('#panel .sum').textContent"))
        self.assertRegex(self.browser.run("return document.querySelector('.command code').textContent"),
                         r"^heed patch 'Der Hund schläft.' 'Die Katze schläft.' .*--what heads --token 2 --instead .*cat'? --output patch-heads-2.svg$")
        buttons = {name: f".export button:nth-of-type({n})" for n, name in enumerate(["SVG", "PNG", "PDF", "JSON", "CSV"], 1)}
        for name in ["JSON", "CSV", "SVG", "PNG"]:
            self.browser.click(buttons[name])
        found = json.loads(self.saved("patch-heads-2.json"))
        self.assertEqual((found["tokens"], found["instead"]), ([2], "▁cat"))
        rows = list(csv.DictReader(io.StringIO(self.saved("patch-heads-2.csv").decode())))
        self.assertEqual(len(rows), 96)
        self.assertAlmostEqual(float(rows[-1]["effect"]), found["effects"]["decoder"][-1][-1], places=5)
        self.assertIn("<svg", self.saved("patch-heads-2.svg").decode())
        self.assertTrue(self.saved("patch-heads-2.png").startswith(b"\x89PNG"))
        self.browser.run("const box = document.querySelector('#panel select'); box.value = ''; box.dispatchEvent(new Event('change'))")
        self.browser.wait("/^ln P\\(“The dog/.test(document.querySelector('#panel .sum').textContent)", "the whole translation")
        self.assertNotIn("token", self.state())

    def test_patch_by_keyboard(self):
        self.show_patch()
        self.browser.run("document.querySelector('#panel .overlay').focus()")
        self.browser.press("ArrowRight", "ArrowRight", "ArrowDown")
        self.browser.wait("/^Encoder layer 2, head 2 /.test(document.querySelector('.reading').textContent)", "what a head brings back")
        self.browser.press("Enter")
        self.browser.wait("/view=head&/.test(location.href) && document.querySelector('#tab-head').ariaSelected === 'true'", "the attention of the head")
        self.assertEqual({name: self.state()[name] for name in ["stack", "layer", "head"]}, {"stack": "encoder", "layer": "2", "head": "2"})
        self.browser.call("POST", "/back", {})
        # A token that is marked elsewhere, and one without a counterpart.
        self.show_patch(beside="Der Hund schläft nicht.", part="positions", token="s2")
        self.assertIn("different numbers of tokens", self.browser.run("return document.querySelector('#panel .sum').textContent"))
        overlay = PIXELS.replace("SELECTOR", "#panel .overlay") + "return data.some((part) => part > 0);"
        self.browser.wait(f"(() => {{{overlay}}})()", "the marked token")

    def test_patch_of_the_rnn(self):
        self.show_patch(pair="", model="rnn")
        disabled = "return [...document.querySelectorAll('#panel [role=radio]:disabled')].map((each) => each.textContent)"
        self.assertEqual(self.browser.run(disabled), ["Heads"])
        self.assertIn("recurrence", self.browser.run("return document.querySelector('details.numbers').textContent"))

    def test_a_newer_question_drops_an_older_one(self):
        """The page goes on without an answer that takes long: here one that never comes."""
        self.show(pair="de-en", text=LONG)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.browser.run(WITHHOLD_INTEGRATED_GRADIENTS)
        self.browser.click("#tab-why")
        self.browser.wait("document.querySelector('#panel progress')?.checkVisibility()", "that it is computing")
        self.browser.wait("withheld.length === 1", "the question, before which the worker of a site reads the model")
        self.browser.run("[...document.querySelectorAll('#panel [role=radio]')].find((each) => /rollout/.test(each.textContent)).click()")
        self.browser.wait("/the rest is the start token's/.test(document.querySelector('#panel .sum').textContent)", "the rollout")
        self.assertFalse(self.browser.run("return document.querySelector('#panel progress').checkVisibility()"))
        self.assertTrue(self.browser.run("return withheld.length === 1 && withheld[0].dropped()"), "the older question was not dropped")
        self.browser.click("#tab-lines")
        self.browser.run("const box = document.querySelector('#source'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))", SHORT)
        self.browser.wait("/dog/i.test(document.querySelector('#translation').textContent)", "another translation")

    def show_model(self, ready="document.querySelector('.whole-model .fold')", **more):
        self.show(**{"pair": "de-en", "text": SHORT, "view": "model", **more})
        self.browser.wait(ready, "the parts of the model")

    def vectors(self):
        """What the open parts show of vectors: name and the first numbers."""
        return self.browser.run("return [...document.querySelectorAll('.vectors dt')].map((each) => [each.textContent,"
                                "each.nextSibling.querySelector('.some-numbers').textContent.match(/−?[\\d.]+\\d/g).map((each) => Number(each.replace('−', '-')))])")

    def test_the_whole_model(self):
        self.show_model(token="t2")
        titles = self.browser.run("return [...document.querySelectorAll('.fold-title')].map((each) => each.textContent)")
        self.assertEqual(titles, ["Text to tokens", "Tokens to vectors", *(f"Encoder layer {n}" for n in range(1, 7)),
                                  "What is written so far", "Tokens to vectors", *(f"Decoder layer {n}" for n in range(1, 4)), "Output"])
        self.assertIn("The encoder at “Hund”, the decoder at “The”, which writes “dog”.", self.browser.run("return document.querySelector('#panel').textContent"))
        lens = self.command_json("lens", SHORT, "--details")
        best = lens["predictions"][-1][1]
        rows = self.browser.run("return [...document.querySelectorAll('[data-part=output] tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))")
        self.assertEqual(rows[0][0], "dog (written)")
        self.assertAlmostEqual(float(rows[0][2].split()[0]), 100 * best[0]["probability"], delta=0.6)
        import math
        logits = [float(row[1].replace("−", "-")) for row in rows[:2]]
        self.assertAlmostEqual(logits[0] - logits[1], math.log(best[0]["probability"] / best[1]["probability"]), delta=0.011)
        self.assertEqual(self.browser.run(CHECK_ACCESS), [])
        # Colder: the likeliest becomes likelier.
        self.browser.run("const slider = document.querySelector('.whole-model [type=range]'); slider.value = 0.5; slider.dispatchEvent(new Event('input'))")
        self.browser.wait("/temperature=0.5/.test(location.href)", "the temperature")
        cold = self.browser.run("return document.querySelector('[data-part=output] tbody .bar-text').textContent")
        self.assertGreaterEqual(float(cold.split()[0]), float(rows[0][2].split()[0]))
        # A pinned token that this sentence lacks is its last one.
        self.show_model(token="s99")
        self.assertIn("The encoder at “⟨end⟩”", self.browser.run("return document.querySelector('#panel').textContent"))

    def test_parts_of_the_model_open(self):
        self.show_model(token="t2", open="")
        self.browser.run("document.querySelector('[data-part=\"decoder.3\"] > summary').focus()")
        self.browser.press("Enter")
        self.browser.wait("document.querySelector('[data-part=\"decoder.3.cross-attention\"]')", "the sub-layers")
        self.assertEqual(self.state()["open"], "decoder.3")
        self.assertEqual(self.browser.run("return document.activeElement.parentElement.dataset.part"), "decoder.3")
        self.browser.click("[data-part='decoder.3.cross-attention'] > summary")
        self.browser.wait("document.querySelectorAll('[data-part=\"decoder.3.cross-attention\"] .fold').length === 8", "the heads")
        self.browser.click("[data-part='decoder.3.cross-attention.2'] > summary")
        self.browser.wait("document.querySelectorAll('.whole-model table.steps tbody tr').length === 5", "the keys of a head")
        self.assertEqual(self.browser.run(CHECK_ACCESS), [])
        self.picture("model")
        # From what is read to what is added and their sum.
        shown = dict(self.vectors())
        for before, added, total in zip(shown["x, as it was"], shown["their projection, added"], shown["x + added"], strict=True):
            self.assertAlmostEqual(before + added, total, delta=0.011)
        self.browser.run("[...document.querySelectorAll('.fold-body > button')][0].click()")
        self.browser.wait("document.querySelector('table.steps caption')?.textContent === 'Cross layer 3, head 2'", "one query")
        self.assertEqual(self.state()["token"], "t2")
        # The vectors are those of the command.
        self.show_model(token="t2", open="encoder.0,encoder.6,encoder.6.feed-forward,decoder.0", ready="document.querySelectorAll('.vectors').length === 4")
        lens = self.command_json("lens", SHORT, "--details")
        shown = self.vectors()
        for (name, numbers), right in [(shown[2], lens["hidden"]["encoder"][0][1]), (shown[6], lens["hidden"]["encoder"][-1][1]), (shown[-1], lens["hidden"]["decoder"][0][1])]:
            self.assertIn(name, ["sum", "norm of the sum"])
            for number, value in zip(numbers, right):
                self.assertAlmostEqual(number, value, delta=0.0051 + 0.01 * abs(value))
        # All open, on a phone.
        self.browser.resize(360, 740)
        self.show_model(open="output," + ",".join(f"{stack}.{rest}" for stack in ["encoder", "decoder"] for rest in ["input", "0", "1", "1.self-attention", "1.self-attention.1", "1.feed-forward", "1.cross-attention"]),
                        ready="document.querySelectorAll('.vectors').length > 8")
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 360)
        self.browser.resize(1280, 900)

    def test_the_whole_model_to_take_away(self):
        self.show_model()
        self.browser.wait("/--details --output model.json$/.test(document.querySelector('.command code').textContent)", "the command")
        self.browser.click(".export button:nth-of-type(5)")
        rows = list(csv.DictReader(io.StringIO(self.saved("model.csv").decode())))
        self.assertEqual({row["vector"] for row in rows}, {"embedding", "heads", "added", "vector"})
        self.assertTrue(self.browser.run("return document.querySelector('.export button:nth-of-type(1)').disabled"))

    def test_the_whole_rnn(self):
        self.show_model(pair="", model="rnn", open="decoder.1,decoder.1.recurrence,output", ready="document.querySelector('[data-part=output] tbody tr')")
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('[data-part=\"decoder.1\"] .fold-title')].map((each) => each.textContent)"), ["Decoder layer 1", "Recurrence", "Head 1"])
        self.assertIn("looks at", self.browser.run("return document.querySelector('[data-part=\"decoder.1.recurrence\"] .fold-line').textContent"))

    def test_compare_two_precisions(self):
        text = "Das Wetter ist heute schön."  # of SHORT, both say -1.649
        self.show(pair="de-en", text=text, view="compare", other=f"precision:{self.OTHER_PRECISION}")
        self.browser.wait("/Log-probability: .* and /.test(document.querySelector('#panel .note-line')?.textContent)", "both scores")
        first, second = re.findall(r"-[\d.]+\d", self.browser.run("return document.querySelector('#panel .note-line').textContent"))
        self.assertNotEqual(first, second)
        self.assertAlmostEqual(float(first), float(second), delta=0.5)

    def test_models_without_capitals_get_lower_case(self):
        self.show(model="rnn", text=SHORT)
        self.browser.wait("document.querySelector('.tokens button')?.textContent === 'der'", "tokens in lower case")
        self.assertEqual(self.browser.run("return document.querySelector('#source').value"), SHORT)
        self.assertNotIn("unk", self.browser.run("return document.querySelector('.tokens').textContent"))

    def test_compare_two_sentences(self):
        self.show(pair="de-en", text=SHORT, view="compare", other="text:Die Katze schläft.")
        self.browser.wait("document.querySelector('#panel .note-line')?.textContent.includes('position')", "the comparison")

    def test_compare_two_translations(self):
        self.show(pair="de-en", text=SHORT, view="compare", other="target:The cat sleeps in the garden.", token="t1", words=1)
        self.browser.wait("/different numbers/.test(document.querySelector('#panel .note-line')?.textContent)", "the comparison")
        self.browser.run("document.querySelector('details.numbers').open = true")
        self.browser.wait("document.querySelector('details.numbers td')", "the table")
        table = self.browser.run("return document.querySelector('details.numbers').textContent")
        self.assertIn("cat", table)
        self.assertIn(self.translation(), table)

    def test_a_marked_token_is_marked_where_the_model_is_asked(self):
        overlay = PIXELS.replace("SELECTOR", "#panel .overlay") + "return data.some((part) => part > 0);"
        for view, ready in [("search", "document.querySelector('.finished li')"), ("compare", "/position/.test(document.querySelector('#panel .note-line')?.textContent)")]:
            self.show(pair="de-en", text=SHORT, view=view, other="text:Die Katze schläft.")
            self.browser.wait(ready, view)
            self.assertFalse(self.browser.run(overlay), view)
            self.browser.run("document.querySelectorAll('.tokens')[1].children[1].click()")
            self.browser.wait(f"(() => {{{overlay}}})()", f"marks in {view}")
        self.show(pair="de-en", text=SHORT, view="change", off="cross:2:1", token="t2")
        self.browser.wait("document.querySelector('.token-change.marked')", "the marked token")
        self.assertIn("dog", self.browser.run("return document.querySelector('.token-change.marked').textContent"))

    def test_compare_two_models(self):
        self.show(pair="de-en", text=SHORT, view="compare", other="model:rnn", words=1)
        self.browser.run("document.querySelector('details.numbers')")
        self.browser.wait("document.querySelector('#panel .overlay')?.getAttribute('aria-label')", "the comparison")
        self.browser.wait(PAINTED.replace("return seen.size", "return seen.size > 8").join(["(() => {", "})()"]), "two maps")
        self.assertIn("rnn", self.browser.run("return [...document.querySelectorAll('#panel option')].map((each) => each.value).join()"))


class Site(Served):
    """The same page from a folder of static files, whose models run in the browser."""

    @classmethod
    def start(cls):
        cls.files = StaticFiles(SITE)
        cls.url = cls.files.url

    @classmethod
    def stop(cls):
        cls.files.close()

    def require_ablation(self):
        pass

    test_first_view_takes_few_requests = None  # each module is a file here
    MODEL_NAMES = ["German → English", "English → German", "English → Spanish", "Spanish → English", "kinds (classifier)",
                   "German → English (rnn)", "sentences (language model)",
                   *(f"German → English ({name})" for name in ["step-100", "step-500", "step-5000"]),
                   "German → Spanish, through English", "Spanish → German, through English"]
    OTHER_PRECISION = "float32"
    PRECISION = ["--precision", "int8"]
    EFFECT_DELTA = 0.03  # activations that are rounded to 7 bits, with other kernels than the command's

    def test_pdf_is_drawn_by_the_library(self):
        self.show(pair="de-en", text=SHORT, view="head", layer=2, head=5)
        self.browser.wait("document.querySelector('#panel canvas')", "the picture")
        self.browser.click(".export button:nth-of-type(3)")
        self.browser.wait("/not in the browser/.test(document.querySelector('.export .needs').textContent)", "why there is none")
        self.assertTrue(all("500" in message for message in self.browser.console()))

    def test_all_others_work_without_a_network(self):
        self.show(pair="de-en", text=SHORT, method="gradient")
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.browser.cdp("Network.enable")
        self.browser.cdp("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        try:
            self.browser.run("const box = document.querySelector('#source'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))", LONG)
            expected = subprocess.run([HEED, "translate", LONG, "--quiet", "--precision", "int8"], check=True, capture_output=True, text=True).stdout
            self.browser.wait(f"document.querySelector('#translation').textContent === {json.dumps(expected.strip())}", "the command's translation")
            for view, drawn in [("lines", "canvas"), ("heads", "canvas"), ("head", "canvas"), ("query", "table"), ("layers", "canvas"), ("why", "canvas"), ("patch", "#beside"), ("model", ".fold"), ("change", ".versus .translation"),
                                ("search", "canvas"), ("compare", "canvas")]:
                self.browser.click(f"#tab-{view}")
                self.browser.wait(f"document.querySelector('#panel {drawn}')?.getBoundingClientRect().height > 0", view)
        finally:
            self.browser.cdp("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)

    def command_lines(self, *arguments):
        return subprocess.run([HEED, *arguments, "--quiet"], check=True, capture_output=True, text=True).stdout.strip()

    def test_a_pair_through_another_language(self):
        for text in [SHORT, "Das war knapp."]:
            self.show(pair="de-es", text=text)
            expected = self.command_lines("translate", text, "--pair", "de-es", "--precision", "int8")
            self.browser.wait(f"document.querySelector('#translation').textContent === {json.dumps(expected)}", "the translation")
        self.assertEqual(self.browser.run("return document.querySelectorAll('#steps button').length"), 2)
        # A step is one model, whose attention there is.
        self.browser.run("document.querySelectorAll('#steps button')[1].click()")
        self.browser.wait("document.querySelector('#panel canvas')", "the attention of a step")
        self.assertEqual(self.browser.run("return document.querySelector('#translation').textContent"), expected)

    def test_views_of_the_language_model(self):
        text = "I would like to"
        self.show(model="sentences", text=text, view="next")
        self.browser.wait("document.querySelector('.next-row')", "the next tokens")
        best = self.browser.run("return document.querySelector('.next-row .next-token').textContent")
        expected = json.loads(self.command_lines("lens", text, "--model", str(MODELS / "sentences"), "--precision", "int8", "--json", "--top", "1"))
        self.assertEqual(best.strip(" ␣"), expected["predictions"][-1][-1][0]["token"].strip("▁ "))
        self.picture("site-next")
        self.browser.run("document.querySelector('.next-row button, button.next-row').click()")
        self.browser.wait(f"document.querySelector('#source').value.length > {len(text)}", "the token that was appended")
        self.each_view("sentences", text, {"lines": "canvas", "heads": "canvas", "head": "canvas", "query": "table", "layers": "canvas",
                                           "why": "canvas", "patch": "#beside", "model": ".fold", "change": ".translation", "compare": "canvas"})

    def test_views_of_the_classifier(self):
        for text, kind in [("Are you coming with us", "question"), ("You are coming with us", "statement"), ("Come with us", "command")]:
            self.show(model="kinds", text=text)
            self.browser.wait(f"document.querySelector('.classes dt')?.textContent === {json.dumps(kind)}", kind)
        self.each_view("kinds", text, {"lines": "canvas", "heads": "canvas", "head": "canvas", "query": "table", "layers": "canvas",
                                       "why": "canvas", "patch": "#beside", "model": ".fold", "change": ".translation", "compare": "canvas"})
        self.show(model="kinds", text="Are you coming with us", view="why")
        self.browser.wait("/they should sum to/.test(document.querySelector('#panel .sum')?.textContent)", "why")
        self.picture("site-why-kinds")

    def each_view(self, model, text, views):
        for view, drawn in views.items():
            self.show(model=model, text=text, view=view)
            self.browser.wait(f"document.querySelector('#panel {drawn}')?.getBoundingClientRect().height > 0", f"{view} of {model}")

    def test_a_finger_marks_a_token(self):
        self.browser.resize(360, 740)
        self.browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
        try:
            self.show(pair="de-en", text=SHORT)
            self.browser.wait("document.querySelectorAll('.tokens')[1].children.length > 2", "the tokens")
            x, y = self.browser.run("const box = document.querySelectorAll('.tokens')[1].children[1].getBoundingClientRect();"
                                    "return [box.x + box.width / 2, box.y + box.height / 2]")
            self.browser.cdp("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
            self.browser.cdp("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            self.browser.wait("document.querySelectorAll('.tokens')[1].children[1].getAttribute('aria-pressed') === 'true'", "the marked token")
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 360)
        finally:
            self.browser.cdp("Emulation.setTouchEmulationEnabled", enabled=False)
            self.browser.resize(1280, 900)

    def drop(self, directory, names):
        """Drops files on the page, as a directory of their names."""
        files = [[name, base64.b64encode((directory / name).read_bytes()).decode()] for name in names if (directory / name).exists()]
        self.browser.run("""
            const dropped = new DataTransfer();
            for (const [name, content] of arguments[0])
              dropped.items.add(new File([Uint8Array.from(atob(content), (each) => each.charCodeAt(0))], name));
            document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: dropped, bubbles: true, cancelable: true}));""", files)

    def test_a_model_is_dropped_on_the_page(self):
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.drop(MODELS / "rnn", ["README.md"])
        self.browser.wait("/config.json/.test(document.querySelector('.status.failed')?.textContent)", "what is missing")
        self.drop(MODELS / "rnn", sorted(path.name for path in (MODELS / "rnn").iterdir()))
        expected = subprocess.run([HEED, "translate", SHORT, "--quiet", "--model", str(MODELS / "rnn")], check=True, capture_output=True, text=True).stdout
        self.browser.wait(f"/model=model/.test(location.href) && document.querySelector('#translation').textContent === {json.dumps(expected.strip())}", "its translation")
        text_model = FAMILIES / "decoder_families/smollm2/model"
        if not text_model.exists():
            return
        self.show(pair="de-en", text=SHORT)
        self.browser.wait("document.querySelector('#translation').textContent", "the translation")
        self.drop(text_model, sorted(path.name for path in text_model.iterdir() if path.is_file()))
        self.browser.wait("/model=model/.test(location.href) && document.querySelector('#tab-next:not([hidden])')", "the next token")


# A list of what is wrong: controls without a name, roles without what they need, text with too little contrast.
CHECK_ACCESS = """
  const wrong = [];
  const name = (each) => each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.[0]?.textContent || each.title;
  for (const each of document.querySelectorAll('button, input, select, textarea, [role=img], [role=toolbar], [role=tablist], [role=radiogroup]')) {
    if (!each.closest('[hidden]') && !name(each)) wrong.push('no name: ' + each.outerHTML.slice(0, 90));
  }
  for (const each of document.querySelectorAll('[aria-controls], [aria-labelledby]')) {
    for (const id of (each.getAttribute('aria-controls') ?? each.getAttribute('aria-labelledby')).split(' ')) {
      if (!document.getElementById(id)) wrong.push('no element ' + id);
    }
  }
  for (const group of document.querySelectorAll('[role=radiogroup], [role=tablist]')) {
    const stops = [...group.querySelectorAll('button')].filter((each) => each.tabIndex === 0 && !each.disabled);
    const usable = [...group.querySelectorAll('button')].some((each) => !each.disabled);
    if (stops.length !== (usable ? 1 : 0)) wrong.push(group.getAttribute('aria-label') + ' has ' + stops.length + ' tab stops');
  }
  if (document.querySelectorAll('h1').length !== 1 || !document.documentElement.lang) wrong.push('h1 or lang');
  const parse = (text) => {
    const numbers = text.match(/-?[\\d.]+(e-?\\d+)?/g).map(Number);
    return text.startsWith('color(srgb') ? [...numbers.slice(0, 3).map((each) => 255 * each), numbers[3] ?? 1] : [...numbers.slice(0, 3), numbers[3] ?? 1];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
  const background = (each) => {
    for (let at = each; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] === 1) return colour;
    }
    return [255, 255, 255, 1];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const each = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !each.checkVisibility() || each.closest('script, style, noscript, :disabled, .skip')) continue;
    const a = light(parse(getComputedStyle(each).color)), b = light(background(each));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) wrong.push('contrast ' + contrast.toFixed(2) + ': ' + walker.currentNode.data.trim().slice(0, 40));
  }
  return wrong;
"""


if __name__ == "__main__":
    if find_browser() is None:
        print("there is no chromium with chromedriver (scripts/setup test installs them): "
              + ("a failure, since CI is set" if os.environ.get("CI") else "skipped"), file=sys.stderr)
        sys.exit(1 if os.environ.get("CI") else 77)
    HEED = os.path.abspath(sys.argv[1])
    if "--site" in sys.argv:
        at = sys.argv.index("--site")
        SITE = sys.argv[at + 1]
        del sys.argv[at:at + 2]
        if not os.path.exists(os.path.join(SITE, "heed.wasm")):
            print(f"{SITE} has no heed.wasm: make site builds it", file=sys.stderr)
            sys.exit(77)
    if len(sys.argv) > 2:
        PICTURES = sys.argv[2]
        os.makedirs(PICTURES, exist_ok=True)
    tests = unittest.defaultTestLoader
    cases = [Site] if SITE else [each for each in vars(sys.modules[__name__]).values()
                                 if isinstance(each, type) and issubclass(each, unittest.TestCase) and each not in (OfServer, Site)]
    suite = unittest.TestSuite(tests.loadTestsFromTestCase(each) for each in cases)
    sys.exit(0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1)
