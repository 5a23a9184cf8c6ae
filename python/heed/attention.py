"""Multi-head attention.

    Attention(Q, K, V, M) = softmax(Q K^T / sqrt(d_k) + M) V
    MultiHead(Q, K, V)    = Concat(head_1, ..., head_H) W_o

Symbols: B sentences, T tokens per padded sentence (Tq queries, Tk keys), N tokens in total in packed batches without
padding, model width D, H heads, head width d_k = D / H (Vaswani et al., "Attention is all you need", 2017).

Inputs are arrays of NumPy, PyTorch or any other library with DLPack or the buffer protocol, in the memory of the CPU;
they are not copied if they are contiguous. Results are NumPy arrays; `torch.from_dlpack(result.output)` is a PyTorch
tensor over the same memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from . import _heed
from ._arguments import call_of, detached, integers_of, set_options, text_of, with_arrays

if TYPE_CHECKING:  # who only translates need not load NumPy
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[Any]


class AttentionResult(NamedTuple):
    """The result of attention."""

    output: Array
    """(B, Tq, D), or (..., Tq, d_v) of scaled_dot_product_attention."""
    weights: Array | None
    """(B, H, Tq, Tk), or (..., Tq, Tk); None unless requested."""


class PackedAttentionResult(NamedTuple):
    """The result of attention for a packed batch."""

    output: Array
    """(Nq, D)"""
    weights: list[Array]
    """For each sentence (H, Tq, Tk); empty unless requested."""


class AttentionGradients(NamedTuple):
    """d(sum of output * upstream) / d(everything)."""

    query: Array
    """Of the same shapes as the inputs. If one array was given for several inputs, the first has the total gradient
    and the others are None."""
    key: Array | None
    value: Array | None
    parameters: dict[str, Array]
    """By name."""


class MultiHeadAttention:
    """The multi-head attention layer.

    d_model: D, the width of queries and output; must be divisible by `heads`, H.
    key_width, value_width: widths of the key and value inputs; 0: d_model.
    bias: in the four linear layers. dropout: of the attention weights, in training only.
    seed: of the initial parameters and of dropout. dtype: "float32" or "float64", of parameters, inputs and outputs.
    positions: "none", or for self-attention "rotary", "rotary_interleaved", "relative" (Shaw) or "buckets" (T5), with
    the options after it (docs/positions-and-norms.md).
    Weights are initialized as in Glorot and Bengio (2010), biases with 0. Raises heed.Error for invalid options.

    Calls may come from several threads at once; training and setting of parameters may not.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        key_width: int = 0,
        value_width: int = 0,
        bias: bool = True,
        dropout: float = 0.1,
        seed: int = 1,
        dtype: str = "float32",
        positions: str = "none",
        max_relative_distance: int = 16,
        buckets: int = 32,
        bucket_max_distance: int = 128,
        bidirectional: bool = True,
        rotary_base: float = 10000.0,
    ) -> None:
        options = set_options(
            _heed.MultiHeadAttentionOptions(),
            d_model=d_model,
            heads=heads,
            key_width=key_width,
            value_width=value_width,
            bias=bias,
            dropout=dropout,
            seed=seed,
        )
        options.set_dtype(text_of("dtype", dtype))
        options.set_positions(
            text_of("positions", positions), max_relative_distance, buckets, bucket_max_distance, bidirectional, rotary_base
        )
        self._layer = _heed.MultiHeadAttention(options)
        self._made_by = call_of(
            self,
            d_model,
            heads,
            key_width=key_width,
            value_width=value_width,
            bias=bias,
            dropout=dropout,
            seed=seed,
            dtype=dtype,
            positions=positions,
            max_relative_distance=max_relative_distance,
            buckets=buckets,
            bucket_max_distance=bucket_max_distance,
            bidirectional=bidirectional,
            rotary_base=rotary_base,
        )

    def __repr__(self) -> str:
        return self._made_by

    @property
    def parameter_names(self) -> list[str]:
        """q_proj.weight, q_proj.bias, and likewise k_proj, v_proj and out_proj, as in PyTorch and Hugging Face; before
        them the tables of relative positions."""
        return list(self._layer.parameter_names())

    def parameter(self, name: str) -> Array:
        """A copy of a parameter; weights are (output width, input width). Raises heed.Error for an unknown name."""
        return cast("Array", self._layer.parameter(text_of("name", name)))

    def set_parameter(self, name: str, value: Any) -> None:
        """Stores a copy of an array, such as a parameter of PyTorch, converted to the type of the layer. Raises
        heed.Error for another shape."""
        with_arrays(self._layer.set_parameter, text_of("name", name), value=detached(value))

    def __call__(
        self,
        query: Any,
        key: Any,
        value: Any,
        *,
        padding: Any = None,
        look_ahead: bool = False,
        mask: Any = None,
        bias: Any = None,
        weights: bool = False,
    ) -> AttentionResult:
        """query (B, Tq, D), key (B, Tk, key_width), value (B, Tk, value_width) -> output (B, Tq, D).

        For self-attention, give the same array three times: it is then projected in one product.
        padding: uint8 or bool (B, Tk), 1 for tokens, 0 for keys that are hidden from all queries of the sentence.
        look_ahead: causal mask; queries see no later keys. The last query is aligned with the last key.
        mask: uint8 or bool (Tq, Tk), (H, Tq, Tk) or (B, H, Tq, Tk), 1 visible, 0 hidden. B and H may be 1.
        bias: added to the scores, in the type of the layer, with the shapes of `mask`.
        weights: return the weights too. Without them, and without masks other than look_ahead, memory is linear in
        the length instead of quadratic.
        A key is visible if all masks allow it; if no key is, the weights of the query are 0.
        Raises heed.Error for other shapes and types, and TypeError for what is no array.
        """
        arrays = {"query": query, "key": key, "value": value, "padding": padding, "mask": mask, "bias": bias}
        return self._forward(arrays, training=False, look_ahead=look_ahead, weights=weights)

    def forward_training(
        self,
        query: Any,
        key: Any,
        value: Any,
        *,
        padding: Any = None,
        look_ahead: bool = False,
        mask: Any = None,
        bias: Any = None,
        weights: bool = False,
    ) -> AttentionResult:
        """The same with dropout, and keeps what `backward` needs, the inputs included: do not change them before.
        Each call samples new dropout masks; the returned weights are those before dropout."""
        arrays = {"query": query, "key": key, "value": value, "padding": padding, "mask": mask, "bias": bias}
        return self._forward(arrays, training=True, look_ahead=look_ahead, weights=weights)

    def _forward(
        self, arrays: dict[str, Any], *, training: bool, look_ahead: bool, weights: bool
    ) -> AttentionResult:
        flags = (training, bool(look_ahead), bool(weights))
        return AttentionResult(*with_arrays(self._layer.forward, *flags, **arrays))

    def forward_packed(
        self,
        query: Any,
        key: Any,
        value: Any,
        query_offsets: Sequence[int],
        key_offsets: Sequence[int],
        *,
        look_ahead: bool = False,
        weights: bool = False,
    ) -> PackedAttentionResult:
        """A packed batch of sentences without padding: query (Nq, D), key (Nk, key_width), value (Nk, value_width).

        Sentence b has the queries [query_offsets[b], query_offsets[b + 1]), and keys likewise; the first offset is 0,
        the last N. The output of a sentence is bit-identical to that of a call for it alone.
        """
        fixed = (False, *_offsets_of(query_offsets, key_offsets), bool(look_ahead), bool(weights))
        return PackedAttentionResult(
            *with_arrays(self._layer.forward_packed, *fixed, query=query, key=key, value=value)
        )

    def forward_packed_training(
        self,
        query: Any,
        key: Any,
        value: Any,
        query_offsets: Sequence[int],
        key_offsets: Sequence[int],
        *,
        look_ahead: bool = False,
        weights: bool = False,
    ) -> PackedAttentionResult:
        """`forward_packed` with dropout, and keeps what `backward` needs."""
        fixed = (True, *_offsets_of(query_offsets, key_offsets), bool(look_ahead), bool(weights))
        return PackedAttentionResult(
            *with_arrays(self._layer.forward_packed, *fixed, query=query, key=key, value=value)
        )

    def backward(self, upstream: Any) -> AttentionGradients:
        """The gradients of the last training pass, given the gradient of its output. Call it once per pass."""
        return AttentionGradients(*with_arrays(self._layer.backward, upstream=upstream))


def _offsets_of(query_offsets: Any, key_offsets: Any) -> tuple[list[int], list[int]]:
    return integers_of("query_offsets", query_offsets, 64), integers_of("key_offsets", key_offsets, 64)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    padding: Any = None,
    look_ahead: bool = False,
    mask: Any = None,
    bias: Any = None,
    weights: bool = False,
    scale: float = 0.0,
) -> AttentionResult:
    """query (..., Tq, d_k), key (..., Tk, d_k), value (..., Tk, d_v), with no, (B) or (B, H) leading axes, float32 or
    float64 -> output (..., Tq, d_v), weights (..., Tq, Tk). Scores are multiplied by `scale`; 0: 1 / sqrt(d_k). Masks as
    in `MultiHeadAttention`."""
    fixed = (bool(look_ahead), bool(weights), scale)
    arrays = {"query": query, "key": key, "value": value, "padding": padding, "mask": mask, "bias": bias}
    return AttentionResult(*with_arrays(_heed.scaled_dot_product_attention, *fixed, **arrays))


def padding_mask(lengths: Sequence[int], max_length: int) -> npt.NDArray[np.uint8]:
    """(B, max_length): 1 for the tokens of each sentence, 0 for the padding after them."""
    return cast("npt.NDArray[np.uint8]", _heed.padding_mask(integers_of("lengths", lengths, 64), max_length))


def look_ahead_mask(length: int) -> npt.NDArray[np.uint8]:
    """(length, length): 1 on and below the diagonal, so that a position attends to itself and preceding positions."""
    return cast("npt.NDArray[np.uint8]", _heed.look_ahead_mask(length))


def sinusoidal_positions(length: int, width: int, *, interleaved: bool = True) -> npt.NDArray[np.float32]:
    """(length, width): sine and cosine encodings, one row per position (Vaswani et al., 2017, section 3.5).

    interleaved: sines and cosines alternate, as in the paper; otherwise all sines come first, as in Marian.
    """
    return cast("npt.NDArray[np.float32]", _heed.sinusoidal_positions(length, width, interleaved))
