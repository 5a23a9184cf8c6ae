"""Text to token ids and back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from . import _heed
from ._arguments import call_of, ids_of, path_of, text_of


class Tokens(NamedTuple):
    """The tokens of a text. All lists have the same length."""

    ids: list[int]
    pieces: list[str]
    """`Tokenizer.piece` of each id."""
    offsets: list[tuple[int, int]]
    """The characters of the text that each token comes from, `text[begin:end]`, whatever normalization made of them:
    several tokens may share a character, as in byte-level BPE. Empty at the beginning or end of the text for the
    special tokens around it."""
    texts: list[int]
    """The text that each token comes from: 0, or 1 for the second text of a pair; -1 for the special tokens around."""
    types: list[int]
    """What an encoder reads as token types."""


class SpecialTokens(NamedTuple):
    """The ids of special tokens; None where the vocabulary has none."""

    end: int | None
    unknown: int | None
    padding: int | None
    mask: int | None
    before: list[int]
    """What the model expects before a text, such as the token of its language."""
    after: list[int]
    """What the model expects after a text."""


class Tokenizer:
    """The tokenizer of a model directory; the weights are not read. May be used by several threads at once.

    Translation models have two sides, "source" and "target", which may have a vocabulary each; for other models both
    are the same. directory, source_language, target_language: as of `Translator`.
    Raises heed.Error if the directory is missing or is no model.
    """

    def __init__(
        self, directory: str | os.PathLike[str], *, source_language: str = "", target_language: str = ""
    ) -> None:
        self._tokenizer = _heed.Tokenizer(path_of("directory", directory), source_language, target_language)
        self._made_by = call_of(
            self, os.fspath(directory), source_language=source_language, target_language=target_language
        )

    def __repr__(self) -> str:
        return self._made_by

    def encode(
        self,
        text: str,
        *,
        side: Literal["source", "target"] = "source",
        frame: bool = True,
        special_tokens: bool = False,
    ) -> Tokens:
        """The tokens of a text as it is: unlike `Translator`, this neither splits sentences nor changes capitals.

        frame: with the special tokens that the model expects around a text. special_tokens: those in the text, such as
        <|endoftext|> and [MASK], stand for themselves; otherwise they are ordinary text (not of translation models).
        Raises heed.Error for text that the vocabulary cannot express.
        """
        return _tokens_of(self._tokenizer.encode(text_of("text", text), side, frame, special_tokens))

    def encode_pair(
        self, first: str, second: str, *, frame: bool = True, special_tokens: bool = False
    ) -> Tokens:
        """The tokens of two texts, as an encoder reads a pair; each offset is in the text that its token comes from.

        Raises heed.Error for other models than encoders.
        """
        return _tokens_of(
            self._tokenizer.encode_pair(
                text_of("first", first), text_of("second", second), frame, special_tokens
            )
        )

    def decode(self, ids: Sequence[int], *, side: Literal["source", "target"] = "target") -> str:
        """The text of ids, without special tokens.

        Raises heed.Error for an invalid id.
        """
        return str(self._tokenizer.decode(ids_of("ids", ids), side))

    def piece(self, id: int, *, side: Literal["source", "target"] = "target") -> str:
        """How an id is shown: "▁the" begins with a space, "##ing" continues a word, "</s>" is a special token.

        Raises heed.Error for an invalid id.
        """
        return str(self._tokenizer.piece(id, side))

    def find(self, piece: str, *, side: Literal["source", "target"] = "target") -> int | None:
        """The id that is shown so; None if there is none."""
        found: int | None = self._tokenizer.find(text_of("piece", piece), side)
        return found

    def vocabulary_size(self, *, side: Literal["source", "target"] = "target") -> int:
        """Ids are 0 to this - 1. A model may have more (`Model.vocabulary_size`), which no text uses."""
        return int(self._tokenizer.vocabulary_size(side))

    def special_tokens(self, *, side: Literal["source", "target"] = "target") -> SpecialTokens:
        """The ids of special tokens."""
        special = self._tokenizer.special_tokens(side)
        return SpecialTokens(
            special.end, special.unknown, special.padding, special.mask, special.before, special.after
        )


def _tokens_of(tokens: Any) -> Tokens:
    return Tokens(tokens.ids, tokens.pieces, tokens.offsets, tokens.texts, tokens.types)
