"""The surface of micrograd-cuda: micrograd with tensors, on any device.

    from treadle.compat.micrograd.mlp import MLP
    from treadle.compat.micrograd.tensor import Tensor
    from treadle.compat.micrograd.operations import Operations

The elements are Python's numbers (float64) on "cpu", and float32 on other devices.
"""

from treadle.compat.micrograd.mlp import MLP, Layer
from treadle.compat.micrograd.operations import Operations
from treadle.compat.micrograd.tensor import Tensor

__all__ = ["MLP", "Layer", "Operations", "Tensor"]
