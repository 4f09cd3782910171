"""Loading data sets by name, from folders and from files."""

from __future__ import annotations

import os
from typing import overload

from treadle import _core
from treadle._core._data import DatasetSplits, ImageDataset


@overload
def load(
    name: str | os.PathLike[str], train: None = None, *, download: bool = False, seed: int = 0,
    size: int | tuple[int, int] | None = None, channels: int = 0, label_column: str = "",
) -> DatasetSplits: ...
@overload
def load(
    name: str | os.PathLike[str], train: bool, *, download: bool = False, seed: int = 0,
    size: int | tuple[int, int] | None = None, channels: int = 0, label_column: str = "",
) -> ImageDataset: ...
def load(
    name: str | os.PathLike, train: bool | None = None, *, download: bool = False, seed: int = 0, size: int | tuple | None = None,
    channels: int = 0, label_column: str = "",
) -> DatasetSplits | ImageDataset:
    """A data set by its name, or by the path of a folder or a file.

    name: one of known_datasets(), perhaps with a number of classes ("spirals:5"); a folder of IDX or CIFAR files, or of
        images as train/CLASS/* and test/CLASS/*, or CLASS/*; an .npz file of x_train, y_train and perhaps x_test, y_test; a
        .csv file
    train: True for the training part, False for the test part; None for both, as `.train` and `.test`
    download: gets the files first where they are nowhere
    seed: draws what is made, and the test part (a fifth) where the files name none
    size, channels: what images of folders are scaled to, one number or (height, width), and 1 grey or 3 coloured
    label_column: of tables, its name or number, from 1

    Raises DatasetAbsent where it is nowhere, ValueError for a name that is neither known nor a path, FormatError for damaged
    files.
    """
    height, width = (0, 0) if size is None else (size, size) if isinstance(size, int) else size
    arguments = (os.fspath(name), seed, height, width, channels, str(label_column))
    try:
        splits = _core._data._load(*arguments)
    except _core.DatasetAbsent:
        if not download:
            raise
        _core._data.download(os.fspath(name))
        splits = _core._data._load(*arguments)
    if train is None:
        return splits
    return _core._data._train_part(splits) if train else _core._data._test_part(splits)
