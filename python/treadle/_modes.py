"""Modes of automatic differentiation, as context managers and as decorators."""

from __future__ import annotations

import contextlib

from treadle import _core

TYPE_CHECKING = False  # as of typing, whose import takes time
if TYPE_CHECKING:
    from typing import Any, TypeVar

    S = TypeVar("S", bound="_Scope")


class _Scope(contextlib.ContextDecorator):
    """A scope of the library that may be entered again while it is entered."""

    _kind: type

    def __init__(self) -> None:
        self._entered: list[Any] = []

    def __enter__(self: S) -> S:
        self._entered.append(self._kind().__enter__())
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.pop().__exit__(*error)


class no_grad(_Scope):
    """While entered, ops of this thread leave nothing for gradients."""

    _kind = _core.NoGrad


class enable_grad(_Scope):
    """While entered, ops of this thread are differentiated."""

    _kind = _core.EnableGrad
