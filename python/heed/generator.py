"""Text generation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

from . import _heed
from ._arguments import call_of, heads_of, path_of, text_of, texts_of
from ._options import options_from, with_options
from .trace import Trace

if TYPE_CHECKING:
    from ._option_types import GenerateOptions


class Generator:
    """A loaded language model. May be used by several threads at once.

    directory: a model directory of a decoder-only model (docs/model-format.md).
    threads: 0 for one per processor. Results do not depend on it.
    Raises heed.Error if the directory is missing, or is no language model.
    """

    def __init__(self, directory: str | os.PathLike[str], threads: int = 0) -> None:
        self._model = _heed.Generator(path_of("directory", directory), threads)
        self._made_by = call_of(self, os.fspath(directory), threads=threads)

    def __repr__(self) -> str:
        return self._made_by

    @overload
    def generate(
        self, prompt: str, *, on_text: Callable[[str], object] | None = None, **options: Unpack[GenerateOptions]
    ) -> str: ...

    @overload
    def generate(
        self, prompt: list[str] | tuple[str, ...], *, on_text: None = None, **options: Unpack[GenerateOptions]
    ) -> list[str]: ...

    @with_options(_heed.GenerateOptions)
    def generate(
        self,
        prompt: str | list[str] | tuple[str, ...],
        *,
        on_text: Callable[[str], object] | None = None,
        **options: Any,
    ) -> str | list[str]:
        """The continuation of a prompt, or of each prompt of a list.

        on_text: called with each new part of the text, for a single prompt; an exception in it ends the generation.
        None stands for the default in brackets. An option of sampling that is given turns sampling on.
        Raises heed.Error for invalid options and a prompt longer than the model's maximum.
        """
        chosen = options_from(_heed.GenerateOptions, options)
        if isinstance(prompt, str):
            return str(self._model.generate(prompt, chosen, on_text))
        prompts = texts_of("prompt", prompt)
        if on_text is not None:
            raise TypeError("on_text shows the text of a single prompt, not of a list")
        return list(self._model.generate_all(prompts, chosen))

    @with_options(_heed.GenerateOptions)
    def samples(self, prompt: str, count: int, **options: Unpack[GenerateOptions]) -> list[str]:
        """`count` continuations of a prompt, most probable first; with `beam` or `greedy`, at most the beam size."""
        chosen = options_from(_heed.GenerateOptions, options)
        return list(self._model.samples(text_of("prompt", prompt), count, chosen))

    def log_probability(self, text: str) -> float:
        """log P(text), conditional on the first token if the model has no start token."""
        return float(self._model.log_probability(text_of("text", text)))

    def perplexity(self, text: str) -> float:
        """exp of the mean negative log-probability per token. Raises heed.Error for a text without a token to score."""
        return float(self._model.perplexity(text_of("text", text)))

    def attend(self, text: str, ablate: str | Sequence[str] = ()) -> Trace:
        """The attention weights of all heads and layers for a text, in `Trace.decoder`; `ablate` as in
        `Translator.attend`."""
        return Trace(self._model.attend(text_of("text", text), heads_of(ablate)))
