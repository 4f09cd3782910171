"""What users of the surface call data: nested lists on the cpu, Treadle's tensors on other devices."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from treadle import _core
from treadle._arrays import tensor

Data: TypeAlias = Any  # nested lists of numbers, or a tensor of Treadle's
Shape: TypeAlias = tuple[int, ...]


def elements_of(data: Data, device: str, shape: Sequence[int] | None = None) -> _core.Tensor:
    """The elements on the device, cut off from any graph. `data` may be the pair of data and shape that Operations
    return. Raises ShapeError where `shape` says another shape than the data have."""
    if _is_result(data):
        data = data[0]
    dtype = _core.float64 if device == "cpu" else _core.float32
    if isinstance(data, _core.Tensor):
        elements = data.detach().to(device).to(dtype)
    else:
        elements = tensor(data, dtype=_core.float64).to(dtype).to(device)
    if shape is not None and elements.shape != tuple(shape):
        raise _core.ShapeError(f"the data have shape {elements.shape}, the call says {tuple(shape)}")
    return elements


def data_of(elements: _core.Tensor) -> Data:
    """What the user gets of them."""
    return elements.tolist() if elements.device == "cpu" else elements


def _is_result(data: Data) -> bool:
    if not (isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], tuple)):
        return False
    return isinstance(data[0], (list, _core.Tensor)) and all(isinstance(extent, int) for extent in data[1])
