"""What fit() and evaluate() take as data, as the library has it."""

from __future__ import annotations

import os

from treadle import _core
from treadle._core._data import DatasetSplits, ImageDataset
from treadle._core._evaluation import Examples, PythonExamples, TensorExamples
from treadle._core._nn import Module
from treadle._core._text import TextDataset
from treadle.data import _loader, dataset, load


class Parts:
    """The parts of the data, None where there is none; and what they are of, where that has a fingerprint."""

    def __init__(self, train, validation=None, test=None, name: str = "", whole: DatasetSplits | TextDataset | None = None):
        self.train, self.validation, self.test, self.name, self.whole = train, validation, test, name, whole


def device_of(model: Module) -> str:
    """Where its parameters are."""
    parameters = model.parameters()
    return parameters[0].device if parameters else "cpu"


def parts_of(data, validation, test, seed: int, size: tuple | None = None) -> Parts:
    """`data` in its parts: the others are parts themselves, or `validation` a share that is held out by the seed."""
    if isinstance(data, TextDataset):
        return _of_text(data, validation, test)
    parts = _whole(data, seed, size)
    if test is not None:
        parts.test = part_of(test)
    if isinstance(validation, float):
        if parts.validation is not None:
            raise ValueError("the data have a validation part already; leave out the share to hold out")
        if validation > 0:
            parts.train, parts.validation = _held_out(parts.train, validation, seed)
    elif validation is not None:
        parts.validation = part_of(validation)
    return parts


def _of_text(text: TextDataset, validation, test) -> Parts:
    """A text is its own test part, and holds out its end."""
    if test is not None or not isinstance(validation, (float, type(None))):
        raise TypeError("the parts of a text are its own: validation is a share of it, as 0.1")
    held_out = text._held_out(validation) if validation else text
    return Parts(held_out, name=_core._data._lasting_name(text.name), whole=text)


def _whole(data, seed: int, size: tuple | None) -> Parts:
    if isinstance(data, (str, os.PathLike)):
        channels, *extents = size if size and len(size) == 3 else (0,)
        parts = _whole(load(data, seed=seed, channels=channels, size=tuple(extents) or None), seed, None)
        parts.name = _core._data._lasting_name(os.fspath(data))
        return parts
    if isinstance(data, DatasetSplits):
        return Parts(data.train, data.validation, data.test if len(data.test) else None, data.train.name, data)
    part = part_of(data)
    return Parts(part, name=part.name if isinstance(part, ImageDataset) else type(data).__name__)


def part_of(data):
    """One part: an ImageDataset, a pair of arrays, or a Python data set."""
    if isinstance(data, _loader.Loader):
        return data.dataset if isinstance(data.dataset, ImageDataset) else Subset(data, range(len(data.dataset)))
    if isinstance(data, tuple):
        return _of_arrays(data)
    if isinstance(data, ImageDataset) or (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        return data
    raise TypeError(
        f"the data are of the type {type(data).__name__}; they may be a name, a data set, a tuple of arrays, or an object with "
        "__len__() and __getitem__()"
    )


def _of_arrays(arrays: tuple):
    """Images or numbers with whole numbers as labels are an ImageDataset, which is fast; others are rows of tensors."""
    if len(arrays) == 2 and len(getattr(arrays[0], "shape", (1, 1))) > 1:
        labels = arrays[1]
        dtype = labels.dtype if hasattr(labels, "dtype") else None
        whole = isinstance(labels, list) and all(isinstance(one, int) for one in labels)
        if len(getattr(labels, "shape", (1,))) == 1 and (whole or str(getattr(dtype, "name", dtype)).lstrip("u").startswith("int")):
            return dataset(*arrays)
    return _loader.TensorDataset(*arrays)


def _held_out(part, share: float, seed: int) -> tuple:
    if isinstance(part, ImageDataset):
        splits = _core._data._held_out(part, share, seed)
        return splits.train, splits.validation
    count = int(len(part) * share + 0.5)
    if not 0 < count < len(part):
        raise ValueError(f"a share of {share} of {len(part)} examples is none or all of them")
    order = _core._data._Sampler(len(part), len(part), seed, True, 0).next()
    return Subset(part, sorted(order[count:])), Subset(part, sorted(order[:count]))


class Subset(_loader.Dataset):
    """Some examples of a data set, or of a loader's, in batches as it makes them."""

    def __init__(self, whole, indices):
        self.collate = getattr(whole, "collate", _loader.collate)
        self._whole = whole.dataset if isinstance(whole, _loader.Loader) else whole
        self._indices = indices

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, index: int):
        return self._whole[self._indices[index]]


def examples_of(part, device: str):
    """The part as C++ takes it."""
    if part is None or isinstance(part, (ImageDataset, TextDataset, Examples)):
        return part
    if isinstance(part, _loader.TensorDataset):
        return TensorExamples([one.detach() for one in part.tensors], device)
    collate = getattr(part, "collate", _loader.collate)
    return PythonExamples(len(part), lambda indices: list(collate([part[index] for index in indices])), device)
