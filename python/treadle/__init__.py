"""Neural networks from CUDA kernels up: tensors with automatic differentiation, on any machine.

    import numpy as np
    import treadle as td

    x = td.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = (x @ x.T).sum()
    y.backward()
    print(x.grad)
"""

from treadle import _core
from treadle._core import *  # noqa: F403
from treadle._names import adopt
from treadle import _familiar, _indexing, _namespace  # noqa: F401  methods of tensors
from treadle import _arrays, _creation, _operators, _printing
from treadle._arrays import *  # noqa: F403
from treadle._creation import *  # noqa: F403
from treadle._operators import *  # noqa: F403
from treadle._printing import *  # noqa: F403
from treadle._modes import enable_grad, no_grad
from treadle._compile import compile
from treadle import autograd, nn, random
from treadle._states import from_torch, load, save, to_torch
from treadle.random import Generator, manual_seed

__version__ = _core._version
__all__ = [
    *adopt(__name__, _core), *_arrays.__all__, *_creation.__all__, *_operators.__all__, *_printing.__all__, "Generator",
    "array_api", "autograd", "compile", "data", "enable_grad", "from_torch", "load", "lr_scheduler", "manual_seed", "models",
    "nn", "no_grad", "optim", "random", "save", "simt", "to_torch", "train",
]

_ON_FIRST_USE = ("array_api", "data", "lr_scheduler", "models", "optim", "simt", "train")


def __getattr__(name):
    """Modules that are imported when they are first used, and the functions of array_api that no op is."""
    import importlib

    if name in _ON_FIRST_USE:
        return importlib.import_module(f"treadle.{name}")
    if not name.startswith("_") and name in (functions := importlib.import_module("treadle.array_api")).__all__:
        return getattr(functions, name)
    raise AttributeError(f"module 'treadle' has no attribute '{name}'")


def __dir__():
    import importlib

    return [*globals(), *_ON_FIRST_USE, *importlib.import_module("treadle.array_api").__all__]
