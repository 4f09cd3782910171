"""Order."""

from treadle._arrays import asarray
from treadle._core import Tensor
from treadle.array_api._checks import axis_of, require_tensor
from treadle.array_api._searching import take_along_axis


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places (int64) that sort x along an axis; equal elements keep their order. NaN count as largest."""
    import numpy as np

    require_tensor("argsort", x)
    axis = axis_of("argsort", axis, x.ndim)
    values = np.asarray(x)
    if descending:  # of the reversed elements, so that equal ones keep their order
        places = x.shape[axis] - 1 - np.flip(np.flip(values, axis).argsort(axis, kind="stable"), axis)
    else:
        places = values.argsort(axis, kind="stable")
    return asarray(np.ascontiguousarray(places, np.int64), device=x.device)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """x in order along an axis; the gradient goes to where each element came from. NaN count as largest."""
    require_tensor("sort", x)
    return take_along_axis(x, argsort(x, axis=axis, descending=descending, stable=stable), axis=axis)


__all__ = ["argsort", "sort"]
