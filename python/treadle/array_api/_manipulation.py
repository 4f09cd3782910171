"""The same elements in other shapes and orders, repeated, put together and taken apart. All have gradients."""

import math

from treadle import _core, _indexing
from treadle._core import Tensor
from treadle._creation import concat, stack, unbind
from treadle.array_api._checks import axes_of, axis_of, require_tensor


def broadcast_shapes(*shapes: tuple) -> tuple:
    """The shape that all broadcast to. Raises ShapeError (a ValueError) where there is none."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for axis, extent in enumerate(shape, rank - len(shape)):
            if extent != 1 and result[axis] not in (1, extent):
                raise _core.ShapeError(f"broadcast_shapes: {' and '.join(map(str, shapes))} do not broadcast")
            if extent != 1:
                result[axis] = extent
    return tuple(result)


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """x repeated along axes of extent 1 and new leading axes, as a view."""
    require_tensor("broadcast_to", x)
    return _core.expand(x, shape)


def broadcast_arrays(*arrays: Tensor) -> list:
    """The tensors in the shape that all broadcast to, as views."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [broadcast_to(x, shape) for x in arrays]


def expand_dims(x: Tensor, /, *, axis: int = 0) -> Tensor:
    """x with a new axis of extent 1, or several, at these places of the result."""
    require_tensor("expand_dims", x)
    axes = axis if isinstance(axis, tuple) else (axis,)
    for one in sorted(axes_of("expand_dims", axes, x.ndim + len(axes))):
        x = _core.unsqueeze(x, one)
    return x


def squeeze(x: Tensor, /, axis) -> Tensor:
    """x without these axes, which have extent 1. Raises ShapeError (a ValueError) for others."""
    require_tensor("squeeze", x)
    for one in sorted(axes_of("squeeze", axis, x.ndim), reverse=True):
        x = _core.squeeze(x, one)
    return x


def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements in reverse order along these axes, or all."""
    require_tensor("flip", x)
    key = [slice(None)] * x.ndim
    for one in axes_of("flip", axis, x.ndim):
        key[one] = slice(None, None, -1)
    return x[tuple(key)]


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Axis i of the result is axis axes[i] of x."""
    require_tensor("permute_dims", x)
    return _core.permute(x, axes)


def moveaxis(x: Tensor, source, destination, /) -> Tensor:
    """x with these axes at other places; the others keep their order."""
    require_tensor("moveaxis", x)
    source, destination = axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim)
    if len(source) != len(destination):
        raise _core.ShapeError(f"moveaxis: {len(source)} axes for {len(destination)} places")
    order = [axis for axis in range(x.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return _core.permute(x, order)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in row-major order under another shape; one extent may be -1. A view where it can be, unless `copy`.

    Raises ValueError where copy=False and it cannot.
    """
    require_tensor("reshape", x)
    result = _core.reshape(x, tuple(shape))
    if copy:
        return _core.clone(result)
    if copy is False and x.size and result.data_ptr() != x.data_ptr():
        raise _core.ValueError(f"reshape: from {x.shape} with strides {x.strides} to {tuple(shape)} only by a copy")
    return result


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements moved by `shift` places along axes, or of the flattened x; those that leave come in at the other end."""
    require_tensor("roll", x)
    if axis is None:
        return _core.reshape(roll(_core.reshape(x, (-1,)), shift, axis=0), x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise _core.ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    for by, one in zip(shifts, axes):
        one = axis_of("roll", one, x.ndim)
        extent = x.shape[one]
        by = by % extent if extent else 0
        if by:
            x = _core.concat([_core.slice(x, one, extent - by), _core.slice(x, one, 0, extent - by)], one)
    return x


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """x laid side by side, repetitions[i] times along axis i; the shorter of shape and repetitions gets leading ones."""
    require_tensor("tile", x)
    rank = max(x.ndim, len(repetitions))
    shape = (1,) * (rank - x.ndim) + x.shape
    times = (1,) * (rank - len(repetitions)) + tuple(repetitions)
    x = _core.reshape(x, shape)
    for axis, count in enumerate(times):
        x = _core.concat([x] * count, axis) if count else _core.slice(x, axis, 0, 0)
    return x


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element along an axis (of the flattened x for None) `repeats` times: a number, or one for each element."""
    import numpy as np

    require_tensor("repeat", x)
    if axis is None:
        x, axis = _core.reshape(x, (-1,)), 0
    axis = axis_of("repeat", axis, x.ndim)
    counts = np.asarray(repeats) if isinstance(repeats, Tensor) else repeats
    return _indexing._select(x, axis, np.repeat(np.arange(x.shape[axis]), counts))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple:
    """The views of x at each place along an axis, without it."""
    require_tensor("unstack", x)
    return unbind(x, axis_of("unstack", axis, x.ndim))


def merged(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """x with these axes merged into one, the last."""
    others = [axis for axis in range(x.ndim) if axis not in axes]
    extent = math.prod(x.shape[axis] for axis in axes)
    return _core.reshape(_core.permute(x, [*others, *axes]), (*(x.shape[axis] for axis in others), extent))


__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis", "permute_dims",
    "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]
