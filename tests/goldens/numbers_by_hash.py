"""Numbers that every language can make again, and what is kept of tensors.

Everything comes from one hash on unsigned 32-bit integers (all products and sums modulo 2^32):

    mix(seed, index):  x = index * 0x9E3779B9 + seed * 0x85EBCA6B + 0x165667B1
                       x ^= x >> 16;  x *= 0x7FEB352D;  x ^= x >> 15;  x *= 0x846CA68B;  x ^= x >> 16
    uniform(seed, i) = (mix(seed, i) >> 8) * 2^-24    in [0, 1), exact in float32
    signed(seed, i)  = 2 * uniform(seed, i) - 1       in [-1, 1), exact in float32
    labels(seed, i)  = mix(seed, i) % classes

An element's index i counts in row-major order (NCHW for images, KCRS for filters). The seeds are said by the scripts
that use them.

A tensor is kept as its L2 norm and four projections, k = 0..3: the sum over i of value[i] * signed(3000 + k, i), in
float64. Every "deviation" beside a value is the float32 result minus the same computation in float64 from the same
float32 numbers, so value - deviation is the float64 result, and the deviation shows how far a correct float32 program
strays. The float32 values differ by such amounts between processors, since PyTorch picks its kernels by processor.
"""

import math

import numpy
import torch

PROJECTIONS = 4


def mix(seed, index):
    """Hashes an array of indices with a seed."""
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


def with_deviation(single, double):
    """Pairs numbers computed in float32 with their distance to float64."""
    return {"value": single, "deviation": [a - b for a, b in zip(single, double)]}


def tensor_record(single, double):
    """Describes a tensor computed in float32 and in float64."""
    a, b = measures(single), measures(double)
    record = {"shape": list(single.shape), "norm": a[0], "projections": a[1:]}
    return record | {"norm_deviation": a[0] - b[0], "projection_deviations": [x - y for x, y in zip(a[1:], b[1:])]}
