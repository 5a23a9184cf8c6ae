#!/usr/bin/env python3
"""How fast the explorer is, in Chromium: first view, translation, attribution, and frames while hovering.

    bench/explorer.py HEED [--turns 10] [--site build/site]

With --site the page of static files, whose models run in the browser, instead of a warm server. First view: from the
beginning of the navigation to the frame in which the picture of a short sentence is drawn, with empty caches.
Translation: from typing a sentence of ten words to its translation, with its attention. Attribution: from asking why
one token of the translation of 15 words is there to the answer, by integrated gradients; the first question apart, for
which a site loads the model once more. Frames: one token after the other is marked in the 72 maps of a 60-word
sentence, and the time between frames is measured (16.7 ms is 60 frames a second).
"""
import argparse
import contextlib
import pathlib
import re
import statistics
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/browser"))
from frames import times_while_hovering  # noqa: E402
from static_files import StaticFiles  # noqa: E402
from webdriver import Browser  # noqa: E402

TEN_WORDS = ["Der alte Mann sitzt jeden Morgen auf der kleinen Bank.", "Meine Schwester hat gestern drei neue Bücher für mich gekauft.",
             "Das Kind spielt mit dem kleinen Hund in unserem Garten.", "Wir fahren nächste Woche mit dem Zug in die Berge.",
             "Er liest am Abend gern ein Buch über alte Städte.", "Der Lehrer erklärt den Kindern heute noch einmal die Aufgabe."]
FIFTEEN_WORDS = "Der alte Mann mit dem grünen Hut sitzt jeden Morgen auf der Bank und liest."
# The milliseconds from an action until an element has another text.
TIMED = """return new Promise((done) => {
    const text = () => document.querySelector('%s')?.textContent ?? '';
    const before = text(), begin = performance.now();
    new MutationObserver((_, observer) => {
      if (text() === before || !text()) return;
      observer.disconnect();
      done(performance.now() - begin);
    }).observe(document.body, {subtree: true, childList: true, characterData: true});
    %s;
  });"""
TYPE = "const box = document.querySelector('#source'); box.value = arguments[0]; box.dispatchEvent(new Event('input'))"
EXPLAIN = "history.pushState({}, '', location.search.replace(/token=t\\d+/, 'token=t' + arguments[0])); dispatchEvent(new PopStateEvent('popstate'))"
LONG = " ".join(["Das kleine Kind, das gestern mit seinem Hund im Garten spielte, hat heute mit der Großmutter in der "
                 "Küche gekocht"] * 3) + "."


@contextlib.contextmanager
def pages_of_site(folder):
    with contextlib.closing(StaticFiles(folder)) as files:
        yield files.url


@contextlib.contextmanager
def pages_of_server(heed):
    server = subprocess.Popen([heed, "serve", "--port", "0", "--pair", "de-en"], stderr=subprocess.PIPE, text=True)
    try:
        address = next(match.group(0) for line in server.stderr if (match := re.search(r"http://\S+?:\d+/", line)))
        threading.Thread(target=server.stderr.read, daemon=True).start()
        yield address
    finally:
        server.terminate()
        server.wait()


def summary(times):
    times = sorted(times)
    return f"median {statistics.median(times):.0f} ms, {times[0]:.0f} to {times[-1]:.0f} ms, of {len(times)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--site")
    options = parser.parse_args()
    with (pages_of_site(options.site) if options.site else pages_of_server(options.heed)) as address, Browser() as browser:
        def show(**state):
            browser.open("about:blank")
            browser.cdp("Network.clearBrowserCache")
            browser.open(address + "?" + urllib.parse.urlencode({"pair": "de-en", **state}))

        first = []
        for _ in range(options.turns + 1):
            show(text="Der Hund schläft.")
            browser.wait("performance.getEntriesByName('first view').length", "the first view")
            first.append(browser.run("return performance.getEntriesByName('first view')[0].startTime"))
        print("first view:", summary(first[1:]))
        texts = [TEN_WORDS[n % len(TEN_WORDS)] for n in range(options.turns)]
        print("translation of ten words:", summary([browser.run(TIMED % ("#translation", TYPE), text) for text in texts]))
        show(text=FIFTEEN_WORDS, token="t1")
        browser.wait("performance.getEntriesByName('first view').length", "the first view")
        asked = browser.run(TIMED % ("#panel .sum", "document.querySelector('#tab-why').click()"))
        explained = [browser.run(TIMED % ("#panel .sum", EXPLAIN), token) for token in range(2, 2 + options.turns)]
        print(f"attribution of a token in 15 words: first {asked:.0f} ms; then", summary(explained))
        browser.resize(1600, 1200)
        show(text=LONG, view="heads")
        browser.wait("document.querySelector('#panel .overlay')", "the maps")
        frames = times_while_hovering(browser, 120)
        print(f"frames while hovering over {len(LONG.split())} words: median {statistics.median(frames):.1f} ms, "
              f"95% below {frames[int(0.95 * len(frames))]:.1f} ms")


if __name__ == "__main__":
    main()
