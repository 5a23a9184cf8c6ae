"""Attention weights of a model."""

from __future__ import annotations

import html
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _heed
from ._arguments import path_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FRAME = (
    '<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" style="width: 100%; height: {height}px; border: 0"'
    ' title="Attention of a Transformer"></iframe>'
)


class Trace:
    """The attention weights of all heads and layers for one sentence pair or text.

    `attend` of `Translator`, `Generator`, `Classifier` and `Embedder` returns it. At the end of a notebook cell it shows
    itself as the explorer: lines between the sentences, all heads, one head, and one query step by step.

    For one head, row q of the (queries, keys) matrix is softmax(q k^T / sqrt(d_k) + mask) over the keys: it sums to 1.
    """

    def __init__(self, trace: Any) -> None:
        self._trace = trace

    @property
    def model(self) -> str:
        """The name of the model directory."""
        return str(self._trace.model)

    @property
    def source(self) -> str:
        """The source text; empty for language models."""
        return str(self._trace.source)

    @property
    def target(self) -> str:
        """The translation, the text of a language model, or the label of a classifier."""
        return str(self._trace.target)

    @property
    def source_tokens(self) -> list[str]:
        """The tokens of the source: the keys of `cross`, and queries and keys of `encoder`."""
        return list(self._trace.source_tokens)

    @property
    def target_tokens(self) -> list[str]:
        """The output tokens, with the end token: the queries of `decoder` and `cross`. Of a language model, the tokens
        that follow those it reads: the text without its first token, and the likeliest next one."""
        return list(self._trace.target_tokens)

    @property
    def decoder_tokens(self) -> list[str]:
        """The input tokens of the decoder: the keys of `decoder`, and in a language model its queries, too."""
        return list(self._trace.decoder_tokens)

    @cached_property
    def log_probabilities(self) -> npt.NDArray[np.float32]:
        """The natural logarithm of the probability of each target token; empty if unknown."""
        return self._trace.log_probabilities()  # type: ignore[no-any-return]

    @cached_property
    def encoder(self) -> npt.NDArray[np.float32]:
        """Self-attention of the encoder: (layers, heads, queries, keys). All four are 0 if there is none."""
        return self._trace.encoder()  # type: ignore[no-any-return]

    @cached_property
    def decoder(self) -> npt.NDArray[np.float32]:
        """Masked self-attention of the decoder, likewise."""
        return self._trace.decoder()  # type: ignore[no-any-return]

    @cached_property
    def cross(self) -> npt.NDArray[np.float32]:
        """Cross-attention from the target to the source, likewise."""
        return self._trace.cross()  # type: ignore[no-any-return]

    def to_html(self) -> str:
        """The explorer with this trace in it, as one HTML page that loads nothing and needs no server."""
        return str(self._trace.to_html())

    def to_json(self) -> str:
        """The JSON of `heed attend --json`."""
        return str(self._trace.to_json())

    def to_text(self, columns: int = 80) -> str:
        """All heads as characters, in lines of at most `columns` (at least 20)."""
        return str(self._trace.to_text(columns))

    def save(self, path: Any, *, title: str = "", values: bool = False, heads_per_row: int = 0) -> None:
        """Writes a picture (.png, .svg, .pdf), the page (.html) or JSON (.json), by the ending of `path`.

        title: heading of a picture. values: write the weights into the cells, in percent. heads_per_row: 0 chooses.
        Raises heed.Error for another ending and for files that cannot be written.
        """
        name = path_of("path", path)
        if name.lower().endswith(b".html"):
            _heed.write_file(name, self.to_html())
        elif name.lower().endswith(b".json"):
            _heed.write_file(name, self.to_json())
        else:
            _heed.require_picture(name, ".html, .json, ")
            self._trace.save_picture(name, title, values, heads_per_row)

    def _repr_html_(self, height: int = 860) -> str:
        """The explorer in a frame of its own, so that the page and the notebook cannot disturb each other."""
        return _FRAME.format(page=html.escape(self.to_html(), quote=True), height=int(height))

    def __repr__(self) -> str:
        sizes = [
            f"{name} {'x'.join(map(str, stack.shape))}"
            for name, stack in (("encoder", self.encoder), ("decoder", self.decoder), ("cross", self.cross))
            if stack.size
        ]
        return f"<heed.Trace of {self.model!r}: {self.source!r} -> {self.target!r}; {', '.join(sizes)}>"
