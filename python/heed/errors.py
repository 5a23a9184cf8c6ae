"""The exception of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:

    class Error(Exception):
        """Bad input: an invalid option, shape, file or text. The message says what is wrong, where, and what to do."""

        kind: str
        """"usage", "shape", "not_found", "file", "format", "text" or "numeric"."""

else:
    from ._heed import Error


def usage_error(message: str) -> Error:
    """A heed.Error about an invalid option."""
    return _error("usage", message)


def shape_error(message: str) -> Error:
    """A heed.Error about an array of a wrong shape."""
    return _error("shape", message)


def _error(kind: str, message: str) -> Error:
    error = Error(message)
    error.kind = kind
    return error


__all__ = ["Error", "shape_error", "usage_error"]
