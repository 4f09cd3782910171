"""Data sets and batches of them.

    train, test = td.data.load("fashion-mnist", train=True), td.data.load("fashion-mnist", train=False)
    loader = td.data.Loader(train, batch_size=64, seed=0, augment="flip,crop:2")
    for images, labels in loader:  # float32 [64, 1, 28, 28] with pixel/255, int64 [64]
        ...

Data sets lie where `treadle datasets` looks for them: $TREADLE_DATA/NAME, $XDG_DATA_HOME/treadle/NAME and
/usr/share/datasets/NAME. download() gets them.
"""

from treadle._core._data import (
    DatasetSplits, DownloadResult, ImageDataset, KnownDataset, download, known_datasets, measure_normalization,
)
from treadle._core._text import TextDataset, load_text
from treadle.data import augment
from treadle.data._arrays import dataset
from treadle.data._loader import DataLoader, Dataset, Loader, TensorDataset, collate
from treadle.data._sets import load

for _kind in (DatasetSplits, DownloadResult, ImageDataset, KnownDataset, TextDataset):
    _kind.__module__ = __name__

__all__ = [
    "DataLoader", "Dataset", "DatasetSplits", "DownloadResult", "ImageDataset", "KnownDataset", "Loader", "TensorDataset",
    "TextDataset", "augment", "collate", "dataset", "download", "known_datasets", "load", "load_text", "measure_normalization",
]
