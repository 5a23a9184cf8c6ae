"""Checks of arguments that several modules share."""

from __future__ import annotations

import inspect
import operator
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .errors import usage_error

_ELEMENTS = ("float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "bool")


def path_of(name: str, value: Any) -> bytes:
    """A path as bytes, which need not be text. Raises TypeError for anything but str, bytes and os.PathLike, and
    ValueError for what no file can be called."""
    try:
        path = os.fsencode(value)
    except TypeError:
        raise TypeError(f"{name} must be a path (str or os.PathLike), not {type(value).__name__}") from None
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has half of a surrogate pair at index {error.start}: it is no path") from None
    if b"\0" in path:
        raise ValueError(f"{name} has a null character at index {path.index(0)}: it is no path")
    return path


def texts_of(name: str, value: Any) -> list[str]:
    """A list of texts from any sequence or iterable of str. Raises as text_of(), with the index of the text."""
    if isinstance(value, (bytes, bytearray)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a str or a list of str, not {type(value).__name__}")
    texts = list(value)
    for index, text in enumerate(texts):
        text_of(f"{name}[{index}]", text)
    return texts


def text_or_texts(name: str, value: Any) -> list[str]:
    """One text, or those of texts_of()."""
    return [text_of(name, value)] if isinstance(value, str) else texts_of(name, value)


def text_of(name: str, value: Any) -> str:
    """Raises TypeError for anything but a str, and ValueError for one with a lone surrogate."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has half of a surrogate pair at index {error.start}: it is no text") from None
    return value


def pair_of(name: str, value: Any) -> tuple[str, str]:
    """Two texts. Raises TypeError for anything else, and ValueError for lone surrogates."""
    if not isinstance(value, (tuple, list)) or len(value) != 2 or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{name} must be a pair of str, not {value!r}")
    return text_of(f"{name}[0]", value[0]), text_of(f"{name}[1]", value[1])


def pairs_of(name: str, value: Any) -> list[tuple[str, str]]:
    """A list of pairs of texts from a mapping or an iterable. Raises as pair_of(), with the index of the pair."""
    pairs = value.items() if isinstance(value, Mapping) else value
    if isinstance(pairs, (str, bytes, bytearray)) or not isinstance(pairs, Iterable):
        raise TypeError(f"{name} must be a dict of str or a list of pairs of str, not {type(value).__name__}")
    return [pair_of(f"{name}[{index}]", pair) for index, pair in enumerate(pairs)]


def integers_of(name: str, value: Any, bits: int) -> list[int]:
    """A list of integers from any sequence or array of them. Raises TypeError for anything else, and heed.Error for one
    that is too large for a signed number of so many bits."""
    try:
        integers = [operator.index(each) for each in value]
    except TypeError:
        raise TypeError(f"{name} must be a list of int or an array of integers of one axis") from None
    for index, integer in enumerate(integers):
        if not -(2 ** (bits - 1)) <= integer < 2 ** (bits - 1):
            raise usage_error(f"{name}[{index}] is {integer}, which is beyond {bits} bits")
    return integers


def ids_of(name: str, value: Any) -> list[int]:
    """integers_of() for ids of tokens and other 32-bit integers."""
    return integers_of(name, value, 32)


def heads_of(ablate: str | Sequence[str]) -> list[str]:
    """The heads of `ablate`, one or several."""
    return text_or_texts("ablate", ablate)


def set_options(options: Any, **values: Any) -> Any:
    """Sets fields of an options object of the extension module. Raises TypeError that names the argument."""
    for name, value in values.items():
        try:
            setattr(options, name, value)
        except TypeError:
            raise TypeError(f"{name} cannot be {value!r} of type {type(value).__name__}") from None
    return options


def call_of(made: object, *arguments: Any, **options: Any) -> str:
    """The repr of an object as the call that makes it, with the options that are not the defaults:
    heed.Translator('models/de-en', threads=2). Of a class that a user has derived, with its name and the arguments of
    the class of this package, which its own need not resemble."""
    own = next(each for each in type(made).__mro__ if each.__module__.partition(".")[0] == __package__)
    defaults = inspect.signature(own).parameters
    written = [repr(each) for each in arguments]
    written += [f"{name}={value!r}" for name, value in options.items() if value != defaults[name].default]
    name = f"heed.{own.__name__}" if own is type(made) else type(made).__name__
    return f"{name}({', '.join(written)})"


def with_arrays(function: Callable[..., Any], *arguments: Any, **arrays: Any) -> Any:
    """Calls function(*arguments, *arrays). Raises TypeError that names the argument if one of `arrays` is no array,
    and for a tensor of PyTorch that requires gradients, which would be lost here; not within torch.no_grad()."""
    for name, array in arrays.items():
        if getattr(array, "requires_grad", False) is True and _records_gradients():
            raise TypeError(
                f"{name} requires gradients, which PyTorch cannot follow through this call: give {name}.detach(), or use"
                " heed.torch.MultiHeadAttention, whose gradients it knows"
            )
    try:
        return function(*arguments, *map(detached, arrays.values()))
    except TypeError:
        for name, array in arrays.items():
            elements = _unreadable_elements(array)
            if elements is not None:
                raise TypeError(
                    f"{name} has elements of {elements}: convert them to one of {', '.join(_ELEMENTS)}, in the byte order of"
                    " this machine"
                ) from None
            if array is not None and not _is_array(array):
                raise TypeError(
                    f"{name} must be an array in the memory of the CPU (NumPy, PyTorch, or another with DLPack or the"
                    f" buffer protocol), not {type(array).__name__}"
                ) from None
        raise


def detached(array: Any) -> Any:
    """A tensor of PyTorch without its gradients, which it does not give away; anything else as it is."""
    return array.detach() if getattr(array, "requires_grad", False) is True else array


def _records_gradients() -> bool:
    torch = sys.modules.get("torch")
    return torch is None or bool(torch.is_grad_enabled())


def _unreadable_elements(array: Any) -> str | None:
    """The type of the elements of an array of NumPy, if it is none that the extension module reads."""
    dtype: Any = getattr(array, "dtype", None)
    if not hasattr(dtype, "isnative") or (dtype.isnative and dtype.name in _ELEMENTS):
        return None
    return repr(dtype)


def _is_array(value: Any) -> bool:
    if hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return True
