"""Modes of automatic differentiation, as context managers and as decorators."""

from __future__ import annotations

import contextlib

from treadle import _core

TYPE_CHECKING = False  # as of typing, whose import takes time
if TYPE_CHECKING:
    from typing import TypeVar

    S = TypeVar("S", bound="_Scope")


class _Scope(contextlib.ContextDecorator):
    """A scope of the library, which may be entered again while it is entered."""

    _kind: type

    def __init__(self) -> None:
        self._scope = self._kind()

    def _recreate_cm(self: S) -> S:
        """As a decorator: for each call a scope of its own, as calls may be on several threads."""
        return type(self)()

    def __enter__(self: S) -> S:
        self._scope.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._scope.__exit__(*error)


class no_grad(_Scope):
    """While entered, ops of this thread leave nothing for gradients."""

    _kind = _core.NoGrad


class enable_grad(_Scope):
    """While entered, ops of this thread are differentiated."""

    _kind = _core.EnableGrad
