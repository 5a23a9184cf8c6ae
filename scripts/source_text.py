"""What the sources of C++ say to the compiler, for checks that read them."""

import re

_COMMENTS_AND_TEXTS = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def code_of(file):
    """The text of a file without comments and string literals."""
    return _COMMENTS_AND_TEXTS.sub("", file.read_text())


def literals_of(file):
    """The string literals of a file as they are written there, without quotes. Names of included files are none."""
    found = _COMMENTS_AND_TEXTS.findall(re.sub("(?m)^#include.*", "", file.read_text()))
    return [text[1:-1] for text in found if text[0] == '"']
