#!/usr/bin/env python3
"""Whether what browsers leave out is missed there: left_out.py [--self-test] ROOT

heed.wasm is linked without the files of HEED_LEFT_OUT_* (cmake/BrowserDependencies.cmake), and with those of
HEED_REPLACEMENTS_*, which define what the others call. `make site` is not part of `make test`, so this reads the sources
in place of the linker: a function that a left out file defines and a header declares is named by no other file that
includes the header, unless a replacement defines it. Exit status 1 if one is. --self-test: without the replacements,
there are some.
"""

import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from source_text import code_of  # noqa: E402


def lists(cmake, kind):
    """{folder: what `set(HEED_<kind>_<folder> ...)` has}"""
    return {folder: values.split() for folder, values in re.findall(rf"set\(HEED_{kind}_(\w+)([^)]*)\)", cmake)}


def included(file):
    return set(re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE))


def definitions(text):
    """The names in front of a parenthesis in the lines of namespaces, where functions are defined."""
    return {name for line in text.splitlines() if line[:1] not in (" ", "}", "#") for name in re.findall(r"(\w+)\(", line)}


def declarations(header):
    return set(re.findall(r"\b(\w+)\(", code_of(header)))


class Sources:
    """The sources that heed.wasm could have: `kept` are linked, `left_out` are not, by folder."""

    def __init__(self, root, patterns):
        folders = re.search(r"heed_folder\(browser [^)]*MAY_INCLUDE ([^)]*)\)", (root / "CMakeLists.txt").read_text())[1].split()
        self.kept, self.left_out = [], {}
        for folder in folders:
            base = root / "src" / folder
            files = [file for file in base.rglob("*.cc") if not file.name.endswith("_test.cc")]
            out = [file for file in files if any(re.fullmatch(each, str(file.relative_to(base))) for each in patterns.get(folder, []))]
            self.left_out[folder] = out
            self.kept += [file for file in files if file not in out]


def missed(root, with_replacements=True):
    """(file, header, function) for each function that the linker would miss."""
    cmake = (root / "cmake/BrowserDependencies.cmake").read_text()
    replacements = lists(cmake, "REPLACEMENTS") if with_replacements else {}
    sources = Sources(root, lists(cmake, "LEFT_OUT"))

    functions = {}  # {header: those that it declares and nothing that is linked defines}
    for folder, files in sources.left_out.items():
        replaced = [root / file.replace("${wasi}", "src/browser/wasi") for file in replacements.get(folder, [])]
        defined_elsewhere = set().union(*(definitions(file.read_text()) for file in replaced))
        for file in files:
            for header in (each for each in included(file) if each.startswith(f"{folder}/")):
                lacking = declarations(root / "src" / header) & definitions(code_of(file)) - defined_elsewhere
                functions.setdefault(header, set()).update(lacking)

    for user in sources.kept:
        code = code_of(user)
        used = set(re.findall(r"\w+", code)) - definitions(code)  # without others of the same name
        for header in included(user) & functions.keys():
            yield from ((user.relative_to(root), header, name) for name in functions[header] & used)


def main():
    root = pathlib.Path(sys.argv[-1])
    if "--self-test" in sys.argv:
        return 0 if any(missed(root, with_replacements=False)) else 1
    found = sorted(set(missed(root)))
    for user, header, name in found:
        print(f"{user}: uses {name}() of {header}, which cmake/BrowserDependencies.cmake leaves out and nothing replaces")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
