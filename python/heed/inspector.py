"""The states of a model's layers, why it predicts what it predicts, and what carries the difference of two texts."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _heed
from ._arguments import call_of, path_of, text_of
from .errors import usage_error

if TYPE_CHECKING:  # who only translates need not load NumPy
    import numpy as np
    import numpy.typing as npt


class LensState(NamedTuple):
    """The vectors of all tokens at one point of a stack."""

    layer: int
    """Counted from 1; 0 before the first."""
    part: str
    """"embedding", "self-attention", "cross-attention", "feed-forward", "recurrence" or "output"."""
    values: npt.NDArray[np.float32]
    """(tokens, width)"""
    norms: npt.NDArray[np.float32]
    """The Euclidean norm of each token's vector."""
    added_norms: npt.NDArray[np.float32]
    """The norm of what the sub-layer added; empty where nothing is added."""
    predictions: list[list[tuple[str, float]]]
    """Of each token, the likeliest tokens with their probabilities, if the output layer read this vector; or empty."""
    expected: npt.NDArray[np.float32]
    """The probability of the expected token there; empty without predictions."""
    heads: npt.NDArray[np.float32]
    """With `parts`, of attention: what its heads mix, side by side (tokens, heads x head width); else (tokens, 0)."""
    added: npt.NDArray[np.float32]
    """With `parts`: what the sub-layer added (tokens, width); (tokens, 0) where nothing is added."""
    log_sums: npt.NDArray[np.float32]
    """With `parts`, of each token where there are predictions: the logarithm of the sum of exp(logits); or empty."""


class Lens:
    """The way of each token through the layers of a model, from `Inspector.lens`."""

    def __init__(self, lens: Any) -> None:
        self._lens = lens
        self.model: str = lens.model
        self.source: str = lens.source
        self.target: str = lens.target
        self.encoder_tokens: list[str] = lens.encoder.tokens
        self.decoder_tokens: list[str] = lens.decoder.tokens
        self.encoder_ids: list[int] = lens.encoder.ids
        self.decoder_ids: list[int] = lens.decoder.ids
        self.expected_tokens: list[str] = lens.expected_tokens

    @cached_property
    def encoder(self) -> list[LensState]:
        """The states of the encoder, from the embedding to the output; empty if there is none."""
        return _states_of(self._lens.encoder)

    @cached_property
    def decoder(self) -> list[LensState]:
        """The states of the decoder, likewise."""
        return _states_of(self._lens.decoder)

    @cached_property
    def encoder_embeddings(self) -> npt.NDArray[np.float32]:
        """With `parts`: the tokens' embeddings, scaled, before positions are added (tokens, width); else (tokens, 0)."""
        return _rows(self._lens.encoder.embeddings(), self._lens.encoder)

    @cached_property
    def decoder_embeddings(self) -> npt.NDArray[np.float32]:
        """Those of the decoder, likewise."""
        return _rows(self._lens.decoder.embeddings(), self._lens.decoder)

    def hidden_states(self, stack: Literal["encoder", "decoder"]) -> list[npt.NDArray[np.float32]]:
        """What Hugging Face's library calls so: after the embedding, after each layer, the last after the final norm.
        Raises heed.Error for another stack."""
        if stack not in ("encoder", "decoder"):
            raise usage_error(f"unknown stack {stack!r}: choose encoder or decoder")
        states, steps = (
            (self.encoder, self._lens.encoder.steps())
            if stack == "encoder"
            else (self.decoder, self._lens.decoder.steps())
        )
        return [states[step].values for step in steps]

    def to_json(self, details: bool = False) -> str:
        """The JSON of `heed lens --json`; details: with the vectors."""
        return str(self._lens.to_json(details))

    def to_text(
        self,
        columns: int = 80,
        *,
        stack: Literal["", "encoder", "decoder"] = "",
        show: Literal["predictions", "norms", "added"] = "predictions",
        token: int | str | None = None,
    ) -> str:
        """The table of `heed lens`, in lines of at most `columns` (at least 40).

        stack: by default the one that predicts tokens. show: the likeliest token of each state, the norm of its vector,
        or of what the sub-layer added. token: instead all that one token has (its position, counted from 1, or the
        token), on lines of any length.
        """
        if token is not None:
            return str(self._lens.token_to_text(_token_of(token), stack))
        return str(self._lens.to_text(stack, show, columns))

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        stack: Literal["", "encoder", "decoder"] = "",
        show: Literal["predictions", "norms", "added"] = "predictions",
    ) -> None:
        """Writes a heat map (.png, .svg, .pdf) or JSON (.json), by the ending of `path`.

        stack, show: as of `to_text`; of predictions, the picture has the probability of the expected token.
        Raises heed.Error for another ending and for files that cannot be written.
        """
        _save(path, self.to_json, lambda name: self._lens.save_picture(name, stack, show))


class TokenAttribution(NamedTuple):
    """The contributions to one target token."""

    token: int
    """Its index in `Attribution.target_tokens`, from 0."""
    instead: str
    """The alternative; empty for none."""
    log_probability: float
    """The natural logarithm of its probability, or of its ratio to that of the alternative."""
    values: npt.NDArray[np.float32]
    """Of the source tokens, then of the earlier target tokens."""
    sum: float
    difference: float | None
    """Of integrated gradients, what the sum should be."""
    evaluations: int
    """The forward passes over the sentence that it took."""


class Attribution:
    """How much each token contributes to what a model predicts, from `Inspector.attribute`."""

    def __init__(self, attribution: Any) -> None:
        self._attribution = attribution
        self.model: str = attribution.model
        self.source: str = attribution.source
        self.target: str = attribution.target
        self.source_tokens: list[str] = attribution.source_tokens
        self.target_tokens: list[str] = attribution.target_tokens
        self.method: str = attribution.method
        self.baseline: str = attribution.baseline
        """Of integrated gradients, "zero" or a token; else empty."""
        self.tokens: list[TokenAttribution] = [
            TokenAttribution(
                each.token,
                each.instead,
                each.log_probability,
                each.values(),
                each.sum,
                each.difference,
                each.evaluations,
            )
            for each in attribution.tokens
        ]

    def to_json(self) -> str:
        """The JSON of `heed attribute --json`."""
        return str(self._attribution.to_json())

    def to_text(self, columns: int = 80) -> str:
        """The table of `heed attribute`, in lines of at most `columns` (at least 40); a single token as bars."""
        return str(self._attribution.to_text(columns))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a heat map (.png, .svg, .pdf) or JSON (.json), by the ending of `path`.

        Raises heed.Error for another ending and for files that cannot be written.
        """
        _save(path, self.to_json, self._attribution.save_picture)


class PatchMap(NamedTuple):
    """The effects of activation patching in one stack."""

    rows: list[str]
    """Layers, counted from 1; of positions, "embedding" comes first."""
    columns: list[str]
    """Heads, counted from 1; "layer" and its sub-layers; or the tokens that the stack reads."""
    effects: npt.NDArray[np.float32]
    """(rows, columns): 1 where all of the difference comes back; NaN for a position without a counterpart."""


class Patching:
    """Which parts of a model carry the difference between two texts, from `Inspector.patch`."""

    def __init__(self, patching: Any) -> None:
        self._patching = patching
        self.model: str = patching.model
        self.source: str = patching.source
        self.other: str = patching.other
        self.target: str = patching.target
        self.source_tokens: list[str] = patching.source_tokens
        self.other_tokens: list[str] = patching.other_tokens
        self.target_tokens: list[str] = patching.target_tokens
        self.counterparts: list[int] = patching.counterparts
        """Of each source token, the index of its counterpart in `other_tokens`, from 0; -1 for none."""
        self.tokens: list[int] = patching.tokens
        """The target tokens whose log-probability is looked at, as indices of `target_tokens`."""
        self.instead: str = patching.instead
        self.what: str = patching.what
        self.clean: float = patching.clean
        """The log-probability after the text; with an alternative, its difference to that of the alternative."""
        self.corrupted: float = patching.corrupted
        """The same after the other text."""
        self.encoder = _map_of(patching.encoder)
        self.decoder = _map_of(patching.decoder)
        self.cross = _map_of(patching.cross)
        """The heads of cross-attention; without rows for layers and positions."""
        self.evaluations: int = patching.evaluations

    def to_json(self) -> str:
        """The JSON of `heed patch --json`."""
        return str(self._patching.to_json())

    def to_text(self, columns: int = 80) -> str:
        """The tables of `heed patch`, in lines of at most `columns` (at least 40)."""
        return str(self._patching.to_text(columns))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a heat map of each stack (.png, .svg, .pdf) or JSON (.json), by the ending of `path`.

        Raises heed.Error for another ending and for files that cannot be written.
        """
        _save(path, self.to_json, self._patching.save_picture)


class Inspector:
    """A loaded model of any task, to look into. May be used by several threads at once.

    directory, threads, source_language, target_language, precision: as of `Translator`.
    Raises heed.Error if the directory is missing or is no model.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        threads: int = 0,
        *,
        source_language: str = "",
        target_language: str = "",
        precision: Literal["", "float32", "int8", "int4", "bfloat16"] = "",
    ) -> None:
        self._model = _heed.Inspector(
            path_of("directory", directory), threads, source_language, target_language, precision
        )
        self._made_by = call_of(
            self,
            os.fspath(directory),
            threads=threads,
            source_language=source_language,
            target_language=target_language,
            precision=precision,
        )

    def __repr__(self) -> str:
        return self._made_by

    def lens(self, text: str, target: str | None = None, *, top: int = 5, parts: bool = False) -> Lens:
        """The way of each token through the layers.

        target: of a translation model, this instead of its own translation; of a language model, what follows the
        text. top: predictions for each token and state. parts: also the vectors of which the states are made:
        embeddings, the outputs of heads, what sub-layers add.
        Raises heed.Error for a text that is empty or longer than the model's maximum.
        """
        return Lens(self._model.lens(text_of("text", text), _target_of(target), top, parts))

    def attribute(
        self,
        text: str,
        target: str | None = None,
        *,
        token: int | str | None = None,
        instead: str = "",
        method: Literal["integrated", "gradient", "rollout", "leave-out"] = "integrated",
        baseline: str = "",
        tolerance: float = 0.06,
    ) -> Attribution:
        """How much each token contributes to the tokens of the target.

        target: a translation, continuation or label instead of the model's own. token: the target token to explain:
        its position, counted from 1, or the token ("bench", the second "bench:2"); None for all. instead: an
        alternative to that token. baseline: of integrated gradients, "zero" or a token of the vocabulary. tolerance: an
        interval of their path is divided while the estimated error on it is larger than this share of the sum of all
        magnitudes.
        Raises heed.Error for a text that is empty or too long, and for unknown tokens.
        """
        return Attribution(
            self._model.attribute(
                text_of("text", text),
                _target_of(target),
                _token_of(token),
                text_of("instead", instead),
                method,
                text_of("baseline", baseline),
                tolerance,
            )
        )

    def patch(
        self,
        text: str,
        other: str,
        target: str | None = None,
        *,
        what: Literal["heads", "layers", "positions"] = "heads",
        token: int | str | None = None,
        instead: str = "",
    ) -> Patching:
        """Which heads, layers or positions carry the difference between a text and another one.

        Activation patching: activations of the clean run on `text` replace those of the corrupted run on `other`, and
        the effect is how much of the difference in log-probability of the target that restores. target: a translation,
        continuation or label instead of the model's own of `text`. token: one token of it, as of `attribute`; None for
        all. instead: an alternative to that token.
        Raises heed.Error for a text that is empty or too long, for texts with the same tokens, for texts after which
        the target is equally likely, and for heads of a recurrent network.
        """
        return Patching(
            self._model.patch(
                text_of("text", text),
                text_of("other", other),
                _target_of(target),
                _token_of(token),
                text_of("instead", instead),
                what,
            )
        )


def _map_of(effects: Any) -> PatchMap:
    return PatchMap(effects.rows, effects.columns, effects.effects())


def _token_of(token: int | str | None) -> str:
    return "all" if token is None else text_of("token", str(token))


def _target_of(target: str | None) -> str:
    return "" if target is None else text_of("target", target)


def _states_of(stack: Any) -> list[LensState]:
    return [
        LensState(
            state.layer,
            state.part,
            state.values(),
            state.norms(),
            state.added_norms(),
            state.predictions(),
            state.expected(),
            _rows(state.heads(), stack),
            _rows(state.added(), stack),
            state.log_sums(),
        )
        for state in stack.states
    ]


def _rows(values: npt.NDArray[np.float32], stack: Any) -> npt.NDArray[np.float32]:
    """(tokens, width) of the vectors of all tokens; (tokens, 0) without them."""
    tokens = len(stack.tokens)
    return values.reshape(tokens, values.size // max(1, tokens))


def _save(path: Any, to_json: Callable[[], str], save_picture: Callable[[bytes], None]) -> None:
    name = path_of("path", path)
    if name.lower().endswith(b".json"):
        _heed.write_file(name, to_json())
    else:
        _heed.require_picture(name, ".json, ")
        save_picture(name)
