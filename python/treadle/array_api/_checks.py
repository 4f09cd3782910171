"""What the functions of the namespace ask of their arguments."""

from treadle import _core
from treadle._core import Tensor
from treadle._creation import axis_of


def require_tensor(name: str, x) -> None:
    """Raises TypeError for what is no tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name}: a tensor is expected, not {type(x).__name__}")


def require_floating(name: str, x: Tensor) -> None:
    """Raises DTypeError for integers and bools."""
    require_tensor(name, x)
    if not x.dtype.is_floating_point:
        raise _core.DTypeError(f"{name}: a floating dtype is expected, not {x.dtype.name}")


def axes_of(name: str, axis, rank: int) -> tuple:
    """None as all axes, an int as one, counted from the beginning. Raises ShapeError for one named twice."""
    if axis is None:
        return tuple(range(rank))
    axes = tuple(axis_of(name, one, rank) for one in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) != len(axes):
        raise _core.ShapeError(f"{name}: an axis is named twice in {tuple(axis)}")
    return axes
