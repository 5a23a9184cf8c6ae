"""Sentence embeddings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from . import _heed
from ._arguments import call_of, heads_of, path_of, set_options, text_of, text_or_texts
from .trace import Trace

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Embedding(NamedTuple):
    """The vector of a text, from `Embedder.embed(..., details=True)`."""

    vector: npt.NDArray[np.float32]
    """(width,)"""
    truncated: bool
    """Whether the text was longer than the maximum."""


class Embedder:
    """A loaded model of sentence embeddings. May be used by several threads, one of which computes at a time.

    directory: a directory of sentence-transformers, or of any other encoder that Heed reads (docs/embeddings.md).
    threads: 0 for one per processor. Results do not depend on it.
    pooling: "mean", "cls", "max" or "mean_sqrt_len_tokens"; None: the model's, or the mean.
    normalize: whether vectors have length 1; None: the model's, or not.
    prompt: the name of a prompt of the model, which is put before each text; None: the model's, or none.
    Raises heed.Error if the directory is missing, or is no encoder, and for unknown names.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        threads: int = 0,
        *,
        pooling: str | None = None,
        normalize: bool | None = None,
        prompt: str | None = None,
    ) -> None:
        options = set_options(_heed.EmbedderOptions(), threads=threads, normalize=normalize, prompt=prompt)
        if pooling is not None:
            options.set_pooling(text_of("pooling", pooling))
        self._model = _heed.Embedder(path_of("directory", directory), options)
        self._made_by = call_of(
            self, os.fspath(directory), threads=threads, pooling=pooling, normalize=normalize, prompt=prompt
        )

    def __repr__(self) -> str:
        return self._made_by

    @property
    def width(self) -> int:
        """The width of the vectors."""
        return self._model.width()

    @property
    def max_length(self) -> int:
        """The maximum length of a text in tokens, including special tokens; longer texts are truncated."""
        return self._model.max_length()

    @overload
    def embed(self, text: str, *, details: Literal[False] = False) -> npt.NDArray[np.float32]: ...

    @overload
    def embed(
        self, text: list[str] | tuple[str, ...], *, details: Literal[False] = False
    ) -> npt.NDArray[np.float32]: ...

    @overload
    def embed(self, text: str, *, details: Literal[True]) -> Embedding: ...

    @overload
    def embed(self, text: list[str] | tuple[str, ...], *, details: Literal[True]) -> list[Embedding]: ...

    def embed(self, text: str | Sequence[str], *, details: bool = False) -> Any:
        """The vector of a text, (width,), or of each text of a list, (texts, width), float32; with details,
        `Embedding` objects.

        Vectors do not depend on what else is in the list. Every text has one, also an empty one.
        """
        single = isinstance(text, str)
        texts = text_or_texts("text", text)
        found = self._model.embed(texts)
        vectors: Any = found.vectors
        if details:
            results = [Embedding(vector, truncated) for vector, truncated in zip(vectors, found.truncated)]
            return results[0] if single else results
        return vectors[0] if single else vectors

    def attend(self, text: str, ablate: str | Sequence[str] = ()) -> Trace:
        """The attention weights of all heads and layers for a text, in `Trace.encoder`; `Trace.target` is empty.
        `ablate` as in `Translator.attend`. Raises heed.Error for a text longer than the maximum."""
        return Trace(self._model.attend(text_of("text", text), heads_of(ablate)))
