"""Nested results: tuples, lists and dicts of tensors, taken apart and put together again."""

from treadle._core import Tensor


def take_apart(value):
    """The tensors in order, and the pattern: for a tuple of tensors their number, else nested marks.

    Raises TypeError for what is no tensor, tuple, list, dict or None.
    """
    if isinstance(value, tuple) and type(value) is tuple and all(isinstance(one, Tensor) for one in value):
        return list(value), len(value)
    tensors = []
    return tensors, _marks(value, tensors)


def _marks(value, tensors):
    if isinstance(value, Tensor):
        tensors.append(value)
        return "tensor"
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, tuple(_marks(one, tensors) for one in value))
    if isinstance(value, dict):
        return ("dict", tuple((key, _marks(one, tensors)) for key, one in value.items()))
    raise TypeError(f"a compiled function returns tensors, tuples, lists and dicts of them: a {type(value).__name__} would not "
                    "be computed again by a replay")


def put_together(tensors, pattern):
    """The value that take_apart() has taken apart, of other tensors."""
    return _made(pattern, iter(tensors))


def _made(pattern, tensors):
    if pattern == "tensor":
        return next(tensors)
    if pattern is None:
        return None
    kind, parts = pattern
    if kind == "dict":
        return {key: _made(part, tensors) for key, part in parts}
    made = [_made(part, tensors) for part in parts]
    return tuple(made) if kind == "tuple" else made
