"""Whether all or any elements are true, and differences."""

from treadle import _core
from treadle._core import Tensor
from treadle._creation import concat
from treadle.array_api._checks import axis_of, require_tensor
from treadle.array_api._searching import count_nonzero


def all(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """Whether no element along axes is 0; True of nothing."""
    require_tensor("all", x)
    return _core.equal(count_nonzero(_core.equal(x, False), axis=axis, keepdims=keepdims), 0)


def any(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
    """Whether an element along axes is not 0; False of nothing."""
    require_tensor("any", x)
    return _core.not_equal(count_nonzero(x, axis=axis, keepdims=keepdims), 0)


def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
    """The differences of neighbours along an axis, `n` times; `prepend` and `append` are put before and behind first."""
    require_tensor("diff", x)
    axis = axis_of("diff", axis, x.ndim)
    parts = [part for part in (prepend, x, append) if part is not None]
    x = concat(parts, axis) if len(parts) > 1 else x
    for _ in range(n):
        later, earlier = _core.slice(x, axis, 1), _core.slice(x, axis, 0, max(x.shape[axis] - 1, 0))
        x = later - earlier
    return x


__all__ = ["all", "any", "diff"]
