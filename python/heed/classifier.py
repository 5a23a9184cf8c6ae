"""Text classification."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, overload

from . import _heed
from ._arguments import call_of, heads_of, path_of, text_of
from .trace import Trace

TextOrPair: TypeAlias = str | tuple[str, str]


class Classification(NamedTuple):
    """The class of a text, from `Classifier.classify(..., details=True)`."""

    label: str
    """The most probable class."""
    probability: float
    """Its probability."""
    probabilities: dict[str, float]
    """Of all classes; they sum to 1."""
    truncated: bool
    """Whether the text was longer than the model's maximum."""


class Classifier:
    """A loaded classifier. May be used by several threads, one of which computes at a time.

    directory: a model directory of an encoder-only model with classes (docs/classification.md).
    threads: 0 for one per processor. Results do not depend on it.
    Raises heed.Error if the directory is missing, or is no classifier.
    """

    def __init__(self, directory: str | os.PathLike[str], threads: int = 0) -> None:
        self._model = _heed.Classifier(path_of("directory", directory), threads)
        self._made_by = call_of(self, os.fspath(directory), threads=threads)

    def __repr__(self) -> str:
        return self._made_by

    @property
    def labels(self) -> list[str]:
        """The names of the classes."""
        return list(self._model.labels())

    @overload
    def classify(self, text: TextOrPair, *, details: Literal[False] = False) -> str: ...

    @overload
    def classify(self, text: list[str] | list[tuple[str, str]], *, details: Literal[False] = False) -> list[str]: ...

    @overload
    def classify(self, text: TextOrPair, *, details: Literal[True]) -> Classification: ...

    @overload
    def classify(self, text: list[str] | list[tuple[str, str]], *, details: Literal[True]) -> list[Classification]: ...

    def classify(
        self, text: TextOrPair | list[str] | list[tuple[str, str]], *, details: bool = False
    ) -> str | list[str] | Classification | list[Classification]:
        """The label of a text, or of each text of a list; with details, `Classification` objects.

        A tuple of two texts is a pair, for models that classify pairs. Results do not depend on what else is in the
        list. Raises heed.Error for a pair if the model takes single texts.
        """
        single = isinstance(text, (str, tuple))
        items: Sequence[Any] = [text] if single else text
        if not isinstance(items, Sequence) or isinstance(items, (bytes, bytearray)):
            raise TypeError(f"text must be a str, a pair of str, or a list of them, not {type(text).__name__}")
        found = self._model.classify([_pair_of(each) for each in items])
        results: list[Any] = [each.label for each in found]
        if details:
            labels = self.labels
            results = [
                Classification(each.label, each.probability, dict(zip(labels, each.probabilities)), each.truncated)
                for each in found
            ]
        return results[0] if single else results

    def attend(self, text: TextOrPair, ablate: str | Sequence[str] = ()) -> Trace:
        """The attention weights of all heads and layers for a text, in `Trace.encoder`; `Trace.target` is the label.
        `ablate` as in `Translator.attend`. Raises heed.Error for texts longer than the model's maximum."""
        return Trace(self._model.attend(_pair_of(text), heads_of(ablate)))


def _pair_of(text: Any) -> tuple[str, str | None]:
    if isinstance(text, str):
        return text_of("text", text), None
    if isinstance(text, tuple) and len(text) == 2 and all(isinstance(each, str) for each in text):
        return text_of("the first text", text[0]), text_of("the second text", text[1])
    raise TypeError(f"a text must be a str, or a tuple of two, not {type(text).__name__}")
