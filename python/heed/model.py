"""A model for given token ids: logits, hidden states, hooks, and decoding step by step."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _heed
from ._arguments import call_of, ids_of, path_of, text_of
from .errors import shape_error

if TYPE_CHECKING:  # who only translates need not load NumPy
    import numpy as np
    import numpy.typing as npt


class HookedState(NamedTuple):
    """A state that passes a hook: a vector for each token that the stack reads at this time. All of a text, or in a
    step of `Decoding` the last token of each row."""

    name: str
    """Such as "cross:3:5", with numbers instead of "all"."""
    positions: list[int]
    """Of each token in its sequence, from 0."""
    values: npt.NDArray[np.float32]
    """(tokens, width), a copy that may be kept. The model goes on with what is in it after the call."""


Hook = Callable[[HookedState], Any]


class ForwardResult(NamedTuple):
    """What `Model.forward` computes."""

    logits: npt.NDArray[np.float32] | None
    """(tokens, vocabulary): logits[t] are of the token that follows position t of the decoder, of a masked language
    model of the token at t. With last_only (1, vocabulary); of a classifier (1, classes); None without a head."""
    encoder: list[npt.NDArray[np.float32]]
    """With hidden_states, (tokens, width) before the first layer and after each one, the last after the final norm:
    the `hidden_states` of Hugging Face's library."""
    decoder: list[npt.NDArray[np.float32]]
    """The same of the decoder."""


class Decoding:
    """A text that is being decoded, with its cache, from `Model.start`. For one thread at a time.

    Each row is a continuation of the text; all have the same length.
    """

    def __init__(self, decoding: Any) -> None:
        self._decoding = decoding

    @property
    def logits(self) -> npt.NDArray[np.float32]:
        """(rows, vocabulary): of the token that follows each row, as the model gives them. What a search forbids, such
        as the padding token, is up to the caller."""
        array: npt.NDArray[np.float32] = self._decoding.logits()
        return array

    @property
    def rows(self) -> int:
        """1 after `Model.start`."""
        return int(self._decoding.rows())

    @property
    def length(self) -> int:
        """The number of tokens that the decoder has read, in each row."""
        return int(self._decoding.length())

    def step(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> npt.NDArray[np.float32]:
        """Reads one token more in each of the new rows; returns their logits.

        New row r continues row parents[r] with tokens[r]; a row may be continued several times or not at all. Without
        parents, row r continues row r.
        Raises heed.Error for numbers of tokens or parents that do not match, for ids and rows that are not there,
        beyond the maximum length of the model, and after an exception in an earlier step.
        """
        rows = [] if parents is None else ids_of("parents", parents)
        array: npt.NDArray[np.float32] = self._decoding.step(ids_of("tokens", tokens), rows)
        return array


class Model:
    """A loaded model of any task, for token ids (`Tokenizer`). May be used by several threads at once; a call computes
    on one thread.

    directory, precision: as of `Translator`.
    Raises heed.Error if the directory is missing or is no model.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        precision: Literal["", "float32", "int8", "int4", "bfloat16"] = "",
    ) -> None:
        self._model = _heed.Model(path_of("directory", directory), precision)
        self._made_by = call_of(self, os.fspath(directory), precision=precision)

    def __repr__(self) -> str:
        return self._made_by

    @property
    def has_encoder(self) -> bool:
        """Whether it reads a source or is an encoder alone."""
        return bool(self._model.has_encoder())

    @property
    def has_decoder(self) -> bool:
        """Whether it writes text."""
        return bool(self._model.has_decoder())

    def layers(self, stack: Literal["encoder", "decoder", "cross"]) -> int:
        """0 for a stack that the model does not have."""
        return int(self._model.layers(stack))

    def heads(self, stack: Literal["encoder", "decoder", "cross"]) -> int:
        """Attention heads of each layer; 0 also for a recurrent network."""
        return int(self._model.heads(stack))

    @property
    def vocabulary_size(self) -> int:
        """Ids of the decoder, or of an encoder alone, are 0 to this - 1."""
        return int(self._model.vocabulary_size())

    @property
    def source_vocabulary_size(self) -> int:
        """Ids of a source are 0 to this - 1."""
        return int(self._model.source_vocabulary_size())

    @property
    def max_length(self) -> int:
        """The maximum number of tokens of each stack; 0 for no limit."""
        return int(self._model.max_length())

    @property
    def start_id(self) -> int:
        """The token that the decoder reads first; -1 for none."""
        return int(self._model.start_id())

    @property
    def end_ids(self) -> list[int]:
        """The tokens that end a text."""
        return list(self._model.end_ids())

    def forward(
        self,
        ids: Sequence[int],
        decoder_ids: Sequence[int] | None = None,
        *,
        last_only: bool = False,
        hidden_states: bool = False,
        types: Sequence[int] | None = None,
        hooks: Mapping[str, Hook] | None = None,
    ) -> ForwardResult:
        """One forward pass.

        ids: what the model reads; of a model with encoder and decoder its source. decoder_ids: what the decoder of such
        a model reads, `start_id` first; None for `start_id` alone. last_only: logits of the last position alone.
        hidden_states: also those of all layers. types: token types of an encoder. hooks: functions by the names of
        states, such as "cross:3:5", "encoder:3:feed-forward", "decoder:all:layer", "encoder:embedding" and
        "decoder:output" (docs/library.md); each is called with a `HookedState`, and may write to its values or return
        an array that takes their place. An exception in one ends the pass and is raised here.
        Raises heed.Error for ids that are not in the vocabulary, too many ids, and names of states that the model does
        not have.
        """
        return ForwardResult(
            *self._model.forward(
                ids_of("ids", ids),
                [] if decoder_ids is None else ids_of("decoder_ids", decoder_ids),
                last_only,
                hidden_states,
                [] if types is None else ids_of("types", types),
                _functions_of(hooks),
            )
        )

    def start(
        self,
        ids: Sequence[int],
        decoder_ids: Sequence[int] | None = None,
        *,
        hooks: Mapping[str, Hook] | None = None,
    ) -> Decoding:
        """Begins a decoding: reads the source, or the prompt of a language model, so that `Decoding.logits` is of the
        next token.

        decoder_ids: as of `forward`. hooks: called in this and each step.
        Raises heed.Error as `forward`, and for a model without a decoder.
        """
        read = [] if decoder_ids is None else ids_of("decoder_ids", decoder_ids)
        return Decoding(self._model.start(ids_of("ids", ids), read, _functions_of(hooks)))


def _functions_of(hooks: Mapping[str, Hook] | None) -> list[tuple[str, Callable[[Any], None]]]:
    if hooks is None:
        return []
    if not isinstance(hooks, Mapping):
        raise TypeError(f"hooks must be a dict of functions by the names of states, not {type(hooks).__name__}")
    return [(text_of("the name of a hook", name), _function_of(name, hook)) for name, hook in hooks.items()]


def _function_of(name: str, hook: Hook) -> Callable[[Any], None]:
    """The function that is called with (name, positions, values)."""
    if not callable(hook):
        raise TypeError(f"the hook on {name!r} must be a function, not {type(hook).__name__}")
    import numpy as np

    def call(passing: tuple[str, list[int], npt.NDArray[np.float32]]) -> None:
        state = HookedState(*passing)
        values = hook(state)
        if values is None:
            return
        array = np.asarray(values, np.float32)
        if array.shape != state.values.shape:
            raise shape_error(
                f"the hook on {state.name!r} returned an array of shape {array.shape}: give one of shape"
                f" {state.values.shape}, or None"
            )
        state.values[...] = array

    return call
