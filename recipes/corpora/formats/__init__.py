"""One extractor per file format. Each is a function

    extract(options, trees, language) -> iterator of Found

of the source's table in sources.toml, its trees by language ("en", "de", "es"; the same one for all if there is one), and the
language that stands beside English. Cleaning is not its business. A file that a tree lists and does not have (partial
mirrors lack the large ones) is passed over.
"""
import re
from typing import NamedTuple


class Found(NamedTuple):
    english: str
    foreign: str
    synthetic: bool = False  # by a machine, as far as the source says


def code(options, language):
    """The name of a language in the paths of the source."""
    return options.get("codes", {}).get(language, language)


def counterparts(options, trees, language):
    """(path in English, path in the other language) of all files that the other language has. options["paths"] is one glob
    or several with {language} where the paths have the name of the language. options["english"]: the English path, where it
    has another form. options["match"]: an expression whose group is the same in both paths, where titles are part of them."""
    patterns = options["paths"] if isinstance(options["paths"], list) else [options["paths"]]
    for pattern in patterns:
        english = {}
        if "match" in options:
            for path in trees["en"].paths(pattern.replace("{language}", code(options, "en"))):
                if match := re.search(options["match"], path): english[match[1]] = path
        glob = pattern.replace("{language}", code(options, language))
        for path in trees[language].paths(glob):
            if "match" in options:
                match = re.search(options["match"], path)
                if match and match[1] in english: yield english[match[1]], path
                continue
            yield options.get("english") or _renamed(path, pattern, code(options, language), code(options, "en")), path


def _renamed(path, pattern, old, new):
    """path, which has the form of the pattern for language old, for language new."""
    parts = re.split(r"(\*|\{language\})", pattern)
    expression = "".join({"*": "(.*)", "{language}": re.escape(old)}.get(part, re.escape(part)) for part in parts)
    stars = iter(re.fullmatch(expression, path).groups())
    return "".join(next(stars) if part == "*" else new if part == "{language}" else part for part in parts)
