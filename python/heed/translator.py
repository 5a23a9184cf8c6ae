"""Translation."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, overload

from . import _heed
from ._arguments import call_of, heads_of, path_of, text_of, text_or_texts
from ._options import options_from, with_options
from .errors import usage_error
from .trace import Trace

if TYPE_CHECKING:
    from ._option_types import DocumentOptions, TranslateOptions


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
    """The other `nbest` - 1 translations, best first, without alternatives of their own, as in `heed translate --json`."""
    alignment: list[tuple[int, int]]
    """With alignment=True, pairs of words, separated by white space: their indices in text and translation, from 0."""
    word_confidence: list[float]
    """With confidence=True, the probability that each word, separated by white space, also stands in a human translation."""
    confidence: float
    """With confidence=True, the mean of word_confidence."""
    intermediate: list[str]
    """Of a translator with several models, what the best translations of all but the last say."""
    warnings: list[str]
    """What the text says otherwise than its source in numbers, times, dates, codes and addresses, and names that the model
    seems to have hallucinated, a sentence each; of the best translation only."""


class TranslatedDocument(NamedTuple):
    """The translation of a document, from `Translator.translate_document(..., details=True)`."""

    text: str
    """The document."""
    warnings: list[str]
    """What it says otherwise than its source, as `Translation.warnings`."""


class Translator:
    """A loaded translation model. May be used by several threads at once.

    directory: a model directory (docs/model-format.md), or a list of those through which a text passes in this order,
        such as one for German to English and one for English to Spanish: each translates the best translation of
        the one before it. `nbest`, `prefix`, `require`, `forbid` and `sample` are of the last one; `ablate`,
        `attend` and `log_probability` are for one model alone, and so are source_language and target_language.
    threads: 0 for one per processor. Results do not depend on it.
    source_language, target_language: of a model that has a token for each language, such as "eng_Latn" of
        NLLB-200 (docs/models.md); empty for those of the directory.
    precision: "float32", "int8", "int4" or, on processors with AVX512-BF16 or AMX, "bfloat16", of matrix products; empty for
        that of the stored weights.
    shortlist: whether to restrict the target vocabulary to the shortlist of each source sentence; None: if the model
        has one, for greedy search in int8 or int4.
    Raises heed.Error if the directory is missing, or is no translation model, or has no such language or shortlist,
        and for a model that does not read the language that the one before it writes.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        threads: int = 0,
        *,
        source_language: str = "",
        target_language: str = "",
        precision: Literal["", "float32", "int8", "int4", "bfloat16"] = "",
        shortlist: bool | None = None,
    ) -> None:
        several = isinstance(directory, (list, tuple))
        directories: Any = directory if several else [directory]
        paths = [path_of("directory", each) for each in directories]
        if len(paths) != 1 and (source_language or target_language):
            raise usage_error("source_language and target_language choose languages of one model: leave them out")
        self._model = _heed.Translator(paths, threads, source_language, target_language, precision, shortlist)
        self._made_by = call_of(
            self,
            list(map(os.fspath, directories)) if several else os.fspath(directories[0]),
            threads=threads,
            source_language=source_language,
            target_language=target_language,
            precision=precision,
            shortlist=shortlist,
        )

    def __repr__(self) -> str:
        return self._made_by

    @overload
    def translate(
        self, text: str, *, details: Literal[False] = False, **options: Unpack[TranslateOptions]
    ) -> str: ...

    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        *,
        details: Literal[False] = False,
        **options: Unpack[TranslateOptions],
    ) -> list[str]: ...

    @overload
    def translate(
        self, text: str, *, details: Literal[True], **options: Unpack[TranslateOptions]
    ) -> Translation: ...

    @overload
    def translate(
        self, text: list[str] | tuple[str, ...], *, details: Literal[True], **options: Unpack[TranslateOptions]
    ) -> list[Translation]: ...

    @with_options(_heed.TranslateOptions)
    def translate(
        self, text: str | list[str] | tuple[str, ...], *, details: bool = False, **options: Any
    ) -> str | list[str] | Translation | list[Translation]:
        """Translates a text, or each text of a list; a list is translated in batches on all threads.

        details: return `Translation` objects instead of str. Needed for more than one translation: the others are in
            `alternatives`.
        Several texts of an option are a list; a glossary is a dict or pairs of terms. None stands for the default of
        the model directory.
        Results do not depend on threads or on what else is in the list. An empty text stays empty.
        Raises heed.Error for invalid options and text that cannot be encoded.
        """
        nbest = options.get("nbest", 1)
        if nbest != 1 and not details:
            raise usage_error(f"nbest={nbest!r} needs details=True: the other translations are in `alternatives`")
        chosen = options_from(_heed.TranslateOptions, options)
        single = isinstance(text, str)
        lines = text_or_texts("text", text)
        results: list[Any]
        if details:
            results = [_translation_of(found) for found in self._model.alternatives(lines, chosen)]
        else:
            results = self._model.translate(lines, chosen)
        return results[0] if single else results

    @overload
    def translate_document(
        self,
        document: str,
        format: Literal["html", "markdown"],
        *,
        details: Literal[False] = False,
        **options: Unpack[DocumentOptions],
    ) -> str: ...

    @overload
    def translate_document(
        self,
        document: str,
        format: Literal["html", "markdown"],
        *,
        details: Literal[True],
        **options: Unpack[DocumentOptions],
    ) -> TranslatedDocument: ...

    @with_options(_heed.TranslateOptions, document=True)
    def translate_document(
        self, document: str, format: Literal["html", "markdown"], *, details: bool = False, **options: Any
    ) -> str | TranslatedDocument:
        """Translates the text of a document; tags, code, links and the like stay as they are.

        document: HTML, or Markdown. format: "html" or "markdown". details: return a `TranslatedDocument`, with warnings.
        Raises heed.Error for another format, for invalid options, and for elements that are nested too deeply.
        """
        chosen = options_from(_heed.TranslateOptions, options, document=True)
        source, kind = text_of("document", document), text_of("format", format)
        text, warnings = self._model.translate_document(source, kind, chosen)
        return TranslatedDocument(text, warnings) if details else text

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
    best, *others = [
        Translation(
            each.text,
            each.log_probability,
            each.score,
            each.pieces,
            [],
            each.alignment,
            each.word_confidence,
            each.confidence,
            each.intermediate,
            each.warnings,
        )
        for each in found
    ]
    return best._replace(alternatives=others)
