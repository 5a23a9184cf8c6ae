"""Text generation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, overload

from . import _heed
from ._arguments import call_of, heads_of, path_of, set_options, text_of, texts_of
from .trace import Trace


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
        self,
        prompt: str,
        *,
        max_tokens: int | None = None,
        greedy: bool = False,
        beam: int = 0,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        repetition_penalty: float | None = None,
        seed: int = 1,
        stops: Sequence[str] = (),
        on_text: Callable[[str], object] | None = None,
    ) -> str: ...

    @overload
    def generate(
        self,
        prompt: list[str] | tuple[str, ...],
        *,
        max_tokens: int | None = None,
        greedy: bool = False,
        beam: int = 0,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        repetition_penalty: float | None = None,
        seed: int = 1,
        stops: Sequence[str] = (),
        on_text: None = None,
    ) -> list[str]: ...

    def generate(
        self,
        prompt: str | list[str] | tuple[str, ...],
        *,
        max_tokens: int | None = None,
        greedy: bool = False,
        beam: int = 0,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        repetition_penalty: float | None = None,
        seed: int = 1,
        stops: Sequence[str] = (),
        on_text: Callable[[str], object] | None = None,
    ) -> str | list[str]:
        """The continuation of a prompt, or of each prompt of a list.

        max_tokens: maximum number of new tokens [256].
        greedy: the most probable token each time, instead of sampling. beam: beam search with this size; 0: none.
        temperature, top_k, top_p, min_p: sampling (docs/language-models.md) [1, 0, 0.9, 0].
        repetition_penalty: above 1 penalizes tokens that already occurred [1].
        seed: the same seed gives the same text. stops: the text ends before the first of these.
        on_text: called with each new part of the text, for a single prompt; an exception in it ends the generation.
        None stands for the default of the model directory, or else the value in brackets.
        Raises heed.Error for invalid options and a prompt longer than the model's maximum.
        """
        options = _options(max_tokens, greedy, beam, temperature, top_k, top_p, min_p, repetition_penalty, seed, stops)
        if isinstance(prompt, str):
            return str(self._model.generate(prompt, options, on_text))
        prompts = texts_of("prompt", prompt)
        if on_text is not None:
            raise TypeError("on_text shows the text of a single prompt, not of a list")
        return list(self._model.generate_all(prompts, options))

    def samples(
        self,
        prompt: str,
        count: int,
        *,
        max_tokens: int | None = None,
        greedy: bool = False,
        beam: int = 0,
        temperature: float | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        repetition_penalty: float | None = None,
        seed: int = 1,
        stops: Sequence[str] = (),
    ) -> list[str]:
        """`count` continuations of a prompt, most probable first. Options as in `generate`; with `beam` or `greedy`,
        at most the beam size."""
        options = _options(max_tokens, greedy, beam, temperature, top_k, top_p, min_p, repetition_penalty, seed, stops)
        return list(self._model.samples(text_of("prompt", prompt), count, options))

    def log_probability(self, text: str) -> float:
        """log P(text), conditional on the first token if the model has no start token."""
        return float(self._model.log_probability(text_of("text", text)))

    def perplexity(self, text: str) -> float:
        """exp of the mean negative log-probability per token."""
        return float(self._model.perplexity(text_of("text", text)))

    def attend(self, text: str, ablate: str | Sequence[str] = ()) -> Trace:
        """The attention weights of all heads and layers for a text, in `Trace.decoder`; `ablate` as in
        `Translator.attend`."""
        return Trace(self._model.attend(text_of("text", text), heads_of(ablate)))


def _options(
    max_tokens: int | None,
    greedy: bool,
    beam: int,
    temperature: float | None,
    top_k: int | None,
    top_p: float | None,
    min_p: float | None,
    repetition_penalty: float | None,
    seed: int,
    stops: Sequence[str],
) -> Any:
    return set_options(
        _heed.GenerateOptions(),
        max_tokens=max_tokens,
        greedy=greedy,
        beam=beam,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        repetition_penalty=repetition_penalty,
        seed=seed,
        stops=[stops] if isinstance(stops, str) else texts_of("stops", stops),
    )
