"""What stands beside modules: clipping of gradients under PyTorch's names, and parameters as one vector.

    loss.backward()
    td.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
"""

from __future__ import annotations

from collections.abc import Iterable

from treadle import _core
from treadle._core import Tensor
from treadle._core._optim import clip_grad_norm_, clip_grad_value_

__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters one after another, with their gradient."""
    return _core.concat([parameter.reshape(-1) for parameter in parameters], 0)


def vector_to_parameters(vector: Tensor, parameters: Iterable[Tensor]) -> None:
    """Writes the elements of the vector into the parameters, in order. Raises ShapeError where their numbers differ."""
    parameters = list(parameters)
    count = sum(parameter.size for parameter in parameters)
    if vector.ndim != 1 or len(vector) != count:
        raise _core.ShapeError(f"a vector of shape {vector.shape} for parameters of {count} elements")
    begin = 0
    with _core.NoGrad():
        for parameter in parameters:
            end = begin + parameter.size
            parameter.copy_(vector[begin:end].reshape(parameter.shape))
            begin = end
