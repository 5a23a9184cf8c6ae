"""Translation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, overload

from . import _heed
from ._arguments import call_of, heads_of, path_of, set_options, text_of, texts_of
from .errors import usage_error
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
    """The other `nbest` - 1 translations, best first, without alternatives of their own, as in `heed translate --json`."""
    alignment: list[tuple[int, int]]
    """With alignment=True, pairs of words, separated by white space: their indices in text and translation, from 0."""


class TranslateOptions(TypedDict, total=False):
    """The options of `Translator.translate`."""

    beam: int
    nbest: int
    length_penalty: float | None
    max_length: int | None
    no_repeat_ngram: int | None
    split_sentences: bool
    placeholders: bool
    glossary: Mapping[str, str] | Iterable[tuple[str, str]]
    prefix: str
    require: str | Sequence[str]
    forbid: str | Sequence[str]
    sample: bool
    temperature: float | None
    top_k: int | None
    top_p: float | None
    seed: int
    ablate: str | Sequence[str]
    alignment: bool


class Translator:
    """A loaded translation model. May be used by several threads at once.

    directory: a model directory (docs/model-format.md).
    threads: 0 for one per processor. Results do not depend on it.
    source_language, target_language: of a model that has a token for each language, such as "eng_Latn" of
        NLLB-200 (docs/models.md); empty for those of the directory.
    precision: "float32" or "int8", of matrix products; empty for that of the stored weights.
    shortlist: whether to restrict the target vocabulary to the shortlist of each source sentence; None: if the model
        has one, for greedy int8 search.
    Raises heed.Error if the directory is missing, or is no translation model, or has no such language or shortlist.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        threads: int = 0,
        *,
        source_language: str = "",
        target_language: str = "",
        precision: Literal["", "float32", "int8"] = "",
        shortlist: bool | None = None,
    ) -> None:
        self._model = _heed.Translator(
            path_of("directory", directory), threads, source_language, target_language, precision, shortlist
        )
        self._made_by = call_of(
            self,
            os.fspath(directory),
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

    def translate(
        self,
        text: str | list[str] | tuple[str, ...],
        *,
        beam: int = 0,
        nbest: int = 1,
        length_penalty: float | None = None,
        max_length: int | None = None,
        no_repeat_ngram: int | None = None,
        split_sentences: bool = True,
        placeholders: bool = True,
        glossary: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        prefix: str = "",
        require: str | Sequence[str] = (),
        forbid: str | Sequence[str] = (),
        sample: bool = False,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int = 1,
        ablate: str | Sequence[str] = (),
        alignment: bool = False,
        details: bool = False,
    ) -> str | list[str] | Translation | list[Translation]:
        """Translates a text, or each text of a list; a list is translated in batches on all threads.

        beam: beam size, at most 1024; 1 is greedy search, 0 the default of the model.
        nbest: number of translations, at most the beam size: the best one and its `alternatives`; above 1, details
            must be True.
        length_penalty: A in score = log-probability / length^A.
        max_length: maximum length of a translation in tokens, including start and end token.
        no_repeat_ngram: repeated n-grams of this many tokens are blocked; 0: none.
        split_sentences: translate each sentence of a text separately.
        placeholders: copy URLs, code, numbers, emojis and the like unchanged.
        glossary: terms and their required translations.
        prefix: a text that every translation begins with; its last word must be complete.
        require: a text, or several, that every translation contains.
        forbid: a word or phrase, or several, that no translation contains: without capitals, in any case;
            "word*": all words that begin so.
        sample: sample `nbest` translations instead of searching, without `beam`. The seed, a text and its index in
            the list choose its samples.
        temperature, top_k, top_p: of sampling: above 0; the k most probable tokens, 0 for all; the most probable
            tokens with this total probability, 1 for all.
        ablate: heads that are switched off, as in `attend`.
        alignment: compute `Translation.alignment`, with another forward pass.
        details: return `Translation` objects instead of str.
        None stands for the default of the model directory.
        Results do not depend on threads or on what else is in the list. An empty text stays empty.
        Raises heed.Error for invalid options and text that cannot be encoded.
        """
        if nbest != 1 and not details:
            raise usage_error(f"nbest={nbest!r} needs details=True: the other translations are in `alternatives`")
        options = _options(
            beam=beam,
            nbest=nbest,
            length_penalty=length_penalty,
            max_length=max_length,
            no_repeat_ngram=no_repeat_ngram,
            split_sentences=split_sentences,
            placeholders=placeholders,
            glossary=glossary,
            prefix=prefix,
            require=require,
            forbid=forbid,
            sample=sample,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=seed,
            ablate=ablate,
            alignment=alignment,
        )
        single = isinstance(text, str)
        lines = [text] if isinstance(text, str) else texts_of("text", text)
        results: list[Any]
        if details:
            results = [_translation_of(found) for found in self._model.alternatives(lines, options)]
        else:
            results = self._model.translate(lines, options)
        return results[0] if single else results

    def translate_document(
        self,
        document: str,
        format: Literal["html", "markdown"],
        *,
        beam: int = 0,
        length_penalty: float | None = None,
        max_length: int | None = None,
        no_repeat_ngram: int | None = None,
        glossary: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        forbid: str | Sequence[str] = (),
        ablate: str | Sequence[str] = (),
    ) -> str:
        """Translates the text of a document; tags, code, links and the like stay as they are.

        document: HTML, or Markdown. The options are those of `translate`.
        Raises heed.Error for another format, for invalid options, and for elements that are nested too deeply.
        """
        options = _options(
            beam=beam,
            length_penalty=length_penalty,
            max_length=max_length,
            no_repeat_ngram=no_repeat_ngram,
            glossary=glossary,
            forbid=forbid,
            ablate=ablate,
        )
        return str(
            self._model.translate_document(text_of("document", document), text_of("format", format), options)
        )

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


def _options(
    *,
    glossary: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    require: str | Sequence[str] = (),
    forbid: str | Sequence[str] = (),
    ablate: str | Sequence[str] = (),
    **options: Any,
) -> Any:
    return set_options(
        _heed.TranslateOptions(),
        glossary=list(glossary.items() if isinstance(glossary, Mapping) else glossary),
        require=_one_or_several("require", require),
        forbid=_one_or_several("forbid", forbid),
        ablate=heads_of(ablate),
        **options,
    )


def _one_or_several(name: str, value: str | Sequence[str]) -> list[str]:
    return [value] if isinstance(value, str) else texts_of(name, value)


def _translation_of(found: Sequence[Any]) -> Translation:
    best, *others = [
        Translation(each.text, each.log_probability, each.score, each.pieces, [], each.alignment) for each in found
    ]
    return best._replace(alternatives=others)
