"""Tensors from NumPy and Python, indexing by arrays, and how tensors are printed."""

import numpy as np

from treadle import _core
from treadle._core import Tensor


def _dtype_of(array: np.ndarray) -> np.ndarray:
    """The array in a dtype that tensors have: Python's floats become f32."""
    return array


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor over the array's memory: no copy, writes show in both. The array stays alive as long as the tensor.

    Raises TypeError for what is no array, ValueError for negative steps and for arrays that cannot be written.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy: {type(array).__name__} is not a NumPy array")
    if not array.flags.writeable:
        raise ValueError("from_numpy: the array is read-only; treadle.tensor() copies it")
    return _core.from_array(array)


def tensor(data, dtype=None, device="cpu", requires_grad=False) -> Tensor:
    """A new tensor with a copy of `data`: numbers, nested sequences, arrays or a tensor.

    Python's floats become float32, ints int64 and bools bool unless `dtype` says otherwise; arrays keep their dtype.
    """
    if isinstance(data, Tensor):
        result = data.detach().clone()
    else:
        array = np.asarray(data)
        if dtype is None and array.dtype == np.float64 and not hasattr(data, "dtype") and not _holds_arrays(data):
            array = array.astype(np.float32)
        if array.dtype == object:
            raise TypeError(f"tensor: {type(data).__name__} does not hold numbers in rows of one length")
        result = _core.from_array(np.array(array, order="C", copy=True))
    if dtype is not None:
        result = result.to(_core.dtype(dtype))
    if device != "cpu":
        result = result.to(device)
    if requires_grad:
        result.requires_grad = True
    return result


def _holds_arrays(data) -> bool:
    """Whether a nested sequence ends in NumPy's numbers or arrays, whose dtype counts."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return hasattr(data, "dtype")


def _plain(key):
    """An index as NumPy takes it: tensors as their elements."""
    if isinstance(key, tuple):
        return tuple(_plain(entry) for entry in key)
    if isinstance(key, Tensor):
        return key.detach().to("cpu").numpy()
    return key


def _getitem(self: Tensor, key) -> Tensor:
    view = self._basic_view(key)
    if view is not None:
        return view
    # The places that NumPy would take, as one selection, which has a gradient.
    places = np.arange(self.size).reshape(self.shape)[_plain(key)]
    indices = _core.from_array(np.ascontiguousarray(places).reshape(-1).astype(np.int64)).to(self.device)
    return _core.index_select(self.reshape(-1), 0, indices).reshape(places.shape)


def _setitem(self: Tensor, key, value) -> None:
    if self.requires_grad and _core.is_grad_enabled():
        raise _core.AutogradError("a tensor that requires a gradient is written in place under treadle.no_grad() only")
    if isinstance(value, Tensor):
        value = value.detach().to("cpu").numpy()
    if self.device == "cpu":
        self.detach().numpy()[_plain(key)] = value
        self._wrote()
        return
    elements = self.detach().to("cpu")
    elements.numpy()[_plain(key)] = value
    self.copy_(elements.to(self.device))


def _array(self: Tensor, dtype=None, copy=None):
    array = self.detach().to("cpu").numpy()
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def _repr(self: Tensor) -> str:
    values = self.detach().to("cpu")
    shown = values.to(_core.float32) if values.dtype == _core.bfloat16 else values
    text = np.array2string(shown.numpy(), separator=", ", prefix="tensor(")
    notes = []
    if self.size == 0 and self.shape != (0,):
        notes.append(f"shape={self.shape}")
    if self.dtype not in (_core.float32, _core.int64, _core.bool):
        notes.append(f"dtype={self.dtype.name}")
    if self.device != "cpu":
        notes.append(f"device='{self.device}'")
    if self.requires_grad:
        notes.append("requires_grad=True")
    return ", ".join([f"tensor({text}", *notes]) + ")"


def _iter(self: Tensor):
    return (self[i] for i in range(len(self)))


def _from_parts(array, device, requires_grad):
    return tensor(array, device=device, requires_grad=requires_grad)


def _reduce(self: Tensor):
    if self.dtype == _core.bfloat16:
        raise TypeError("pickle: NumPy has no bfloat16; convert with .to(treadle.float32) first")
    return _from_parts, (self.detach().to("cpu").numpy().copy(), self.device, self.requires_grad)


Tensor.__getitem__ = _getitem
Tensor.__setitem__ = _setitem
Tensor.__array__ = _array
Tensor.__repr__ = _repr
Tensor.__iter__ = _iter
Tensor.__reduce__ = _reduce
Tensor.__array_ufunc__ = None  # NumPy leaves operators with a tensor to the tensor
Tensor.tolist = lambda self: self.detach().to("cpu").numpy().tolist()
Tensor.tolist.__doc__ = "The elements as nested lists of Python numbers."
