"""Checks of arguments that several modules share."""

from __future__ import annotations

import inspect
import operator
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any


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


def ids_of(name: str, value: Any) -> list[int]:
    """A list of integers from any sequence or array of them. Raises TypeError for anything else."""
    try:
        return [operator.index(each) for each in value]
    except TypeError:
        raise TypeError(f"{name} must be a list of int or an array of integers of one axis") from None


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


def _is_array(value: Any) -> bool:
    if hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return True
