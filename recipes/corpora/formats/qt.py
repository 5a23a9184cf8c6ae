"""Message files of Qt (.ts): source and translation of each finished message; a plural message gives none."""
import xml.etree.ElementTree

from . import Found, code


def extract(options, trees, language):
    for path in trees[language].paths(options["paths"].replace("{language}", code(options, language))):
        content = trees[language].read(path)
        if content is None: continue
        for message in xml.etree.ElementTree.fromstring(content).iter("message"):
            source, translation = message.find("source"), message.find("translation")
            if source is None or translation is None or translation.get("type") or len(translation): continue
            if source.text and translation.text: yield Found(source.text.replace("&", ""), translation.text.replace("&", ""))
