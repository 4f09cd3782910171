"""Tensors of values that a rule gives, and tensors put together and taken apart."""

import math
import operator
from collections.abc import Sequence

from treadle import _arrays, _core
from treadle._core import Tensor
from treadle._core._random import Generator
from treadle._types import DTypeLike

__all__ = [
    "arange", "cat", "chunk", "concat", "empty", "empty_like", "eye", "full", "full_like", "linspace", "meshgrid",
    "ones", "ones_like", "rand", "randn", "split", "stack", "tril", "triu", "unbind", "zeros", "zeros_like",
]


def _shape_of(shape) -> tuple:
    """The extents of f(2, 3) and of f((2, 3))."""
    if len(shape) == 1 and not hasattr(shape[0], "__index__"):
        shape = tuple(shape[0])
    return tuple(operator.index(extent) for extent in shape)


def _finished(x: Tensor, requires_grad: bool) -> Tensor:
    if requires_grad:
        x.requires_grad = True
    return x


def full(
    shape: int | Sequence[int],
    value: float,
    dtype: DTypeLike | None = None,
    device: str = "cpu",
    *,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of `shape` filled with a number; bool, int64 or float32 as the number is, unless `dtype` says otherwise."""
    shape = _shape_of((shape,) if not isinstance(shape, (tuple, list)) else shape)
    if dtype is None:
        dtype = _core.bool if isinstance(value, bool) else _core.int64 if isinstance(value, int) else _core.float32
    if isinstance(value, int) and abs(value) > 2**53 and not _core.dtype(dtype).is_floating_point:
        return _arrays.tensor(value, dtype=dtype, device=device).expand(shape).clone().contiguous()
    return _finished(_core.full(shape, float(value) if isinstance(value, float) else value, dtype, device), requires_grad)


def zeros(
    *shape: int | Sequence[int], dtype: DTypeLike = "float32", device: str = "cpu", requires_grad: bool = False
) -> Tensor:
    """Zeros: zeros(2, 3) or zeros((2, 3))."""
    return _finished(_core.full(_shape_of(shape), 0, dtype, device), requires_grad)


def ones(
    *shape: int | Sequence[int], dtype: DTypeLike = "float32", device: str = "cpu", requires_grad: bool = False
) -> Tensor:
    """Ones: ones(2, 3) or ones((2, 3))."""
    return _finished(_core.full(_shape_of(shape), 1, dtype, device), requires_grad)


def empty(
    *shape: int | Sequence[int], dtype: DTypeLike = "float32", device: str = "cpu", requires_grad: bool = False
) -> Tensor:
    """Memory that is not initialised: empty(2, 3) or empty((2, 3))."""
    return _finished(_core.empty(_shape_of(shape), dtype, device), requires_grad)


def rand(
    *shape: int | Sequence[int], dtype: DTypeLike = "float32", device: str = "cpu", generator: Generator | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Uniform numbers in [0, 1): rand(2, 3) or rand((2, 3)). Without a generator the process's draws them."""
    return _finished(_core.rand(_shape_of(shape), dtype, device, generator), requires_grad)


def randn(
    *shape: int | Sequence[int], dtype: DTypeLike = "float32", device: str = "cpu", generator: Generator | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers of mean 0 and deviation 1: randn(2, 3) or randn((2, 3)). Without a generator the process's draws them."""
    return _finished(_core.randn(_shape_of(shape), dtype, device, generator), requires_grad)


def full_like(x: Tensor, value: float, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """A tensor of x's shape, and of its dtype and device unless these are given, filled with a number."""
    return full(x.shape, value, dtype or x.dtype, device or x.device)


def zeros_like(x: Tensor, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Zeros of x's shape, and of its dtype and device unless these are given."""
    return full_like(x, 0, dtype, device)


def ones_like(x: Tensor, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Ones of x's shape, and of its dtype and device unless these are given."""
    return full_like(x, 1, dtype, device)


def empty_like(x: Tensor, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Uninitialised memory of x's shape, and of its dtype and device unless these are given."""
    return _core.empty(x.shape, dtype or x.dtype, device or x.device)


def arange(
    start: float, stop: float | None = None, step: float = 1, *, dtype: DTypeLike | None = None, device: str = "cpu"
) -> Tensor:
    """start, start + step, … before stop; of one number 0, 1, … before it. int64, or float32 where a number is a float.

    Raises ValueError for a step of 0 and for numbers that are not finite. A step that leads away from stop gives no element.
    """
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        dtype = _core.float32 if any(isinstance(x, float) for x in (start, stop, step)) else _core.int64
    if step != 0 and math.isfinite(stop - start) and (stop - start) / step <= 0:
        return _core.empty((0,), dtype, device)
    return _core.arange(start, stop, step, dtype, device)


def linspace(
    start: float, stop: float, num: int = 50, *, endpoint: bool = True, dtype: DTypeLike = "float32", device: str = "cpu"
) -> Tensor:
    """`num` numbers at even distances from start to stop, which is the last one unless `endpoint` is False.

    Computed in double. Raises ValueError for a negative number of them.
    """
    import numpy as np

    if num < 0:
        raise _core.ValueError(f"linspace: {num} numbers")
    return _core.from_array(np.linspace(start, stop, num, endpoint=endpoint)).to(_core.dtype(dtype)).to(device)


def eye(rows: int, columns: int | None = None, *, k: int = 0, dtype: DTypeLike = "float32", device: str = "cpu") -> Tensor:
    """[rows, columns] with ones on the diagonal number k (above 0: above the main one), zeros elsewhere."""
    columns = rows if columns is None else columns
    i = _core.unsqueeze(_core.arange(0, rows, 1, "int64", device), 1)
    return (_core.arange(0, columns, 1, "int64", device) - i == k).to(_core.dtype(dtype))


def _triangle(x: Tensor, keep, name: str) -> Tensor:
    if x.ndim < 2:
        raise _core.ShapeError(f"{name}: matrices are expected, not shape {x.shape}")
    rows = _core.unsqueeze(_core.arange(0, x.shape[-2], 1, "int64", x.device), 1)
    columns = _core.arange(0, x.shape[-1], 1, "int64", x.device)
    return _core.where(keep(columns - rows), x, False if x.dtype == _core.bool else 0)


def tril(x: Tensor, k: int = 0) -> Tensor:
    """Matrices [..., M, N] with zeros above the diagonal number k."""
    return _triangle(x, lambda above: above <= k, "tril")


def triu(x: Tensor, k: int = 0) -> Tensor:
    """Matrices [..., M, N] with zeros below the diagonal number k."""
    return _triangle(x, lambda above: above >= k, "triu")


def meshgrid(*tensors: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Coordinates of a grid: for tensors of one axis, extents n1, n2, …, as many tensors of shape [n1, n2, …].

    With indexing="xy" the first two axes are swapped, as in NumPy; "ij" leaves them. Raises ValueError for another word.
    """
    if indexing not in ("xy", "ij"):
        raise _core.ValueError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    for x in tensors:
        if x.ndim != 1:
            raise _core.ShapeError(f"meshgrid: tensors of one axis are expected, not shape {x.shape}")
    rank = len(tensors)
    order = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else list(range(rank))
    shape = tuple(tensors[i].shape[0] for i in order)
    places = [order.index(i) for i in range(rank)]
    return [
        _core.clone(_core.expand(x.reshape(*(-1 if axis == place else 1 for axis in range(rank))), shape))
        for x, place in zip(tensors, places)
    ]


def axis_of(name: str, axis: int, rank: int) -> int:
    """The axis counted from the beginning. Raises ShapeError (a ValueError) for one that is not there."""
    if not -rank <= axis < rank:
        raise _core.ShapeError(f"{name}: axis {axis} is out of range for rank {rank}")
    return axis % rank


def concat(tensors: Sequence[Tensor], axis: int | None = 0) -> Tensor:
    """Tensors one behind the other along an axis; None stands for the flattened ones. They are promoted to one dtype.

    Raises ValueError for no tensors, ShapeError for shapes that differ in another axis.
    """
    tensors = list(tensors)
    if axis is None:
        tensors, axis = [x.reshape(-1) for x in tensors], 0
    if len({x.dtype for x in tensors}) > 1:
        dtype = _core.result_type(*tensors)
        tensors = [x.to(dtype) for x in tensors]
    return _core.concat(tensors, axis)


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """concat(), as PyTorch's users know it."""
    return concat(tensors, dim)


def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis. Raises ShapeError for shapes that differ, ValueError for no tensors."""
    tensors = list(tensors)
    if not tensors:
        raise _core.ValueError("stack: no tensors")
    for x in tensors:
        if x.shape != tensors[0].shape:
            raise _core.ShapeError(f"stack: shapes {tensors[0].shape} and {x.shape}")
    axis = axis_of("stack", axis, tensors[0].ndim + 1)
    return concat([_core.unsqueeze(x, axis) for x in tensors], axis)


def split(x: Tensor, sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Parts of x along an axis, as views: of `sections` elements each (the last may be shorter), or of the extents in a list.

    Raises ValueError unless the extents add up to that of the axis.
    """
    axis = axis_of("split", axis, x.ndim)
    extent = x.shape[axis]
    if hasattr(sections, "__index__"):
        size = operator.index(sections)
        if size < 1:
            raise _core.ValueError(f"split: parts of {size} elements")
        sections = [min(size, extent - begin) for begin in range(0, extent, size)] or [0]
    if sum(sections) != extent or any(size < 0 for size in sections):
        raise _core.ValueError(f"split: parts of {list(sections)} elements are not an axis of extent {extent}")
    parts, begin = [], 0
    for size in sections:
        parts.append(_core.slice(x, axis, begin, begin + size))
        begin += size
    return parts


def chunk(x: Tensor, count: int, axis: int = 0) -> list[Tensor]:
    """x in at most `count` parts of one extent along an axis; the last may be shorter."""
    if count < 1:
        raise _core.ValueError(f"chunk: {count} parts")
    extent = x.shape[axis_of("chunk", axis, x.ndim)]
    return split(x, max(1, -(-extent // count)), axis)


def unbind(x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """The views of x at each place along an axis, without it."""
    axis = axis_of("unbind", axis, x.ndim)
    return tuple(_core.squeeze(_core.slice(x, axis, i, i + 1), axis) for i in range(x.shape[axis]))


for _function in (split, chunk, unbind, tril, triu):
    setattr(Tensor, _function.__name__, _function)
