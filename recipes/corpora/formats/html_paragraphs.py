"""HTML pages whose paragraphs have the same id in all languages (LibreOffice's help)."""
import html
import re

from . import Found, counterparts

_PARAGRAPH = re.compile(r'<(p|h[1-6])\b[^>]*?\bid="([^"]+)"[^>]*>(.*?)</\1>', re.S)


def extract(options, trees, language):
    for english_path, path in counterparts(options, trees, language):
        english, foreign = trees["en"].read(english_path), trees[language].read(path)
        if english is None or foreign is None: continue
        texts, translations = paragraphs(english), paragraphs(foreign)
        for key, text in texts.items():
            if key in translations and translations[key] != text: yield Found(text, translations[key])


def paragraphs(page):
    """Text by id. An id that occurs twice is left out, and so is a paragraph with a picture."""
    found, twice = {}, set()
    for _, key, inner in _PARAGRAPH.findall(page):
        if key in found: twice.add(key)
        if "<img" in inner: twice.add(key)
        found[key] = " ".join(html.unescape(re.sub(r"<[^>]+>", "", inner)).split())
    return {key: text for key, text in found.items() if text and key not in twice}
