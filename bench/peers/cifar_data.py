"""Reads CIFAR-10's binary version: files of records, a byte for the class and 3,072 for the image."""

import numpy

from idx_data import find_dataset

RECORD = 1 + 3 * 32 * 32


def load(name, count=50000):
    """Returns (images uint8 [N,3,32,32], labels uint8 [N]) of at most the first count training images."""
    folder = find_dataset(name, "data_batch_1.bin")
    records = []
    for number in range(1, 6):
        if sum(map(len, records)) < count:
            records.append(numpy.fromfile(folder / f"data_batch_{number}.bin", dtype=numpy.uint8).reshape(-1, RECORD))
    records = numpy.concatenate(records)[:count]
    return records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0].copy()
