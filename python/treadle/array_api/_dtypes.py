"""Element types, and functions that ask about them."""

import builtins
import collections
import functools

from treadle import _core
from treadle._core import DType, Tensor, bfloat16, bool, float16, float32, float64, int8, int16, int32, int64, uint8
from treadle.array_api._checks import require_tensor

SIGNED, UNSIGNED, FLOATING = (int8, int16, int32, int64), (uint8,), (float32, float64)
KINDS = {
    "bool": (bool,),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": SIGNED + UNSIGNED,
    "real floating": (*FLOATING, float16, bfloat16),
    "complex floating": (),
    "numeric": (*SIGNED, *UNSIGNED, *FLOATING, float16, bfloat16),
}


finfo_object = collections.namedtuple("finfo_object", "bits eps max min smallest_normal dtype")
finfo_object.__doc__ = "What finfo() gives: eps is the distance from 1 to the next number; numbers are Python's."
iinfo_object = collections.namedtuple("iinfo_object", "bits max min dtype")
iinfo_object.__doc__ = "What iinfo() gives; numbers are Python's."


def _dtype_of(type) -> DType:
    return type.dtype if isinstance(type, Tensor) else _core.dtype(type)


def astype(x: Tensor, dtype: DType, /, *, copy: builtins.bool = True, device: str | None = None) -> Tensor:
    """x as a dtype, on a device; a copy unless `copy` is False and nothing changes."""
    require_tensor("astype", x)
    return x.to(_core.dtype(dtype), x.device if device is None else device, copy=copy)


def can_cast(from_, to: DType, /) -> builtins.bool:
    """Whether a dtype, or that of a tensor, is promoted to `to` beside it."""
    return _core.promote_types(_dtype_of(from_), to) == _core.dtype(to)


@functools.cache
def _finfo(name: str) -> finfo_object:
    import numpy as np

    if name == "bfloat16":  # eight bits of the fraction, float32's exponents
        largest = (2 - 2.0**-7) * 2.0**127
        return finfo_object(16, 2.0**-7, largest, -largest, 2.0**-126, bfloat16)
    of = np.finfo(name)
    return finfo_object(
        int(of.bits), float(of.eps), float(of.max), float(of.min), float(of.smallest_normal), _core.dtype(name)
    )


def finfo(type, /) -> finfo_object:
    """The limits of a floating dtype, or of a tensor's. Raises DTypeError (a TypeError) for others."""
    dtype = _dtype_of(type)
    if not dtype.is_floating_point:
        raise _core.DTypeError(f"finfo: a floating dtype is expected, not {dtype.name}")
    return _finfo(dtype.name)


def iinfo(type, /) -> iinfo_object:
    """The limits of an integer dtype, or of a tensor's. Raises DTypeError (a TypeError) for others."""
    dtype = _dtype_of(type)
    if dtype.is_floating_point or dtype == bool:
        raise _core.DTypeError(f"iinfo: an integer dtype is expected, not {dtype.name}")
    bits = 8 * dtype.itemsize
    if dtype == uint8:
        return iinfo_object(bits, 2**bits - 1, 0, dtype)
    return iinfo_object(bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), dtype)


def isdtype(dtype: DType, kind) -> builtins.bool:
    """Whether a dtype is the one given, of the kind given ("bool", "integral", "real floating", …), or of one of a tuple.

    Raises ValueError for another word.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind not in KINDS:
        raise _core.ValueError(f"isdtype: the kinds are {', '.join(map(repr, KINDS))}, not {kind!r}")
    return dtype in KINDS[kind] if isinstance(kind, str) else dtype == kind


def result_type(*arrays_and_dtypes) -> DType:
    """What tensors, dtypes and Python's numbers are computed in together."""
    return _core.result_type(*arrays_and_dtypes)


__all__ = [
    "astype", "bool", "can_cast", "finfo", "float32", "float64", "iinfo", "int16", "int32", "int64", "int8", "isdtype",
    "result_type", "uint8",
]
