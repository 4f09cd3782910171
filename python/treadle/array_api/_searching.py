"""Places of elements, and elements of places."""

from treadle import _core, _indexing
from treadle._arrays import asarray
from treadle._core import Tensor
from treadle.array_api._checks import axes_of, axis_of, require_tensor


def _extreme(name: str, x: Tensor, axis, keepdims: bool) -> Tensor:
    import numpy as np

    require_tensor(name, x)
    if axis is not None:
        axis = axis_of(name, axis, x.ndim)
    return asarray(np.asarray(getattr(np, name)(np.asarray(x), axis=axis, keepdims=keepdims), np.int64), device=x.device)


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place (int64) of the first largest element along an axis, or of the flattened x; that of NaN where one is."""
    return _extreme("argmax", x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The place (int64) of the first smallest element along an axis, or of the flattened x; that of NaN where one is."""
    return _extreme("argmin", x, axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """How many elements along axes are not 0, in int64."""
    require_tensor("count_nonzero", x)
    axes, found = axes_of("count_nonzero", axis, x.ndim), _core.not_equal(x, False).to(_core.int64)
    return _core.sum(found, axes, keepdims) if axes else found


def nonzero(x: Tensor, /) -> tuple:
    """The places of all elements that are not 0: for each axis a tensor of int64. Raises ShapeError for rank 0."""
    import numpy as np

    require_tensor("nonzero", x)
    if x.ndim == 0:
        raise _core.ShapeError("nonzero: a tensor of rank 0 has no places")
    return tuple(asarray(places, device=x.device) for places in np.asarray(x).nonzero())


def searchsorted(x1: Tensor, x2, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where to put elements of x2 into the ascending x1 [N], in int64: before equal ones, or behind them (side="right").

    sorter: the places that sort x1. Raises ValueError for another side.
    """
    import numpy as np

    require_tensor("searchsorted", x1)
    if side not in ("left", "right"):
        raise _core.ValueError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    places = np.asarray(x1).searchsorted(np.asarray(x2), side, None if sorter is None else np.asarray(sorter))
    return asarray(np.asarray(places, np.int64), device=x1.device)


def where(condition: Tensor, x1: Tensor | float, x2: Tensor | float, /) -> Tensor:
    """x1 where the condition (bool) holds, else x2; broadcast. One of the two may be a number."""
    require_tensor("where", condition)
    return _core.where(condition, x1, x2)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The elements at these places along an axis, which a tensor of one axis need not name; negative ones count back."""
    require_tensor("take", x)
    if axis is None and x.ndim != 1:
        raise _core.ValueError(f"take: an axis is needed for shape {x.shape}")
    return x[(slice(None),) * axis_of("take", axis or 0, x.ndim) + (indices,)]


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """y[…, i, …] = x[…, indices[…, i, …], …]: a place for each element of the result; other axes broadcast."""
    import numpy as np

    require_tensor("take_along_axis", x)
    axis = axis_of("take_along_axis", axis, x.ndim)
    places = np.take_along_axis(np.arange(x.size).reshape(x.shape), np.asarray(indices), axis)
    return _core.reshape(_indexing._select(_core.reshape(x, (-1,)), 0, places.reshape(-1)), places.shape)


__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "take", "take_along_axis", "where"]
