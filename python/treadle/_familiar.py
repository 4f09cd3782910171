"""PyTorch's spellings of what tensors have under other names. Importing it completes the class."""

from __future__ import annotations

from treadle import _core
from treadle._core import Tensor


def numel(self: Tensor) -> int:
    """How many elements there are: `size`."""
    return self.size


def dim(self: Tensor) -> int:
    """How many axes there are: `ndim`."""
    return self.ndim


def t(self: Tensor) -> Tensor:
    """The transpose of a matrix. Raises ShapeError for more axes than two."""
    if self.ndim > 2:
        raise _core.ShapeError(f"t() takes a matrix, not a tensor of shape {self.shape}")
    return self.T


def view(self: Tensor, *shape: int) -> Tensor:
    """reshape(): the elements under another shape; one extent may be -1."""
    return self.reshape(*shape)


def float(self: Tensor) -> Tensor:
    """In float32."""
    return self.to(_core.float32)


def double(self: Tensor) -> Tensor:
    """In float64."""
    return self.to(_core.float64)


def half(self: Tensor) -> Tensor:
    """In float16."""
    return self.to(_core.float16)


def long(self: Tensor) -> Tensor:
    """In int64."""
    return self.to(_core.int64)


def cpu(self: Tensor) -> Tensor:
    """On the processor."""
    return self.to("cpu")


def cuda(self: Tensor) -> Tensor:
    """On the GPU. Raises DeviceAbsent where there is none."""
    return self.to("cuda")


for _method in (numel, dim, t, view, float, double, half, long, cpu, cuda):
    setattr(Tensor, _method.__name__, _method)
