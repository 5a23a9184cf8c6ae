"""What the sources of C++ say to the compiler, for checks that read them."""

import re

_COMMENTS_AND_TEXTS = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def code_of(file):
    """The text of a file without comments and string literals."""
    return _COMMENTS_AND_TEXTS.sub("", file.read_text())
