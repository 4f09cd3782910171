"""Batches: of the library's data sets by its own loader, and of any Python object with __len__ and __getitem__."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from typing import Any

from treadle import _core
from treadle._arrays import tensor
from treadle._core import Tensor
from treadle._core._data import ImageDataset
from treadle.data.augment import text_of


class Dataset:
    """Examples of one's own: __len__() gives their number, __getitem__(index) one of them, mostly (x, label). Deriving from
    this class is a choice: what counts are the two methods."""

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__()")

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__()")


class TensorDataset(Dataset):
    """Rows of tensors or arrays of the same length: example i is (a[i], b[i], …)."""

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tuple(one if isinstance(one, Tensor) else tensor(one) for one in tensors)
        if len({len(one) for one in self.tensors}) != 1:
            shapes = ", ".join(str(one.shape) for one in self.tensors)
            raise _core.ShapeError(f"tensors of shapes {shapes} are not rows of the same examples")

    def __len__(self) -> int:
        return len(self.tensors[0])

    def __getitem__(self, index: int) -> tuple:
        return tuple(one[index] for one in self.tensors)


def collate(examples: list) -> tuple:
    """A batch of examples: tuples of tensors, arrays and numbers become a tuple of tensors, each with one more axis in front.
    Floating numbers of Python become float32, whole ones int64. Raises ShapeError for shapes that differ."""
    if not isinstance(examples[0], (tuple, list)):
        return (_stack(examples),)
    return tuple(_stack(column) for column in zip(*examples, strict=True))


def _stack(values) -> Tensor:
    import numpy as np

    if isinstance(values[0], float):
        return _core.from_array(np.asarray(values, np.float32))
    shapes = {np.shape(one) for one in values}
    if len(shapes) > 1:
        raise _core.ShapeError(f"examples of one batch have shapes {' and '.join(map(str, sorted(shapes)))}")
    return _core.from_array(np.stack([np.asarray(one) for one in values]))


class Loader:
    """Batches of a data set, epoch after epoch: each iteration is one epoch.

    dataset: an ImageDataset, whose batches the library makes ahead on threads; or any object with __len__ and __getitem__
    batch_size: examples in a batch; the last one of an epoch may be smaller
    shuffle: whether each epoch has an order of its own, which follows from seed and epoch alone
    seed: of the order and the augmentations
    augment: of an ImageDataset, as "flip,crop:2" or as treadle.data.augment has it; labels of augmentations that mix are
        probabilities [B, classes]
    normalization: of an ImageDataset, (mean, deviation) as measure_normalization() gives it
    threads: that make batches ahead; None: as is worth it
    ahead: batches that may wait
    drop_last: leaves out a last batch that is smaller
    collate: makes a batch of a list of examples of a Python data set
    device: where batches go
    """

    def __init__(
        self, dataset, batch_size: int = 32, shuffle: bool = True, *, seed: int = 0, augment=None, normalization=None,
        threads: int | None = None, ahead: int = 8, drop_last: bool = False, collate: Callable = collate, device: str = "cpu",
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"a batch has {batch_size} examples; there must be one at least")
        self._of_library = isinstance(dataset, ImageDataset)
        if not self._of_library and (augment or normalization):
            raise TypeError("augmentations and normalization are for an ImageDataset: let __getitem__() do both")
        self.dataset, self.batch_size, self.shuffle, self.seed = dataset, batch_size, shuffle, seed
        self.augment, self.normalization = text_of(augment), normalization or ([], [])
        self.threads, self.ahead, self.drop_last, self.collate, self.device = threads, ahead, drop_last, collate, device
        self.epoch = 0
        """The epoch that the next iteration is, from 0."""

    def __len__(self) -> int:
        """Batches of an epoch."""
        whole, rest = divmod(len(self.dataset), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator[tuple]:
        epoch, self.epoch = self.epoch, self.epoch + 1
        return self._of_images(epoch) if self._of_library else self._of_python(epoch)

    def _of_images(self, epoch: int) -> Iterator[tuple]:
        batches = _core._data._ImageBatches(
            self.dataset, self.batch_size, self.seed, self.shuffle, epoch, self.augment, self.normalization, self.threads,
            self.ahead,
        )
        for _ in range(len(self)):
            yield self._placed(batches.next())

    def _of_python(self, epoch: int) -> Iterator[tuple]:
        sampler = _core._data._Sampler(len(self.dataset), self.batch_size, self.seed, self.shuffle, epoch)
        indices = (sampler.next() for _ in range(len(self)))
        if not self.threads:
            yield from (self._placed(self._batch(some)) for some in indices)
            return
        from concurrent.futures import ThreadPoolExecutor

        waiting = collections.deque()
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                for some in indices:
                    waiting.append(pool.submit(self._batch, some))
                    if len(waiting) >= self.ahead:
                        yield self._placed(waiting.popleft().result())
                while waiting:
                    yield self._placed(waiting.popleft().result())
            finally:
                for one in waiting:
                    one.cancel()

    def _batch(self, indices: list[int]) -> tuple:
        return self.collate([self.dataset[index] for index in indices])

    def _placed(self, batch: tuple) -> tuple:
        return batch if self.device == "cpu" else tuple(one.to(self.device) for one in batch)


DataLoader = Loader
