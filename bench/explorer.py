#!/usr/bin/env python3
"""How fast the explorer is, in Chromium: the first view on a warm server, and frames while hovering.

    bench/explorer.py HEED [--turns 10]

First view: from the beginning of the navigation to the frame in which the picture of a short sentence is drawn,
with empty caches. Frames: one token after the other is marked in the 72 maps of a 60-word sentence, and the time
between frames is measured (16.7 ms is 60 frames a second).
"""
import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/browser"))
from frames import times_while_hovering  # noqa: E402
from webdriver import Browser  # noqa: E402

LONG = " ".join(["Das kleine Kind, das gestern mit seinem Hund im Garten spielte, hat heute mit der Großmutter in der "
                 "Küche gekocht"] * 3) + "."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heed")
    parser.add_argument("--turns", type=int, default=10)
    options = parser.parse_args()
    server = subprocess.Popen([options.heed, "serve", "--port", "0", "--pair", "de-en"], stderr=subprocess.PIPE, text=True)
    try:
        address = next(match.group(0) for line in server.stderr if (match := re.search(r"http://\S+?:\d+/", line)))
        threading.Thread(target=server.stderr.read, daemon=True).start()
        with Browser() as browser:
            def show(**state):
                browser.open("about:blank")
                browser.cdp("Network.clearBrowserCache")
                browser.open(address + "?" + urllib.parse.urlencode({"pair": "de-en", **state}))

            first = []
            for _ in range(options.turns + 1):
                show(text="Der Hund schläft.")
                browser.wait("performance.getEntriesByName('first view').length", "the first view")
                first.append(browser.run("return performance.getEntriesByName('first view')[0].startTime"))
            first = sorted(first[1:])
            print(f"first view: median {statistics.median(first):.0f} ms, at most {first[-1]:.0f} ms, of {len(first)}")
            browser.resize(1600, 1200)
            show(text=LONG, view="heads")
            browser.wait("document.querySelector('#panel .overlay')", "the maps")
            frames = times_while_hovering(browser, 120)
            print(f"frames while hovering over {len(LONG.split())} words: median {statistics.median(frames):.1f} ms, "
                  f"95% below {frames[int(0.95 * len(frames))]:.1f} ms")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
