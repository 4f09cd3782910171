"""The operators of tensors that no op of the library is: whole division, bits, updates in place."""

from treadle import _arrays, _core, _formula
from treadle._core import Tensor

__all__ = [
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "floor_divide", "remainder",
]

_NUMBERS = (bool, int, float)


def _operand(value):
    """A tensor or a number; of an array of NumPy's a tensor. NotImplemented for what is none."""
    if isinstance(value, (Tensor, *_NUMBERS)) or _is_numpy_number(value):
        return value
    if not hasattr(value, "__array_interface__"):
        return NotImplemented
    try:
        return _arrays.asarray(value)
    except TypeError:
        return NotImplemented


def _is_numpy_number(value) -> bool:
    return (
        hasattr(value, "dtype")
        and getattr(value, "shape", None) == ()
        and hasattr(value, "item")
        and not isinstance(value, Tensor)
    )


def _category(dtype) -> int:
    return 0 if dtype == _core.bool else 2 if dtype.is_floating_point else 1


# --- whole division ---


def floor_divide(a: Tensor | float, b: Tensor | float) -> Tensor:
    """The largest whole number up to a / b, with Python's sign; broadcast. Its gradient is zero.

    Raises ZeroDivisionError for integers divided by zero.
    """
    return _formula.computed(
        "floor_divide", _whole_division("floor_divide"), [a, b], lambda dy, a, b: (None, None)
    )


def remainder(a: Tensor | float, b: Tensor | float) -> Tensor:
    """a - b·⌊a/b⌋, of b's sign; broadcast. Raises ZeroDivisionError for integers divided by zero."""

    def gradient(dy, a, b):
        return dy, -dy * floor_divide(a, b)

    return _formula.computed("remainder", _whole_division("remainder"), [a, b], gradient)


def _whole_division(name: str):
    def compute(a, b):
        import numpy as np

        if a.dtype.kind in "iu" and np.any(b == 0):
            raise ZeroDivisionError(f"{name}: integers divided by zero")
        with np.errstate(all="ignore"):
            return getattr(np, name)(a, b)

    return compute


# --- bits ---


def _bitwise(name: str, of_bools):
    def compute(a, b):
        import numpy as np

        return getattr(np, name)(a, b)

    def function(a: Tensor | int, b: Tensor | int) -> Tensor:
        a, b = _formula.promoted(name, a, b)
        if a.dtype.is_floating_point:
            raise _core.DTypeError(f"{name}: integers or bools are expected, not {a.dtype.name}")
        if of_bools and a.dtype == _core.bool:
            return of_bools(a, b)
        return _formula.computed(name, compute, [a, b], None)

    function.__name__ = function.__qualname__ = name
    return function


bitwise_and = _bitwise("bitwise_and", _core.mul)
bitwise_or = _bitwise("bitwise_or", _core.maximum)
bitwise_xor = _bitwise("bitwise_xor", _core.not_equal)
bitwise_and.__doc__ = "a & b of integers, bit by bit, and of bools; broadcast."
bitwise_or.__doc__ = "a | b of integers, bit by bit, and of bools; broadcast."
bitwise_xor.__doc__ = "a ^ b of integers, bit by bit, and of bools; broadcast."


def _shift(name: str, ufunc: str):
    def compute(a, b):
        import numpy as np

        if np.any(b < 0):
            raise _core.ValueError(f"{name}: a shift by a negative number of bits")
        return getattr(np, ufunc)(a, b)

    def function(a: Tensor | int, b: Tensor | int) -> Tensor:
        a, b = _formula.promoted(name, a, b)
        if _category(a.dtype) != 1:
            raise _core.DTypeError(f"{name}: integers are expected, not {a.dtype.name}")
        return _formula.computed(name, compute, [a, b], None)

    function.__name__ = function.__qualname__ = name
    return function


bitwise_left_shift = _shift("bitwise_left_shift", "left_shift")
bitwise_right_shift = _shift("bitwise_right_shift", "right_shift")
bitwise_left_shift.__doc__ = "a·2^b of integers, wrapping; broadcast."
bitwise_right_shift.__doc__ = "⌊a / 2^b⌋ of integers; broadcast."


def bitwise_invert(a: Tensor) -> Tensor:
    """~a of integers, bit by bit; not a of bools."""
    if a.dtype.is_floating_point:
        raise _core.DTypeError(f"bitwise_invert: integers or bools are expected, not {a.dtype.name}")
    return _core.equal(a, False) if a.dtype == _core.bool else -1 - a


# --- in place ---


def _in_place(operator):
    """x op= value: the value of op, in x's dtype."""

    def assigned(self: Tensor, value: Tensor | float) -> Tensor:
        operand = _operand(value)
        if operand is NotImplemented:
            return NotImplemented
        self._update(lambda: operator(self, operand))
        return self

    return assigned


# --- the operators themselves ---


def _operator(function):
    def forward(self: Tensor, other: Tensor | float) -> Tensor:
        operand = _operand(other)
        return NotImplemented if operand is NotImplemented else function(self, operand)

    def reflected(self: Tensor, other: Tensor | float) -> Tensor:
        operand = _operand(other)
        return NotImplemented if operand is NotImplemented else function(operand, self)

    return forward, reflected


for _name, _function in {
    "floordiv": floor_divide,
    "mod": remainder,
    "and": bitwise_and,
    "or": bitwise_or,
    "xor": bitwise_xor,
    "lshift": bitwise_left_shift,
    "rshift": bitwise_right_shift,
}.items():
    _forward, _reflected = _operator(_function)
    setattr(Tensor, f"__{_name}__", _forward)
    setattr(Tensor, f"__r{_name}__", _reflected)
    setattr(Tensor, f"__i{_name}__", _in_place(_function))


def _divmod(self: Tensor, other: Tensor | float) -> tuple[Tensor, Tensor]:
    operand = _operand(other)
    return NotImplemented if operand is NotImplemented else (floor_divide(self, operand), remainder(self, operand))


def _rdivmod(self: Tensor, other: Tensor | float) -> tuple[Tensor, Tensor]:
    operand = _operand(other)
    return NotImplemented if operand is NotImplemented else (floor_divide(operand, self), remainder(operand, self))


Tensor.__divmod__ = _divmod
Tensor.__rdivmod__ = _rdivmod
Tensor.__imatmul__ = _in_place(_core.matmul)
Tensor.__invert__ = bitwise_invert
