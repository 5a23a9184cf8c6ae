# mypy: disable-error-code="import-not-found, misc, no-untyped-call"
"""Multi-head attention as a module of PyTorch, with gradients.

    import heed.torch
    layer = heed.torch.MultiHeadAttention(64, 8)
    layer(x, x, x).output.sum().backward()

Needs PyTorch, which the rest of the package does not.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from . import attention

__all__ = ["AttentionResult", "MultiHeadAttention"]


class AttentionResult(NamedTuple):
    """The result of attention, as tensors."""

    output: torch.Tensor
    """(B, Tq, D)"""
    weights: torch.Tensor | None
    """(B, H, Tq, Tk), without gradients; None unless requested."""


# The types that the layer computes in, by those of its parameters.
_DTYPES = {torch.float32: "float32", torch.float64: "float64"}


class MultiHeadAttention(torch.nn.Module):
    """`heed.MultiHeadAttention` with the same arguments, as a module: its parameters have the same names and can be
    trained by any optimizer, copied and stored. Dropout, in training mode only, and initial weights come from `seed`.
    It computes in the type of its parameters, which `float()` and `double()` change, on the CPU."""

    def __init__(self, d_model: int, heads: int, *, dropout: float = 0.1, seed: int = 1, **options: Any) -> None:
        super().__init__()
        self._options: dict[str, Any] = {"d_model": d_model, "heads": heads, "seed": seed, **options}
        self._dropout = dropout
        # A layer keeps what the gradients of one pass need, so each pass takes one, and gives it back.
        self._idle: dict[tuple[bool, str], list[attention.MultiHeadAttention]] = {}
        self._passes = 0
        kind = False, str(options.get("dtype", "float32"))
        layer = self._layer(kind)
        self._names = layer.parameter_names
        for name in self._names:
            self._register(name, torch.nn.Parameter(torch.from_numpy(layer.parameter(name))))
        self._give_back(kind, layer)

    def __getstate__(self) -> dict[str, Any]:
        """Of copies and pickles, which make layers of their own."""
        return {**self.__dict__, "_idle": {}}

    def _register(self, name: str, parameter: torch.nn.Parameter) -> None:
        path, _, last = name.rpartition(".")
        module: torch.nn.Module = self
        if path:
            if not hasattr(self, path):
                self.add_module(path, torch.nn.Module())
            module = self.get_submodule(path)
        module.register_parameter(last, parameter)

    def _layer(self, kind: tuple[bool, str]) -> attention.MultiHeadAttention:
        """A layer for a pass; kind: whether in training mode, and its type."""
        if self._idle.get(kind):
            return self._idle[kind].pop()
        self._passes += 1
        training, dtype = kind
        options = {**self._options, "dropout": self._dropout if training else 0.0, "dtype": dtype}
        options["seed"] += self._passes - 1  # layers of concurrent passes have dropout of their own
        return attention.MultiHeadAttention(**options)

    def _give_back(self, kind: tuple[bool, str], layer: attention.MultiHeadAttention) -> None:
        self._idle.setdefault(kind, []).append(layer)

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        *,
        padding: Any = None,
        look_ahead: bool = False,
        mask: Any = None,
        weights: bool = False,
    ) -> AttentionResult:
        """As `heed.MultiHeadAttention`; gradients reach query, key, value and all parameters."""
        choices = {"padding": padding, "look_ahead": look_ahead, "mask": mask, "weights": weights}
        key, value = _apart(key, query), _apart(value, query, key)
        parameters = [self.get_parameter(name) for name in self._names]
        tensors = (query, key, value, *parameters)
        records = torch.is_grad_enabled() and any(each.requires_grad for each in tensors)
        output, shown = _Attention.apply(self, choices, records, *tensors)
        return AttentionResult(output, shown)


def _apart(tensor: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
    """A copy of a tensor that shares its memory with another one, as `x.detach()` does with `x`: the layer takes arrays
    of the same memory for one, which has all of the gradient."""
    shares = any(tensor is not other and tensor.data_ptr() == other.data_ptr() for other in others)
    return tensor.clone() if shares else tensor


class _Gradient(torch.autograd.Function):
    """A gradient that may be part of a loss: an error where its own derivative is needed, which is not computed."""

    @staticmethod
    def forward(ctx: Any, gradient: torch.Tensor, *causes: torch.Tensor) -> torch.Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, *_: Any) -> tuple[Any, ...]:
        raise RuntimeError("heed.torch: the gradients of gradients are not computed: leave out create_graph=True")


class _Attention(torch.autograd.Function):
    """The pass and its derivative, as autograd calls them."""

    @staticmethod
    def forward(
        ctx: Any, module: MultiHeadAttention, choices: dict[str, Any], records: bool, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        types = {each.dtype for each in tensors[3:]}
        if len(types) > 1 or not types <= _DTYPES.keys():
            raise TypeError(
                f"heed.torch: the parameters are of {', '.join(sorted(map(str, types)))}: call float() or double() of the"
                " layer, which computes in float32 or float64"
            )
        kind = module.training, _DTYPES[types.pop()]
        layer = module._layer(kind)
        for name, parameter in zip(module._names, tensors[3:], strict=True):
            layer.set_parameter(name, parameter.detach())
        has_dropout = module.training and module._dropout > 0
        compute = layer.forward_training if records or has_dropout else layer
        result = compute(*(each.detach() for each in tensors[:3]), **choices)
        if records:
            ctx.save_for_backward(*tensors[:3])  # which notices that they were changed in place
            ctx.module, ctx.layer, ctx.kind = module, layer, kind
        else:
            module._give_back(kind, layer)
        shown = None if result.weights is None else torch.from_numpy(result.weights)
        if shown is not None:
            ctx.mark_non_differentiable(shown)
        return torch.from_numpy(result.output), shown

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor, _: Any) -> tuple[Any, ...]:
        ctx.saved_tensors  # raises if an input was changed in place
        if ctx.layer is None:
            raise RuntimeError("heed.torch: the gradients of a pass can be computed once; run it again for others")
        layer, ctx.layer = ctx.layer, None
        gradients = layer.backward(upstream.detach().contiguous())
        ctx.module._give_back(ctx.kind, layer)
        arrays = [*gradients[:3], *(gradients.parameters[name] for name in ctx.module._names)]
        found = [None if each is None else torch.from_numpy(each) for each in arrays]
        if torch.is_grad_enabled():  # create_graph=True
            causes = [upstream, *ctx.saved_tensors, *map(ctx.module.get_parameter, ctx.module._names)]
            found = [None if each is None else _Gradient.apply(each, *causes) for each in found]
        return (None, None, None, *found)
