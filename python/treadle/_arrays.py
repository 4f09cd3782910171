"""Tensors from NumPy, Python and other libraries, and the other way; copies and pickles."""

from typing import TYPE_CHECKING, Any

from treadle import _core
from treadle._core import Tensor
from treadle._types import DTypeLike

if TYPE_CHECKING:
    import numpy as np

__all__ = ["asarray", "from_dlpack", "from_numpy", "tensor"]


def from_numpy(array: "np.ndarray") -> Tensor:
    """A tensor over the array's memory: no copy, writes show in both. The array stays alive as long as the tensor.

    Raises TypeError for what is no array, ValueError for negative steps and for arrays that cannot be written.
    """
    import numpy as np

    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy: {type(array).__name__} is not a NumPy array")
    if not array.flags.writeable:
        raise _core.ValueError("from_numpy: the array is read-only; treadle.tensor() copies it")
    return _core.from_array(_native(array))


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of what has __dlpack__ (PyTorch, NumPy, JAX, CuPy): no copy unless `copy` is True.

    device: where the tensor is to lie; None means where x lies. Raises BufferError where copy=False and a copy is needed,
    TypeError for what has no __dlpack__, ValueError for memory that is read-only.
    """
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"from_dlpack: {type(x).__name__} has no __dlpack__")
    try:
        result = _core.from_array(x)
    except RuntimeError as error:
        if isinstance(error, _core.Error):
            raise
        raise _core.ValueError(f"from_dlpack: {type(x).__name__} gives no memory that may be written") from error
    if copy and (device is None or device == result.device):
        return _core.clone(result)
    if device is not None and result.device != device:
        if copy is False:
            raise BufferError(f"from_dlpack: from {result.device} to {device} only with a copy")
        return result.to(device)
    return result


def tensor(data: Any, dtype: DTypeLike | None = None, device: str = "cpu", requires_grad: bool = False) -> Tensor:
    """A new tensor with a copy of `data`: numbers, nested sequences, arrays or a tensor.

    Python's floats become float32, ints int64 and bools bool unless `dtype` says otherwise; arrays keep their dtype.
    Raises TypeError for what does not hold numbers, ValueError for rows of different lengths.
    """
    if isinstance(data, Tensor):
        result = data.detach().clone()
    else:
        result = _core.from_array(_copied(data, dtype))
    if dtype is not None:
        result = result.to(_core.dtype(dtype))
    if device != "cpu":
        result = result.to(device)
    if requires_grad:
        result.requires_grad = True
    return result


def asarray(
    data: Any, dtype: DTypeLike | None = None, device: str | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor of `data`, over its memory where it can be: of tensors, writable arrays and what has __dlpack__.

    copy: True always copies; False raises ValueError where a copy is needed. Otherwise as tensor().
    """
    if copy or not _is_array(data):
        if copy is False:
            raise _core.ValueError(f"asarray: {type(data).__name__} becomes a tensor only by a copy")
        return tensor(data, dtype=dtype, device=device or "cpu")
    shared = data if isinstance(data, Tensor) else _shared(data)
    if shared is None:
        if copy is False:
            raise _core.ValueError(f"asarray: a tensor cannot lie over the memory of this {type(data).__name__}: copy it")
        return tensor(data, dtype=dtype, device=device or "cpu")
    result = shared.to(*([] if dtype is None else [_core.dtype(dtype)]), *([] if device is None else [device]))
    if copy is False and not result.same_as(shared):
        raise _core.ValueError(f"asarray: from {shared.dtype.name} on {shared.device} only by a copy")
    return result


def _is_array(data) -> bool:
    return hasattr(data, "__dlpack__") or hasattr(data, "__array_interface__")


def _shared(data) -> Tensor | None:
    """A tensor over the memory of an array, where one can lie there."""
    import numpy as np

    if not isinstance(data, np.ndarray):
        return from_dlpack(data) if hasattr(data, "__dlpack__") else None
    flags = data.flags
    if data.dtype.byteorder == ">" or not (flags.writeable and flags.aligned) or any(step < 0 for step in data.strides):
        return None
    return _core.from_array(data)


def _native(array: "np.ndarray") -> "np.ndarray":
    if array.dtype.byteorder == ">":
        raise _core.DTypeError(f"from_numpy: {array.dtype} has the other byte order; treadle.tensor() copies it")
    return array


def _copied(data, dtype) -> "np.ndarray":
    """A row-major copy in a dtype that tensors have. Python's floats become float32."""
    import numpy as np

    try:
        array = np.array(data, order="C")
    except ValueError as error:
        raise _core.ValueError(f"tensor: {type(data).__name__} does not hold numbers in rows of one length") from error
    if array.dtype == object or array.dtype.kind in "USVmM":
        raise TypeError(f"tensor: {type(data).__name__} does not hold numbers")
    if array.dtype == np.float64 and dtype is None and not hasattr(data, "dtype") and not _holds_arrays(data):
        array = array.astype(np.float32)
    elif array.dtype == np.float64 and array.size == 0 and not hasattr(data, "dtype"):
        array = array.astype(np.float32)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _holds_arrays(data) -> bool:
    """Whether a nested sequence ends in NumPy's numbers or arrays, whose dtype counts."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return hasattr(data, "dtype")


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> "np.ndarray":
    """For numpy.asarray(): over the same memory where that is on the cpu and the dtype the same; bfloat16 as float32."""
    if copy is False and (self.device.startswith("cuda") or self.dtype == _core.bfloat16):
        raise _core.ValueError(f"a NumPy array of a {self.dtype.name} tensor on {self.device} is a copy")
    x = self.detach().to("cpu")
    array = (x.to(_core.float32) if x.dtype == _core.bfloat16 else x).numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise _core.ValueError(f"a NumPy array of {dtype} of a {self.dtype.name} tensor is a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def _from_bytes(data: bytes, dtype: str, shape: tuple, device: str, requires_grad: bool) -> Tensor:
    """What a pickle holds, as a tensor."""
    import numpy as np

    kept = _core.dtype(dtype)
    bits = np.frombuffer(bytearray(data), np.int16 if kept == _core.bfloat16 else dtype).reshape(shape)
    x = _core.from_array(bits)
    if kept == _core.bfloat16:
        x = _core._reinterpreted(x, kept)
    x = x.to(device)
    if requires_grad:
        x.requires_grad = True
    return x


def _reduce(self: Tensor) -> tuple:
    if self.requires_grad and not self.is_leaf:
        raise _core.AutogradError("only leaves are pickled and copied deeply: detach() the tensor first")
    x = _core.contiguous(self.detach().to("cpu"))
    if x.dtype == _core.bfloat16:
        x = _core._reinterpreted(x, _core.int16)
    return _from_bytes, (x.numpy().tobytes(), self.dtype.name, self.shape, self.device, self.requires_grad)


def _deepcopy(self: Tensor, memo: dict) -> Tensor:
    """A leaf of its own with a copy of the elements, and of the gradient."""
    if self.requires_grad and not self.is_leaf:
        raise _core.AutogradError("only leaves are pickled and copied deeply: detach() the tensor first")
    with _core.NoGrad():
        copy = _core.clone(self.detach())
        if self.requires_grad:
            copy.requires_grad = True
        if self.grad is not None:
            copy.grad = _core.clone(self.grad)
    return copy


def _tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers."""
    return _array(self).tolist()


Tensor.__array__ = _array
Tensor.__reduce__ = _reduce
Tensor.__copy__ = lambda self: Tensor(self)  # one more name
Tensor.__deepcopy__ = _deepcopy
Tensor.__array_ufunc__ = None  # NumPy leaves operators with a tensor to the tensor
Tensor.tolist = _tolist
