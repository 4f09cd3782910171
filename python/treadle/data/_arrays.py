"""Data sets of arrays."""

from __future__ import annotations

from treadle._arrays import asarray
from treadle._core._data import ImageDataset


def dataset(examples, labels, classes: list[str] | None = None, name: str = "arrays") -> ImageDataset:
    """Labelled examples of arrays or tensors, which are copied.

    examples: uint8 images [N, H, W] grey, [N, C, H, W] or [N, H, W, C] with 1 or 3 channels, whose examples are pixel/255;
        anything else is taken as numbers [N, …], float32
    labels: whole numbers [N] from 0
    classes: their names; default "0", "1", … up to the largest label

    Raises ShapeError where examples and labels do not fit, ValueError for a label without a class.
    """
    import numpy as np

    values, numbers = np.asarray(examples), np.asarray(labels)
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"labels are whole numbers, not {numbers.dtype}")
    if values.dtype == np.uint8 and values.ndim == 3:
        values = values[:, None]
    elif values.dtype == np.uint8 and values.ndim == 4 and values.shape[1] not in (1, 3) and values.shape[3] in (1, 3):
        values = values.transpose(0, 3, 1, 2)
    if values.dtype != np.uint8 or values.ndim != 4:
        values = values.astype(np.float32)
    if classes is None:
        classes = [str(number) for number in range(int(numbers.max(initial=-1)) + 1)]
    return ImageDataset(asarray(values), asarray(numbers.astype(np.int32)), list(classes), name)
