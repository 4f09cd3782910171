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
from treadle._core import Tensor
from treadle._arrays import from_numpy, tensor
from treadle._modes import enable_grad, no_grad

float32, float64, float16, bfloat16 = _core.float32, _core.float64, _core.float16, _core.bfloat16
int8, uint8, int16, int32, int64 = _core.int8, _core.uint8, _core.int16, _core.int32, _core.int64

__all__ = [name for name in dir(_core) if not name.startswith("_")]
__all__ += ["enable_grad", "from_numpy", "no_grad", "tensor"]
