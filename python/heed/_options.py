"""Keyword arguments from the tables of options in the extension module."""

from __future__ import annotations

import difflib
import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from ._arguments import pairs_of, set_options, text_of, text_or_texts


class Row(NamedTuple):
    """An option of a class such as `_heed.TranslateOptions`."""

    name: str
    type: str
    """"bool", "int", "float", "str", "texts" or "terms"."""
    default: Any
    help: str
    for_documents: bool
    """Whether it has a meaning for documents, or only for lines."""

    def of(self, value: Any) -> Any:
        """The value as the extension module takes it: texts may be a single one, terms a mapping."""
        if self.type == "str" and value is not None:
            return text_of(self.name, value)
        if self.type == "texts":
            return text_or_texts(self.name, value)
        if self.type == "terms":
            return pairs_of(self.name, value)
        return value


def rows_of(options: type) -> list[Row]:
    return [Row(*each) for each in options.rows]  # type: ignore[attr-defined]


def options_from(options: type, given: Mapping[str, Any], *, document: bool = False) -> Any:
    """An object of this class with the options that are given. Raises TypeError for an unknown name or a wrong
    type."""
    rows = {row.name: row for row in rows_of(options) if row.for_documents or not document}
    for name in given:
        if name not in rows:
            near = difflib.get_close_matches(name, rows, 1)
            raise TypeError(f"there is no option {name!r} here{f'; did you mean {near[0]!r}?' if near else ''}")
    return set_options(options(), **{name: rows[name].of(value) for name, value in given.items()})


Function = TypeVar("Function", bound=Callable[..., Any])


def with_options(options: type, *, document: bool = False) -> Callable[[Function], Function]:
    """Adds the options to the signature and to the documentation of a function that takes them as **options."""
    rows = [row for row in rows_of(options) if row.for_documents or not document]

    def describe(function: Function) -> Function:
        signature = inspect.signature(function)
        fixed = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        keywords = [inspect.Parameter(row.name, inspect.Parameter.KEYWORD_ONLY, default=row.default) for row in rows]
        function.__signature__ = signature.replace(parameters=fixed + keywords)  # type: ignore[attr-defined]
        lines = [textwrap.fill(f"{row.name}: {row.help}", 118, subsequent_indent="    ") for row in rows]
        function.__doc__ = inspect.cleandoc(function.__doc__ or "") + "\n\nOptions:\n\n" + "\n".join(lines)
        return function

    return describe
