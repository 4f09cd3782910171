"""How tensors are printed: as NumPy prints arrays, with what is special of a tensor behind the values."""

import math

from treadle import _core
from treadle._core import Tensor

__all__ = ["set_printoptions"]

_options = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 100, "sci_mode": None}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    sci_mode: bool | None = None,
) -> None:
    """How repr() shows tensors.

    precision: digits behind the point. threshold: with more elements than this, only the `edgeitems` first and last of each
    axis are shown. linewidth: characters. sci_mode: whether numbers are written with exponents; None lets NumPy choose.
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is None:
            continue
        if value != math.inf and (not isinstance(value, int) or value < 0):
            raise _core.ValueError(f"set_printoptions: {name} is a number from 0 on, not {value!r}")
        _options[name] = value
    _options["sci_mode"] = sci_mode


def _corners(x: Tensor, edge: int) -> Tensor:
    """The elements that a shortened print shows, so that no more are moved and converted."""
    for axis, extent in enumerate(x.shape):
        if extent > 2 * edge + 1:
            # One in the middle stands for what is left out.
            x = _core.concat([_core.slice(x, axis, 0, edge + 1), _core.slice(x, axis, extent - edge, extent)], axis)
    return x


def _values(x: Tensor, prefix: str) -> str:
    import numpy as np

    shortened = x.size > _options["threshold"]
    shown = _corners(x, _options["edgeitems"]) if shortened else x
    formatter = None
    if _options["sci_mode"]:
        formatter = {"float_kind": lambda value: f"{value:.{_options['precision']}e}"}
    with np.errstate(all="ignore"):
        return np.array2string(
            np.asarray(shown),
            separator=", ",
            prefix=prefix,
            precision=_options["precision"],
            threshold=0 if shortened else np.inf,
            edgeitems=_options["edgeitems"],
            max_line_width=_options["linewidth"],
            suppress_small=_options["sci_mode"] is False,
            formatter=formatter,
        )


def _notes(x: Tensor) -> list:
    notes = []
    if x.size == 0 and x.shape != (0,) or x.size > _options["threshold"]:
        notes.append(f"shape={x.shape}")
    if x.dtype not in (_core.float32, _core.int64, _core.bool):
        notes.append(f"dtype={x.dtype.name}")
    if x.device != "cpu":
        notes.append(f"device='{x.device}'")
    if x.requires_grad:
        notes.append("requires_grad=True" if x.is_leaf else "has_gradient=True")
    return notes


def _repr(self: Tensor) -> str:
    if self._is_symbolic():
        return f"tensor(<recorded>, shape={self.shape}, dtype={self.dtype.name}, device='{self.device}')"
    with _core.NoGrad():
        values = _values(self.detach(), "tensor(")
    return ", ".join([f"tensor({values}", *_notes(self)]) + ")"


def _format(self: Tensor, spec: str) -> str:
    """Of a single element as of its number, so that f"{loss:.3f}" works."""
    if spec and self.size == 1:
        return format(self.item(), spec)
    return format(repr(self), spec)


Tensor.__repr__ = _repr
Tensor.__format__ = _format
