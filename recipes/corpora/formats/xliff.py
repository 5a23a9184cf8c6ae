"""XLIFF 1.2: source and target of each unit whose state is "translated" or "final", or that has no state."""
import xml.etree.ElementTree

from . import Found, code


def extract(options, trees, language):
    for path in trees[language].paths(options["paths"].replace("{language}", code(options, language))):
        content = trees[language].read(path)
        if content is None: continue
        root = xml.etree.ElementTree.fromstring(content.lstrip("\ufeff"))
        for unit in root.findall(".//{*}trans-unit"):
            source, target = unit.find("{*}source"), unit.find("{*}target")
            if source is None or target is None or target.get("state", "final") not in ("translated", "final"): continue
            yield Found("".join(source.itertext()), "".join(target.itertext()))
