"""Message catalogues of gettext: msgid is English, msgstr the translation."""
import re

from . import Found, code


def extract(options, trees, language):
    patterns = options["paths"] if isinstance(options["paths"], list) else [options["paths"]]
    for pattern in patterns:
        for path in trees[language].paths(pattern.replace("{language}", code(options, language))):
            for english, translation in entries(trees[language].read(path) or ""): yield Found(english, translation)


def entries(text):
    """(msgid, msgstr) of each translated message that is not marked fuzzy; a plural message gives its singular and plural."""
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        lines = block.split("\n")
        if any(line.startswith("#,") and "fuzzy" in line for line in lines): continue
        fields, name = {}, None
        for line in lines:
            match = re.match(r'(msgid|msgid_plural|msgstr(?:\[\d\])?)\s+"(.*)"\s*$', line)
            if match:
                name = match[1]
                fields[name] = match[2]
            elif name and (match := re.match(r'"(.*)"\s*$', line)): fields[name] += match[1]
            else: name = None
        if "msgid_plural" in fields:
            pairs = (("msgid", "msgstr[0]"), ("msgid_plural", "msgstr[1]"))
        else: pairs = (("msgid", "msgstr"),)
        for english, translation in pairs:
            if fields.get(english) and fields.get(translation):
                yield _unescaped(fields[english]), _unescaped(fields[translation])


def _unescaped(text):
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t", "r": ""}.get(match[1], match[1]), text)
