"""Indexing as NumPy's: what views cannot say, becomes a selection along one axis, which has a gradient."""

import math
import operator
from collections.abc import Iterator
from typing import Any

from treadle import _arrays, _core
from treadle._core import Tensor


def _array(entry):
    """An index array as NumPy's, or None where the entry is an int, a slice, None or an ellipsis."""
    import numpy as np

    if isinstance(entry, (Tensor, bool, np.bool_, list, tuple, np.ndarray)) or (
        not hasattr(entry, "__index__") and hasattr(entry, "__array__")
    ):
        array = np.asarray(entry)
        if isinstance(entry, (list, tuple)) and array.size == 0:
            array = array.astype(np.int64)
    else:
        return None
    if array.dtype != np.bool_ and array.dtype.kind not in "iu":
        raise IndexError(f"an index holds integers or bools, not {array.dtype}")
    return array


def _plain(key):
    """An index as NumPy takes it: tensors as their elements."""
    if isinstance(key, tuple):
        return tuple(_plain(entry) for entry in key)
    array = _array(key)
    return key if array is None else array


def _entries(key, rank: int) -> list:
    """The key with one entry for each axis it takes: the ellipsis as slices, masks as the places that they hold."""
    import numpy as np

    entries = []
    for entry in key if isinstance(key, tuple) else (key,):
        array = _array(entry)
        if array is not None and array.dtype == np.bool_:
            entries.append(array)
        else:
            entries.append(entry if array is None else array.astype(np.int64))
    taken = sum(
        e.ndim if isinstance(e, np.ndarray) and e.dtype == np.bool_ else e is not None and e is not Ellipsis for e in entries
    )
    if taken > rank:
        raise IndexError(f"{taken} indices for a tensor of rank {rank}")
    ellipses = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index has at most one ellipsis")
    at = ellipses[0] if ellipses else len(entries)
    entries[at : at + 1] = [slice(None)] * (rank - taken)
    return entries


def _places_of_masks(entries: list, shape: tuple) -> list:
    """Masks as index arrays, one for each of their axes."""
    import numpy as np

    found, axis = [], 0
    for entry in entries:
        if isinstance(entry, np.ndarray) and entry.dtype == np.bool_:
            for extent, here in zip(entry.shape, shape[axis:]):
                if extent != here:
                    raise IndexError(f"a mask of shape {entry.shape} for axes of shape {shape[axis:axis + entry.ndim]}")
            # A mask of rank 0 takes no axis: it is a new one, of extent 1 or 0.
            found += entry.nonzero() if entry.ndim else [("new", np.zeros(int(entry), np.int64))]
            axis += entry.ndim
        else:
            found.append(entry)
            axis += entry is not None
    return found


def _whole(entry) -> int:
    try:
        return operator.index(entry)
    except TypeError:
        kind = type(entry).__name__
        raise IndexError(f"an index is an int, a slice, None, an ellipsis or an array of ints or bools, not {kind}") from None


def _wrapped(index, axis: int, extent: int):
    """Places counted from the end as places from the beginning."""
    import numpy as np

    wrong = (index < -extent) | (index >= extent)
    if np.any(wrong):
        raise IndexError(f"index {np.asarray(index)[wrong].flat[0]} is out of range for axis {axis} of extent {extent}")
    return np.where(index < 0, index + extent, index)


def _select(x: Tensor, axis: int, index) -> Tensor:
    import numpy as np

    return _core.index_select(x, axis, _arrays.asarray(np.ascontiguousarray(index, np.int64), device=x.device))


def _sliced(x: Tensor, axis: int, entry: slice) -> Tensor:
    """x[…, entry, …]; backwards by a selection, as strides are not negative."""
    begin, end, step = entry.indices(x.shape[axis])
    if step > 0:
        return _core.slice(x, axis, begin, max(begin, end), step)
    import numpy as np

    return _select(x, axis, np.arange(begin, end, step))


def _in_one_axis(x: Tensor, axes: list, indices: list) -> tuple:
    """x with these axes merged into one, in front or where they stand side by side; its place, and the places along it."""
    import numpy as np

    first = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    others = [axis for axis in range(x.ndim) if axis not in axes]
    extents = tuple(x.shape[axis] for axis in axes)
    flat = np.zeros(np.broadcast_shapes(*(index.shape for index in indices)), np.int64)
    for index, extent in zip(indices, extents):
        flat = flat * extent + index
    order = others[:first] + axes + others[first:]
    if order != list(range(x.ndim)):
        x = _core.permute(x, order)
    if len(axes) > 1:
        x = _core.reshape(x, (*x.shape[:first], math.prod(extents), *x.shape[first + len(axes) :]))
    return x, first, flat


def _selected(x: Tensor, key) -> Tensor:
    """x[key] for a key that holds arrays or steps backwards."""
    import numpy as np

    entries = _places_of_masks(_entries(key, x.ndim), x.shape)
    has_arrays = any(isinstance(entry, (np.ndarray, tuple)) for entry in entries)
    axes, indices, axis = [], [], 0
    for entry in entries:
        if entry is None:
            x = _core.unsqueeze(x, axis)
        elif isinstance(entry, slice):
            x = _sliced(x, axis, entry)
        else:
            if isinstance(entry, tuple):
                entry = entry[1]
                x = _core.unsqueeze(x, axis)
            elif not isinstance(entry, np.ndarray):
                entry = _whole(entry)
            axes.append(axis)
            indices.append(_wrapped(np.asarray(entry, np.int64), axis, x.shape[axis]))
        axis += 1
    if not has_arrays:  # ints beside slices that step backwards
        for axis, index in reversed(list(zip(axes, indices))):
            x = _core.squeeze(_core.slice(x, axis, int(index), int(index) + 1), axis)
        return x
    x, first, flat = _in_one_axis(x, axes, indices)
    x = _select(x, first, flat.reshape(-1))
    return x if flat.ndim == 1 else _core.reshape(x, (*x.shape[:first], *flat.shape, *x.shape[first + 1 :]))


def _getitem(self: Tensor, key: Any) -> Tensor:
    """The elements at an index of NumPy's kinds: ints, slices, None, an ellipsis, arrays of ints and of bools."""
    view = self._basic_view(key)
    if view is not None:
        return view
    if isinstance(key, Tensor) and self.ndim and key.dtype in (_core.int64, _core.int32) and key.device == self.device:
        selected = _by_tensor(self, key)
        if selected is not None:
            return selected
    return _selected(self, key)


def _by_tensor(x: Tensor, index: Tensor) -> Tensor | None:
    """x[index] of integers without asking for their values here; None where they count from the end, or are out of range.

    While a function is recorded they are not there yet, and on other devices asking would wait: what is out of range there,
    raises ValueError where the host next waits.
    """
    try:
        if index._is_symbolic() or index.device != "cpu":
            index = _core.where(index < 0, index + x.shape[0], index).to(index.dtype)
        if index.ndim == 1:
            return _core.index_select(x, 0, index)
        return _core.reshape(_core.index_select(x, 0, index.reshape(-1)), (*index.shape, *x.shape[1:]))
    except _core.ValueError:
        return None


def _is_exact_double(value) -> bool:
    """Whether it is a number of Python's that fill_() takes as it is."""
    return type(value) in (bool, float) or type(value) is int and abs(value) <= 2**53


def _as_value(value, x: Tensor) -> Tensor:
    """What is assigned, in x's dtype and on its device."""
    if not isinstance(value, Tensor):
        value = _arrays.tensor(value)
    return value.to(x)


def _fitted(value: Tensor, shape: tuple) -> Tensor:
    """The value without the leading axes of extent 1 that the place does not have."""
    extra = len(value.shape) - len(shape)
    if extra > 0 and all(extent == 1 for extent in value.shape[:extra]):
        value = _core.reshape(value, value.shape[extra:])
    return _core.expand(value, shape)


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    """Overwrites the elements at an index by those of `value`, which broadcast; gradients flow to both.

    Raises AutogradError for a leaf that requires a gradient, outside of no_grad(), and where gradients would have to flow
    while other tensors or arrays share the memory.
    """
    records = _core.is_grad_enabled()
    if _is_exact_double(value) and not (records and self.requires_grad):
        view = self.detach()._basic_view(key)
        if view is not None:
            view.fill_(value)
            return
    value = _as_value(value, self)
    if records and (self.requires_grad or value.requires_grad):
        self._update(lambda: _with_assigned(self, key, value))
    else:
        _overwrite(self.detach(), key, value.detach())


def _overwrite(x: Tensor, key, value: Tensor) -> None:
    """x[key] = value of tensors outside of the graph."""
    import numpy as np

    view = x._basic_view(key)
    if view is not None:
        view.copy_(value if value.shape == view.shape else _fitted(value, view.shape))
    elif x.dtype == _core.bfloat16 or x.device.startswith("cuda"):
        x.copy_(_with_assigned(x, key, value))
    else:
        np.asarray(x)[_plain(key)] = value.numpy()
        x._wrote()


def _with_assigned(x: Tensor, key, value: Tensor) -> Tensor:
    """x with the elements at the index replaced, as a new tensor."""
    import numpy as np

    places = np.full(x.shape, -1, np.int64)
    target = places[_plain(key)]
    value = _fitted(value, target.shape)
    places[_plain(key)] = np.arange(target.size).reshape(target.shape)
    if target.size == 0:
        return _core.clone(x)
    chosen = _select(_core.reshape(value, (-1,)), 0, np.maximum(places, 0).reshape(-1))
    mask = _core.from_array(np.asarray(places >= 0)).to(x.device)
    return _core.where(mask, _core.reshape(chosen, x.shape), x)


def _iter(self: Tensor) -> Iterator[Tensor]:
    return (self[i] for i in range(len(self)))


def _contains(self: Tensor, value: Tensor | float) -> bool:
    return bool((self == value).to(_core.int64).sum().item())


Tensor.__getitem__ = _getitem
Tensor.__setitem__ = _setitem
Tensor.__iter__ = _iter
Tensor.__contains__ = _contains
