"""Reads MNIST-like data sets: folders with four gzip-compressed IDX files."""

import gzip
import os
from pathlib import Path

import numpy


def find_dataset(name, file="train-images-idx3-ubyte.gz"):
    """Returns the folder of a data set, which holds `file`: $TREADLE_DATA/NAME, ~/.local/share/treadle/NAME or
    /usr/share/datasets/NAME, where Treadle looks too, or the folder given by its path."""
    user = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    places = [user / "treadle" / name, Path("/usr/share/datasets") / name, Path(name)]
    if os.environ.get("TREADLE_DATA"):
        places.insert(0, Path(os.environ["TREADLE_DATA"]) / name)
    for place in places:
        if (place / file).exists():
            return place
    raise SystemExit(f"The data set {name} is in none of: {', '.join(map(str, places))}")


def read_idx(path, header_bytes, count_bytes):
    """Returns up to count_bytes bytes after the header of a gzip-compressed IDX file, as a uint8 array."""
    with gzip.open(path) as file:
        file.read(header_bytes)
        return numpy.frombuffer(bytearray(file.read(count_bytes)), dtype=numpy.uint8)


def load(name, split, count=60000):
    """Returns (images uint8 [N,1,28,28], labels uint8 [N]) of at most the first count of split "train" or "t10k"."""
    folder = find_dataset(name)
    images = read_idx(folder / f"{split}-images-idx3-ubyte.gz", 16, count * 784)
    labels = read_idx(folder / f"{split}-labels-idx1-ubyte.gz", 8, count)
    return images.reshape(-1, 1, 28, 28), labels
