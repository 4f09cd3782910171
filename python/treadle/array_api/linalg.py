"""The extension `linalg`. Factorisations are NumPy's (LAPACK); those that have no gradient raise AutogradError for it."""

import builtins
import collections

from treadle import _core, _formula
from treadle._arrays import asarray
from treadle._core import DType, Tensor
from treadle.array_api._checks import axes_of, require_floating, require_tensor
from treadle.array_api._elementwise import abs, sqrt
from treadle.array_api._manipulation import expand_dims, moveaxis
from treadle.array_api._products import matmul, matrix_transpose, tensordot, vecdot
from treadle.array_api._statistical import max, min, sum

EighResult = collections.namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = collections.namedtuple("QRResult", "Q R")
SlogdetResult = collections.namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = collections.namedtuple("SVDResult", "U S Vh")


def _require_matrices(name: str, x: Tensor, square: bool = False) -> None:
    require_floating(name, x)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        raise _core.ShapeError(f"{name}: {'square ' if square else ''}matrices are expected, not shape {x.shape}")


def _parts(name: str, compute, x: Tensor) -> list:
    """Several results of one tensor, without gradients."""
    import numpy as np

    if x.requires_grad and _core.is_grad_enabled():
        raise _core.AutogradError(f"{name} has no gradient: detach() its operand, or use treadle.no_grad()")
    return [asarray(part, device=x.device) for part in compute(np.asarray(x))]


def _alone(name: str, compute, x: Tensor) -> Tensor:
    return _parts(name, lambda values: (compute(values),), x)[0]


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """L with L·Lᵀ = x (or U with Uᵀ·U = x) of symmetric positive definite [..., M, M]. Raises numpy's LinAlgError for others.

    Gradient after Murray, Differentiation of the Cholesky decomposition, 2016.
    """
    import numpy as np

    _require_matrices("cholesky", x, square=True)

    def gradient(dy, x):
        lower = cholesky(x)
        product = matmul(matrix_transpose(lower), dy)
        inverse = inv(lower)
        half = product * _lower_half(product)
        middle = matmul(matmul(matrix_transpose(inverse), half), inverse)
        return [(middle + matrix_transpose(middle)) / 2]

    result = _formula.computed("cholesky", np.linalg.cholesky, [x], gradient)
    return matrix_transpose(result) if upper else result


def _lower_half(x: Tensor) -> Tensor:
    """1 below the diagonal, a half on it, 0 above."""
    from treadle._creation import eye, tril

    one = _core.full(x.shape[-2:], 1, x.dtype, x.device)
    return tril(one) - eye(x.shape[-1], dtype=x.dtype, device=x.device) / 2


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The vector product along an axis of extent 3; other axes broadcast."""
    require_tensor("cross", x1), require_tensor("cross", x2)
    if not -_least_rank(x1, x2) <= axis < _least_rank(x1, x2):
        raise _core.ShapeError(f"cross: axis {axis} is none of both {x1.shape} and {x2.shape}")
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise _core.ShapeError(f"cross: axis {axis} of {x1.shape} and {x2.shape} has extent 3 in both")
    x1, x2 = moveaxis(x1, axis, -1), moveaxis(x2, axis, -1)

    def turned(x, by):
        return _core.concat([_core.slice(x, -1, by, 3), _core.slice(x, -1, 0, by)], -1)

    return moveaxis(turned(x1, 1) * turned(x2, 2) - turned(x1, 2) * turned(x2, 1), -1, axis)


def _least_rank(x1: Tensor, x2: Tensor) -> int:
    return x1.ndim if x1.ndim < x2.ndim else x2.ndim


def det(x: Tensor, /) -> Tensor:
    """The determinants of [..., M, M]. The gradient of a singular matrix raises numpy's LinAlgError."""
    import numpy as np

    _require_matrices("det", x, square=True)
    return _formula.computed(
        "det", np.linalg.det, [x], lambda dy, x: [expand_dims(dy * det(x), axis=(-2, -1)) * matrix_transpose(inv(x))]
    )


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """[..., M, N] → the diagonal number `offset` of each (above 0: above the main one), the last axis of the result."""
    import numpy as np

    require_tensor("diagonal", x)
    if x.ndim < 2:
        raise _core.ShapeError(f"diagonal: matrices are expected, not shape {x.shape}")
    rows, columns = x.shape[-2:]
    count = builtins.max(0, builtins.min(rows - builtins.max(-offset, 0), columns - builtins.max(offset, 0)))
    i = np.arange(count)
    return x[..., i + builtins.max(-offset, 0), i + builtins.max(offset, 0)]


def eigh(x: Tensor, /) -> EighResult:
    """Eigenvalues [..., M] in ascending order and eigenvectors [..., M, M] (columns) of symmetric [..., M, M]; no gradient."""
    import numpy as np

    _require_matrices("eigh", x, square=True)
    return EighResult(*_parts("eigh", np.linalg.eigh, x))


def eigvalsh(x: Tensor, /) -> Tensor:
    """The eigenvalues [..., M] of symmetric [..., M, M], ascending; no gradient."""
    import numpy as np

    _require_matrices("eigvalsh", x, square=True)
    return _alone("eigvalsh", np.linalg.eigvalsh, x)


def inv(x: Tensor, /) -> Tensor:
    """The inverses of [..., M, M]. Raises numpy's LinAlgError for a singular matrix."""
    import numpy as np

    _require_matrices("inv", x, square=True)

    def gradient(dy, x):
        turned = matrix_transpose(inv(x))
        return [-matmul(matmul(turned, dy), turned)]

    return _formula.computed("inv", np.linalg.inv, [x], gradient)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: int | float | str = "fro") -> Tensor:
    """A norm of [..., M, N]: "fro", "nuc" (the sum of singular values), 1 and -1 (the largest and smallest sum of a column),
    inf and -inf (of a row), 2 and -2 (the largest and smallest singular value; these and "nuc" have no gradient)."""
    _require_matrices("matrix_norm", x)
    if ord == "fro":
        return sqrt(sum(x * x, axis=(-2, -1), keepdims=keepdims))
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        norm = sum(values, axis=-1) if ord == "nuc" else (max if ord == 2 else min)(values, axis=-1)
        return expand_dims(norm, axis=(-2, -1)) if keepdims else norm
    if ord not in (1, -1, float("inf"), -float("inf")):
        raise _core.ValueError(f"matrix_norm: ord is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {ord!r}")
    summed, kept = (-2, -1) if ord in (1, -1) else (-1, -2)
    sums = sum(abs(x), axis=summed, keepdims=True)
    norm = (max if ord > 0 else min)(sums, axis=kept, keepdims=True)
    return norm if keepdims else _core.reshape(norm, x.shape[:-2])


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """x times itself n times, [..., M, M]; of the inverse for n < 0."""
    from treadle._creation import eye

    _require_matrices("matrix_power", x, square=True)
    base = inv(x) if n < 0 else x
    n = -n if n < 0 else n
    result = None
    while n:
        if n & 1:
            result = base if result is None else matmul(result, base)
        n >>= 1
        base = matmul(base, base) if n else base
    identity = eye(x.shape[-1], dtype=x.dtype, device=x.device)
    return _core.clone(_core.expand(identity, x.shape)) if result is None else result


def matrix_rank(x: Tensor, /, *, rtol: Tensor | float | None = None) -> Tensor:
    """How many singular values of [..., M, N] are above rtol times the largest, in int64; rtol is max(M, N)·eps by itself."""
    import numpy as np

    _require_matrices("matrix_rank", x)
    values = np.asarray(x)
    singular = np.linalg.svd(values, compute_uv=False)
    if rtol is None:
        rtol = builtins.max(x.shape[-2:]) * np.finfo(values.dtype).eps
    tolerance = np.asarray(rtol)
    ranks = (singular > singular.max(axis=-1, keepdims=True, initial=0) * tolerance[..., None]).sum(axis=-1)
    return asarray(np.asarray(ranks, np.int64), device=x.device)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """[M], [N] → x1[i]·x2[j], [M, N]."""
    require_tensor("outer", x1), require_tensor("outer", x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise _core.ShapeError(f"outer: vectors are expected, not shapes {x1.shape} and {x2.shape}")
    return _core.unsqueeze(x1, 1) * x2


def pinv(x: Tensor, /, *, rtol: Tensor | float | None = None) -> Tensor:
    """The pseudoinverses [..., N, M] of [..., M, N]; singular values up to rtol times the largest count as 0; no gradient."""
    import numpy as np

    _require_matrices("pinv", x)
    tolerance = builtins.max(x.shape[-2:]) * np.finfo(x.dtype.name).eps if rtol is None else rtol
    return _alone("pinv", lambda values: np.linalg.pinv(values, rcond=tolerance), x)


def qr(x: Tensor, /, *, mode: str = "reduced") -> QRResult:
    """Q with orthonormal columns and R upper triangular, Q·R = x, of [..., M, N]; all M columns of Q for mode="complete"."""
    import numpy as np

    _require_matrices("qr", x)
    if mode not in ("reduced", "complete"):
        raise _core.ValueError(f"qr: mode is 'reduced' or 'complete', not {mode!r}")
    return QRResult(*_parts("qr", lambda values: np.linalg.qr(values, mode), x))


def slogdet(x: Tensor, /) -> SlogdetResult:
    """The sign of the determinants of [..., M, M] and the logarithm of their absolute value, which has a gradient."""
    import numpy as np

    _require_matrices("slogdet", x, square=True)
    sign = asarray(np.linalg.slogdet(np.asarray(x))[0], device=x.device)
    logarithm = _formula.computed(
        "slogdet",
        lambda values: np.linalg.slogdet(values)[1],
        [x],
        lambda dy, x: [expand_dims(dy, axis=(-2, -1)) * matrix_transpose(inv(x))],
    )
    return SlogdetResult(sign, logarithm)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """y with x1·y = x2: x1 [..., M, M], x2 [M] or [..., M, K]. Raises numpy's LinAlgError for a singular x1."""
    import numpy as np

    _require_matrices("solve", x1, square=True)
    require_floating("solve", x2)
    x1, x2 = _formula.promoted("solve", x1, x2)
    is_vector = x2.ndim == 1
    columns = _core.unsqueeze(x2, 1) if is_vector else x2

    def gradient(dy, x1, columns):
        back = solve(matrix_transpose(x1), dy)
        return -matmul(back, matrix_transpose(solve(x1, columns))), back

    y = _formula.computed("solve", np.linalg.solve, [x1, columns], gradient)
    return _core.squeeze(y, -1) if is_vector else y


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVDResult:
    """U [..., M, M], singular values [..., K] in descending order and Vᵀ [..., N, N] of [..., M, N], K = min(M, N).

    Without `full_matrices` U has K columns and Vᵀ K rows. No gradient.
    """
    import numpy as np

    _require_matrices("svd", x)
    return SVDResult(*_parts("svd", lambda values: np.linalg.svd(values, full_matrices), x))


def svdvals(x: Tensor, /) -> Tensor:
    """The singular values [..., min(M, N)] of [..., M, N], descending; no gradient."""
    import numpy as np

    _require_matrices("svdvals", x)
    return _alone("svdvals", lambda values: np.linalg.svd(values, compute_uv=False), x)


def trace(x: Tensor, /, *, offset: int = 0, dtype: DType | None = None) -> Tensor:
    """The sum of a diagonal of [..., M, N]; integers in int64 unless `dtype` says otherwise."""
    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: int | float = 2
) -> Tensor:
    """(Σ |x|^ord)^(1/ord) along axes, by itself all; inf and -inf: the largest and smallest |x|; 0: how many are not 0."""
    require_floating("vector_norm", x)
    axes = axes_of("vector_norm", axis, x.ndim)
    size = abs(x)
    if ord in (float("inf"), -float("inf")):
        return (max if ord > 0 else min)(size, axis=axes, keepdims=keepdims)
    if ord == 0:
        return sum(_core.not_equal(x, 0).to(x.dtype), axis=axes, keepdims=keepdims)
    if ord == 1:
        return sum(size, axis=axes, keepdims=keepdims)
    if ord == 2:
        return sqrt(sum(x * x, axis=axes, keepdims=keepdims))
    return sum(size**ord, axis=axes, keepdims=keepdims) ** (1 / ord)


__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot",
    "vector_norm",
]
