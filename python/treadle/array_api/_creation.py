"""Making tensors. Dtypes follow the values where none is given; None as a device is the cpu."""

from typing import Any

from treadle import _arrays, _core, _creation
from treadle._core import DType, Tensor
from treadle._creation import empty_like, full_like, meshgrid as _meshgrid, ones_like, tril, triu, zeros_like

# The standard's names of arguments differ from the package's own in some places.


def _dtype(dtype) -> DType:
    return _core.float32 if dtype is None else _core.dtype(dtype)


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: DType | None = None, device: str | None = None
) -> Tensor:
    """start, start + step, … before stop; of one number 0, 1, … before it."""
    return _creation.arange(start, stop, step, dtype=dtype, device=device or "cpu")


def asarray(obj: Any, /, *, dtype: DType | None = None, device: str | None = None, copy: bool | None = None) -> Tensor:
    """A tensor of numbers, nested sequences, arrays and tensors, over their memory where it can be and `copy` allows."""
    return _arrays.asarray(obj, dtype=dtype, device=device, copy=copy)


def empty(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Memory that is not initialised."""
    return _creation.empty(shape, dtype=_dtype(dtype), device=device or "cpu")


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType | None = None, device: str | None = None
) -> Tensor:
    """[n_rows, n_cols] with ones on diagonal number k, zeros elsewhere."""
    return _creation.eye(n_rows, n_cols, k=k, dtype=_dtype(dtype), device=device or "cpu")


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of what has __dlpack__."""
    return _arrays.from_dlpack(x, device=device, copy=copy)


def full(shape: int | tuple[int, ...], fill_value: float, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """A tensor filled with a number, of the number's kind unless `dtype` says otherwise."""
    return _creation.full(shape, fill_value, dtype=dtype, device=device or "cpu")


def linspace(
    start: float, stop: float, /, num: int, *, dtype: DType | None = None, device: str | None = None, endpoint: bool = True
) -> Tensor:
    """`num` numbers at even distances from start to stop, the last one included unless `endpoint` is False."""
    return _creation.linspace(start, stop, num, endpoint=endpoint, dtype=_dtype(dtype), device=device or "cpu")


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> tuple:
    """Coordinates of a grid, as many tensors as are given."""
    return tuple(_meshgrid(*arrays, indexing=indexing))


def ones(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Ones."""
    return _creation.ones(shape, dtype=_dtype(dtype), device=device or "cpu")


def zeros(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Zeros."""
    return _creation.zeros(shape, dtype=_dtype(dtype), device=device or "cpu")


__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid", "ones",
    "ones_like", "tril", "triu", "zeros", "zeros_like",
]
