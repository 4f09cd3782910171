"""Numbers that every language can make again, and what is kept of tensors: see make_goldens.py."""

import math

import numpy
import torch

PROJECTIONS = 4


def mix(seed, index):
    """Hashes an array of indices with a seed; see make_goldens.py."""
    with numpy.errstate(over="ignore"):
        x = numpy.asarray(index, dtype=numpy.uint32) * numpy.uint32(0x9E3779B9)
        x = x + numpy.uint32((seed * 0x85EBCA6B + 0x165667B1) & 0xFFFFFFFF)
        x ^= x >> numpy.uint32(16)
        x *= numpy.uint32(0x7FEB352D)
        x ^= x >> numpy.uint32(15)
        x *= numpy.uint32(0x846CA68B)
        return x ^ (x >> numpy.uint32(16))


def uniform(seed, shape):
    values = (mix(seed, numpy.arange(math.prod(shape))) >> numpy.uint32(8)).astype(numpy.float32)
    return torch.from_numpy(values * numpy.float32(2.0**-24)).reshape(shape)


def signed(seed, shape):
    return 2 * uniform(seed, shape) - 1


def labels(seed, count, classes):
    return torch.from_numpy((mix(seed, numpy.arange(count)) % numpy.uint32(classes)).astype(numpy.int64))


def measures(tensor):
    """Returns the L2 norm and the projections of a tensor, summed in float64."""
    values = tensor.detach().double().flatten()
    directions = [signed(3000 + k, (values.numel(),)).double() for k in range(PROJECTIONS)]
    return [values.norm().item()] + [torch.dot(values, direction).item() for direction in directions]
