"""Reads MNIST-like data sets: folders with four gzip-compressed IDX files."""

import gzip
from pathlib import Path

import numpy
import torch

FASHION_MNIST = "/usr/share/datasets/fashion-mnist"  # Debian package dataset-fashion-mnist


def read_idx(path, header_bytes, count_bytes):
    """Returns up to count_bytes bytes after the header of a gzip-compressed IDX file, as a uint8 array."""
    with gzip.open(path) as file:
        file.read(header_bytes)
        return numpy.frombuffer(bytearray(file.read(count_bytes)), dtype=numpy.uint8)


def load(folder, split, count=60000):
    """Returns (images uint8 [N,1,28,28], labels int64 [N]) of at most the first count of split "train" or "t10k"."""
    images = read_idx(Path(folder, f"{split}-images-idx3-ubyte.gz"), 16, count * 784)
    labels = read_idx(Path(folder, f"{split}-labels-idx1-ubyte.gz"), 8, count)
    return torch.from_numpy(images).view(-1, 1, 28, 28), torch.from_numpy(labels).long()


def as_pixels(images):
    """Converts bytes to float32 in [0,1]."""
    return images.float().div_(255)
