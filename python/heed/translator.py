"""Translation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

from . import _heed
from ._arguments import heads_of, path_of, set_options, text_of, texts_of
from .trace import Trace


class Translation(NamedTuple):
    """A translation with its numbers, from `Translator.translate(..., details=True)`."""

    text: str
    log_probability: float
    """The sum of the log-probabilities of its tokens, with the end token."""
    score: float
    """log_probability / length^length_penalty; the length includes the end token."""
    pieces: list[str]
    """Its subword tokens, with the end token."""
    alternatives: list[Translation]
    """The `nbest` translations, best first, without alternatives of their own; the first is this one."""


class Translator:
    """A loaded translation model. May be used by several threads at once.

    directory: a model directory (docs/model-format.md).
    threads: 0 for one per processor. Results do not depend on it.
    source_language, target_language: of a model that has a token for each language, such as "eng_Latn" of
        NLLB-200 (docs/models.md); empty for those of the directory.
    Raises heed.Error if the directory is missing, or is no translation model, or has no such language.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        threads: int = 0,
        *,
        source_language: str = "",
        target_language: str = "",
    ) -> None:
        self._model = _heed.Translator(
            path_of("directory", directory), threads, source_language, target_language
        )

    @overload
    def translate(
        self,
        text: str,
        *,
        beam: int = 0,
        nbest: int = 1,
        length_penalty: float | None = None,
        split_sentences: bool = True,
        placeholders: bool = True,
        glossary: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        details: Literal[False] = False,
    ) -> str: ...

    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        *,
        beam: int = 0,
        nbest: int = 1,
        length_penalty: float | None = None,
        split_sentences: bool = True,
        placeholders: bool = True,
        glossary: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        details: Literal[False] = False,
    ) -> list[str]: ...

    @overload
    def translate(
        self,
        text: str,
        *,
        beam: int = 0,
        nbest: int = 1,
        length_penalty: float | None = None,
        split_sentences: bool = True,
        placeholders: bool = True,
        glossary: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        details: Literal[True],
    ) -> Translation: ...

    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        *,
        beam: int = 0,
        nbest: int = 1,
        length_penalty: float | None = None,
        split_sentences: bool = True,
        placeholders: bool = True,
        glossary: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        details: Literal[True],
    ) -> list[Translation]: ...

    def translate(
        self,
        text: str | list[str] | tuple[str, ...],
        *,
        beam: int = 0,
        nbest: int = 1,
        length_penalty: float | None = None,
        split_sentences: bool = True,
        placeholders: bool = True,
        glossary: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        details: bool = False,
    ) -> str | list[str] | Translation | list[Translation]:
        """Translates a text, or each text of a list; a list is translated in batches on all threads.

        beam: beam size, at most 1024; 1 is greedy search, 0 the default of the model.
        nbest: number of translations in `alternatives`, at most the beam size; with details only.
        length_penalty: A in score = log-probability / length^A; None is the default of the model.
        split_sentences: translate each sentence of a text separately.
        placeholders: copy URLs, code, numbers, emojis and the like unchanged.
        glossary: terms and their required translations.
        details: return `Translation` objects instead of str.
        Results do not depend on threads or on what else is in the list. An empty text stays empty.
        Raises heed.Error for invalid options and text that cannot be encoded.
        """
        options = set_options(
            _heed.TranslateOptions(),
            beam=beam,
            nbest=nbest,
            length_penalty=length_penalty,
            split_sentences=split_sentences,
            placeholders=placeholders,
            glossary=list(glossary.items() if isinstance(glossary, Mapping) else glossary),
        )
        single = isinstance(text, str)
        lines = [text] if isinstance(text, str) else texts_of("text", text)
        results: list[Any]
        if details:
            results = [_translation_of(found) for found in self._model.alternatives(lines, options)]
        else:
            results = self._model.translate(lines, options)
        return results[0] if single else results

    def attend(self, text: str, target: str | None = None, ablate: str | Sequence[str] = ()) -> Trace:
        """The attention weights of all heads and layers for the model's translation of `text`, or for `target`.

        text: one sentence. target: a given translation (forced decoding). ablate: heads that are switched off, in
        the search too: "cross:3:5" is the fifth head of the third layer of cross-attention; the stacks are encoder,
        decoder and cross, and layer and head may be "all".
        Raises heed.Error for a text that is empty or longer than the model's maximum, and for unknown heads.
        """
        return Trace(
            self._model.attend(
                text_of("text", text), "" if target is None else text_of("target", target), heads_of(ablate)
            )
        )

    def log_probability(self, text: str, target: str) -> float:
        """log P(target | text), with the end token."""
        return float(self._model.log_probability(text_of("text", text), text_of("target", target)))


def _translation_of(found: Sequence[Any]) -> Translation:
    all_of_them = [Translation(each.text, each.log_probability, each.score, each.pieces, []) for each in found]
    best = all_of_them[0]
    return Translation(best.text, best.log_probability, best.score, best.pieces, all_of_them)
