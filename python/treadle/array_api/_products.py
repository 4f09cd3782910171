"""Products of matrices and vectors, by the library's matmul; integers by NumPy, as the library multiplies floats alone."""

import math

from treadle import _core, _formula
from treadle._core import Tensor
from treadle.array_api._checks import axis_of, require_tensor
from treadle.array_api._manipulation import moveaxis


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """[..., M, K] times [..., K, N] → [..., M, N]; a vector is a row before and a column behind; the result lacks its axis."""
    import numpy as np

    require_tensor("matmul", x1), require_tensor("matmul", x2)
    dtype = _core.promote_types(x1.dtype, x2.dtype)
    x1, x2 = x1.to(dtype), x2.to(dtype)
    if dtype.is_floating_point:
        return _core.matmul(x1, x2)
    if not x1.ndim or not x2.ndim:
        raise _core.ShapeError(f"matmul: matrices and vectors are expected, not shapes {x1.shape} and {x2.shape}")
    return _formula.computed("matmul", np.matmul, [x1, x2], None, promote=False)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """[..., M, N] → [..., N, M], as a view."""
    require_tensor("matrix_transpose", x)
    return _core.transpose(x, -2, -1)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Σ x1·x2 along an axis that both have, counted from the end; other axes broadcast."""
    require_tensor("vecdot", x1), require_tensor("vecdot", x2)
    if not -min(x1.ndim, x2.ndim) <= axis < 0:
        raise _core.ShapeError(f"vecdot: axis {axis} is none of both {x1.shape} and {x2.shape}, counted from the end")
    if x1.shape[axis] != x2.shape[axis]:
        raise _core.ShapeError(f"vecdot: {x1.shape} and {x2.shape} differ in axis {axis}")
    x1, x2 = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)
    products = x1 * x2
    return _core.sum(products, (-1,)).to(products.dtype)


def tensordot(x1: Tensor, x2: Tensor, /, *, axes=2) -> Tensor:
    """The sum of products over axes of both: the last `axes` of x1 with the first of x2, or pairs of two lists of axes."""
    require_tensor("tensordot", x1), require_tensor("tensordot", x2)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise _core.ShapeError(f"tensordot: {axes} axes of shapes {x1.shape} and {x2.shape}")
        first, second = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    else:
        first = tuple(axis_of("tensordot", one, x1.ndim) for one in axes[0])
        second = tuple(axis_of("tensordot", one, x2.ndim) for one in axes[1])
    summed = tuple(x1.shape[one] for one in first)
    if summed != tuple(x2.shape[one] for one in second):
        raise _core.ShapeError(
            f"tensordot: {summed} of {x1.shape} are not {tuple(x2.shape[one] for one in second)} of {x2.shape}"
        )
    left = [one for one in range(x1.ndim) if one not in first]
    right = [one for one in range(x2.ndim) if one not in second]
    shape = (*(x1.shape[one] for one in left), *(x2.shape[one] for one in right))
    terms = math.prod(summed)
    rows = _core.reshape(_core.permute(x1, (*left, *first)), (math.prod(shape[: len(left)]), terms))
    columns = _core.reshape(_core.permute(x2, (*second, *right)), (terms, math.prod(shape[len(left) :])))
    return _core.reshape(matmul(rows, columns), shape)


__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]
