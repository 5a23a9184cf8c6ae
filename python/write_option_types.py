"""Writes the stub of heed._option_types: the types of keyword arguments, from the tables of options in the extension
module. The build runs this with the folder of the module in PYTHONPATH."""

import sys
from pathlib import Path

import _heed

TYPES = {"texts": "str | Sequence[str]", "terms": "Mapping[str, str] | Iterable[tuple[str, str]]"}


def class_of(name, description, rows):
    lines = [f"class {name}(TypedDict, total=False):", f'    """{description}"""', ""]
    for row, kind, default, text, _ in rows:
        lines += [f"    {row}: {TYPES.get(kind, kind)}{' | None' if default is None else ''}", f'    """{text}"""']
    return "\n".join(lines)


translate, generate = _heed.TranslateOptions.rows, _heed.GenerateOptions.rows
text = "\n\n".join(
    [
        "from collections.abc import Iterable, Mapping, Sequence\nfrom typing import TypedDict",
        class_of("TranslateOptions", "The options of `Translator.translate`.", translate),
        class_of(
            "DocumentOptions", "The options of `Translator.translate_document`.", [row for row in translate if row[4]]
        ),
        class_of("GenerateOptions", "The options of `Generator.generate`.", generate),
    ]
)
Path(sys.argv[1]).write_text(text + "\n")
