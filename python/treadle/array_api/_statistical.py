"""Sums, products, means and extremes along axes."""

import math

from treadle import _core, _formula
from treadle._core import DType, Tensor
from treadle.array_api._checks import axes_of, axis_of, require_floating, require_tensor
from treadle.array_api._manipulation import flip, merged


def _reduced(name: str, op, x: Tensor, axis, keepdims: bool) -> Tensor:
    """op along the axes; along none, which ops take as all, nothing is reduced."""
    axes = axes_of(name, axis, x.ndim)
    return op(x, axes, keepdims) if axes else x.to(x.dtype, copy=True)


def _in_dtype(x: Tensor, dtype) -> Tensor:
    """What sums and products add up in: small integers in int64 unless a dtype is asked for."""
    if dtype is not None:
        return x.to(_core.dtype(dtype))
    return x if x.dtype.is_floating_point else x.to(_core.int64)


def sum(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, dtype: DType | None = None, keepdims: bool = False
) -> Tensor:
    """The sum along axes; integers and bools in int64 unless `dtype` says otherwise. Of nothing it is 0."""
    require_tensor("sum", x)
    x = _in_dtype(x, dtype)
    return _reduced("sum", _core.sum, x, axis, keepdims).to(x.dtype)


def prod(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, dtype: DType | None = None, keepdims: bool = False
) -> Tensor:
    """The product along axes; integers and bools in int64 unless `dtype` says otherwise. Of nothing it is 1.

    Halves are multiplied with each other, so the gradient needs no division and is right where elements are 0.
    """
    require_tensor("prod", x)
    x = _in_dtype(x, dtype)
    axes = axes_of("prod", axis, x.ndim)
    shape = tuple(1 if i in axes else extent for i, extent in enumerate(x.shape))
    rows = merged(x, axes)
    while rows.shape[-1] > 1:
        half = rows.shape[-1] // 2
        rest = [_core.slice(rows, -1, 2 * half)] if rows.shape[-1] % 2 else []
        rows = _core.concat([_core.slice(rows, -1, 0, half) * _core.slice(rows, -1, half, 2 * half), *rest], -1)
    kept = shape if keepdims else tuple(extent for i, extent in enumerate(x.shape) if i not in axes)
    return _core.reshape(rows, kept) if rows.shape[-1] else _core.full(kept, 1, x.dtype, x.device)


def mean(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """The mean along axes, NaN of nothing."""
    require_floating("mean", x)
    return _reduced("mean", _core.mean, x, axis, keepdims)


def var(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Σ (x - mean)² / (n - correction) of the n elements along axes; NaN where the divisor is not above 0."""
    require_floating("var", x)
    axes = axes_of("var", axis, x.ndim)
    count = math.prod(x.shape[one] for one in axes)
    centred = x - _core.mean(x, axes, True) if axes else x - x
    squares = _reduced("var", _core.sum, centred * centred, axes, keepdims)
    return squares / (count - correction) if count > correction else squares * float("nan")


def std(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The square root of var()."""
    return _core.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def max(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """The largest element along axes; NaN where one is; the gradient goes to the first. Raises ShapeError for none."""
    require_tensor("max", x)
    return _reduced("max", _core.max, x, axis, keepdims)


def min(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """The smallest element along axes; NaN where one is; the gradient goes to the first. Raises ShapeError for none."""
    require_tensor("min", x)
    return _reduced("min", _core.min, x, axis, keepdims)


def _scan_axis(name: str, x: Tensor, axis) -> int:
    if axis is None and x.ndim != 1:
        raise _core.ValueError(f"{name}: an axis is needed for shape {x.shape}")
    return axis_of(name, 0 if axis is None else axis, x.ndim)


def _with_initial(y: Tensor, axis: int, value: int, include: bool) -> Tensor:
    if not include:
        return y
    shape = tuple(1 if i == axis else extent for i, extent in enumerate(y.shape))
    return _core.concat([_core.full(shape, value, y.dtype, y.device), y], axis)


def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """The sums of the elements up to each along an axis, 0 before the first where `include_initial` says so."""
    require_tensor("cumulative_sum", x)
    axis = _scan_axis("cumulative_sum", x, axis)

    def gradient(dy, x):
        return [flip(cumulative_sum(flip(dy, axis=axis), axis=axis), axis=axis)]

    sums = _formula.computed(
        "cumulative_sum", lambda values: values.cumsum(axis, values.dtype), [_in_dtype(x, dtype)], gradient
    )
    return _with_initial(sums, axis, 0, include_initial)


def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: DType | None = None, include_initial: bool = False
) -> Tensor:
    """The products of the elements up to each along an axis, 1 before the first where `include_initial` says so.

    In log2(n) passes (Hillis and Steele, Data Parallel Algorithms, 1986), whose gradients need no division.
    """
    require_tensor("cumulative_prod", x)
    axis = _scan_axis("cumulative_prod", x, axis)
    y, extent, step = _in_dtype(x, dtype), x.shape[axis], 1
    while step < extent:
        later = _core.slice(y, axis, step) * _core.slice(y, axis, 0, extent - step)
        y, step = _core.concat([_core.slice(y, axis, 0, step), later], axis), 2 * step
    return _with_initial(y if step > 1 else y.to(y.dtype, copy=True), axis, 1, include_initial)


__all__ = ["cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"]
