"""The Python array API standard (https://data-apis.org/array-api/) over tensors, as far as their dtypes go.

    xp = x.__array_namespace__()
    y = xp.cumulative_sum(xp.sin(x), axis=0)

Where the library has an op, that computes, with its gradient. Otherwise NumPy does, over the tensor's memory (other devices by
a copy), and the gradient is made of ops; where a function has none, asking for it raises AutogradError.
docs/array-api.md says what is there and what is not.
"""

from treadle.array_api import linalg
from treadle.array_api import (
    _constants,
    _creation,
    _dtypes,
    _elementwise,
    _info,
    _manipulation,
    _products,
    _searching,
    _sets,
    _sorting,
    _statistical,
    _utility,
)
from treadle.array_api._info import __array_namespace_info__

__array_api_version__ = "2025.12"

_PARTS = (
    _constants, _creation, _dtypes, _elementwise, _info, _manipulation, _products, _searching, _sets, _sorting, _statistical,
    _utility,
)
for _part in _PARTS:
    globals().update({name: getattr(_part, name) for name in _part.__all__})

__all__ = sorted([*(name for part in _PARTS for name in part.__all__), "__array_api_version__", "linalg"])
