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

COMMENTS_AND_TEXTS = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def lists(cmake, kind):
    """{folder: what `set(HEED_<kind>_<folder> ...)` has}"""
    return {folder: values.split() for folder, values in re.findall(rf"set\(HEED_{kind}_(\w+)([^)]*)\)", cmake)}


def code(file):
    return COMMENTS_AND_TEXTS.sub("", file.read_text())


def included(file):
    return set(re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE))


def definitions(text):
    """The names in front of a parenthesis in the lines of namespaces, where functions are defined."""
    return {name for line in text.splitlines() if line[:1] not in (" ", "}", "#") for name in re.findall(r"(\w+)\(", line)}


def missed(root, with_replacements=True):
    """(file, header, function) for each function that the linker would miss."""
    cmake = (root / "cmake/BrowserDependencies.cmake").read_text()
    left_out, replacements = lists(cmake, "LEFT_OUT"), lists(cmake, "REPLACEMENTS") if with_replacements else {}
    folders = set(re.search(r"heed_folder\(browser [^)]*MAY_INCLUDE ([^)]*)\)", (root / "CMakeLists.txt").read_text())[1].split())
    sources = {folder: [file for file in (root / "src" / folder).rglob("*.cc") if not file.name.endswith("_test.cc")] for folder in folders}

    def is_left_out(folder, file):
        path = str(file.relative_to(root / "src" / folder))
        return any(re.fullmatch(pattern, path) for pattern in left_out.get(folder, []))

    kept = [file for folder in folders for file in sources[folder] if not is_left_out(folder, file)]
    uses = {file: (included(file), set(re.findall(r"\w+", code(file)))) for file in kept}
    for folder in sorted(left_out.keys() & folders):
        replaced = set().union(*(definitions((root / file.replace("${wasi}", "src/browser/wasi")).read_text()) for file in replacements.get(folder, [])))
        for file in sources[folder]:
            if not is_left_out(folder, file):
                continue
            defined = definitions(code(file)) - replaced
            for header in included(file):
                if not header.startswith(f"{folder}/"):
                    continue
                declared = defined & set(re.findall(r"\b(\w+)\(", code(root / "src" / header)))
                for user, (headers, used) in uses.items():
                    if header in headers:
                        others = definitions(code(user))  # of the same name
                        yield from ((user.relative_to(root), header, name) for name in sorted(declared & used - others))


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
