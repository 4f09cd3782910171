"""Functions of each element. Where the library has an op, that computes; else NumPy, with a gradient made of ops."""

import math

from treadle import _core, _formula, _operators
from treadle._core import Tensor
from treadle._creation import zeros_like
from treadle._operators import *  # noqa: F403
from treadle.array_api._checks import require_floating, require_tensor


def _described(function, name: str, text: str):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    function.__module__ = "treadle.array_api"
    return function


# --- of one operand ---


def _by_numpy(name: str, gradient, text: str):
    """A function of floating tensors."""

    def function(x: Tensor, /) -> Tensor:
        import numpy as np

        require_floating(name, x)
        with np.errstate(all="ignore"):
            return _formula.computed(name, getattr(np, _NUMPY_NAMES.get(name, name)), [x], gradient)

    return _described(function, name, text)


_NUMPY_NAMES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "round": "rint",
}

acos = _by_numpy("acos", lambda dy, x: [-dy / _core.sqrt(1 - x * x)], "arccos x in radians, elementwise.")
acosh = _by_numpy("acosh", lambda dy, x: [dy / (_core.sqrt(x - 1) * _core.sqrt(x + 1))], "arcosh x, elementwise; NaN below 1.")
asin = _by_numpy("asin", lambda dy, x: [dy / _core.sqrt(1 - x * x)], "arcsin x in radians, elementwise.")
asinh = _by_numpy("asinh", lambda dy, x: [dy / hypot(x, 1.0)], "arsinh x, elementwise.")
atan = _by_numpy("atan", lambda dy, x: [dy / (1 + x * x)], "arctan x in radians, elementwise.")
atanh = _by_numpy("atanh", lambda dy, x: [dy / (1 - x * x)], "artanh x, elementwise.")
cosh = _by_numpy("cosh", lambda dy, x: [dy * sinh(x)], "cosh x, elementwise.")
expm1 = _by_numpy("expm1", lambda dy, x: [dy * _core.exp(x)], "e^x - 1, exact around 0, elementwise.")
log10 = _by_numpy("log10", lambda dy, x: [dy / (x * math.log(10))], "The logarithm to base 10, elementwise.")
log1p = _by_numpy("log1p", lambda dy, x: [dy / (1 + x)], "ln(1 + x), exact around 0, elementwise.")
log2 = _by_numpy("log2", lambda dy, x: [dy / (x * math.log(2))], "The logarithm to base 2, elementwise.")
sinh = _by_numpy("sinh", lambda dy, x: [dy * cosh(x)], "sinh x, elementwise.")
tan = _by_numpy("tan", lambda dy, x: [dy * (1 + square(tan(x)))], "tan x of radians, elementwise.")


def _steps(name: str, text: str):
    """A function that is constant but for its steps; integers and bools are as they are."""

    def function(x: Tensor, /) -> Tensor:
        import numpy as np

        require_tensor(name, x)
        if not x.dtype.is_floating_point:
            return x.to(x.dtype, copy=True)
        return _formula.computed(name, getattr(np, _NUMPY_NAMES.get(name, name)), [x], lambda dy, x: [zeros_like(x)])

    return _described(function, name, text)


ceil = _steps("ceil", "⌈x⌉, elementwise; its gradient is 0.")
floor = _steps("floor", "⌊x⌋, elementwise; its gradient is 0.")
round = _steps("round", "The nearest whole number, the even one of two, elementwise; its gradient is 0.")
trunc = _steps("trunc", "The whole number next to x towards 0, elementwise; its gradient is 0.")


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1 as x is negative, zero or positive, NaN of NaN, elementwise; its gradient is 0."""
    require_tensor("sign", x)
    positive, negative = (x > 0).to(x.dtype), (x < 0).to(x.dtype)
    steps = positive if x.dtype == _core.uint8 else positive - negative
    if not x.dtype.is_floating_point:
        return steps
    value = _core.where(_core.not_equal(x, x), x, steps).detach()
    return _formula.attached("sign", value, [x], lambda dy, x: [zeros_like(x)])


def signbit(x: Tensor, /) -> Tensor:
    """Whether the sign bit is set, that of -0 and of NaN too, elementwise."""
    require_floating("signbit", x)
    import numpy as np

    return _formula.computed("signbit", np.signbit, [x], None)


def isnan(x: Tensor, /) -> Tensor:
    """Whether an element is NaN."""
    require_tensor("isnan", x)
    return _core.not_equal(x, x)


def isinf(x: Tensor, /) -> Tensor:
    """Whether an element is infinite."""
    require_tensor("isinf", x)
    if not x.dtype.is_floating_point:
        return _core.not_equal(x, x)
    return _core.equal(_core.abs(x.detach()), math.inf)


def isfinite(x: Tensor, /) -> Tensor:
    """Whether an element is neither NaN nor infinite."""
    require_tensor("isfinite", x)
    if not x.dtype.is_floating_point:
        return _core.equal(x, x)
    return _core.less(_core.abs(x.detach()), math.inf)


def _op(name: str, op, text: str, floating: bool = False):
    require = require_floating if floating else require_tensor

    def function(x: Tensor, /) -> Tensor:
        require(name, x)
        return op(x)

    return _described(function, name, text)


cos = _op("cos", _core.cos, "cos x of radians, elementwise.", floating=True)
exp = _op("exp", _core.exp, "e^x, elementwise.", floating=True)
log = _op("log", _core.log, "The natural logarithm, elementwise.", floating=True)
sin = _op("sin", _core.sin, "sin x of radians, elementwise.", floating=True)
sqrt = _op("sqrt", _core.sqrt, "The square root, elementwise.", floating=True)
tanh = _op("tanh", _core.tanh, "tanh x, elementwise.", floating=True)
reciprocal = _op("reciprocal", lambda x: 1 / x, "1 / x, elementwise.", floating=True)
square = _op("square", lambda x: x * x, "x², elementwise.")
negative = _op("negative", lambda x: 0 - x if x.dtype == _core.uint8 else -x, "-x, elementwise; integers wrap.")
positive = _op("positive", lambda x: x.to(x.dtype, copy=True), "x itself, as a new tensor.")
conj = _op("conj", lambda x: x, "x: no dtype is complex.")
real = _op("real", lambda x: x, "x: no dtype is complex.")
logical_not = _op("logical_not", lambda x: _core.equal(x, False), "Whether an element is False (or 0).")


def abs(x: Tensor, /) -> Tensor:
    """|x|, elementwise."""
    require_tensor("abs", x)
    return x.to(x.dtype, copy=True) if x.dtype in (_core.uint8, _core.bool) else _core.abs(x)


# --- of two operands, broadcast; one of them may be a number ---


def _binary(name: str, op, text: str):
    def function(x1: Tensor | float, x2: Tensor | float, /) -> Tensor:
        if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
            raise TypeError(f"{name}: one of the operands must be a tensor")
        return op(x1, x2)

    return _described(function, name, text)


def _floating_binary(name: str, gradient, text: str):
    def compute(x1, x2):
        import numpy as np

        with np.errstate(all="ignore"):
            return getattr(np, _NUMPY_NAMES.get(name, name))(x1, x2)

    def op(x1, x2):
        x1, x2 = _formula.promoted(name, x1, x2)
        require_floating(name, x1)
        return _formula.computed(name, compute, [x1, x2], gradient)

    return _binary(name, op, text)


add = _binary("add", _core.add, "x1 + x2.")
subtract = _binary("subtract", _core.sub, "x1 - x2.")
multiply = _binary("multiply", _core.mul, "x1·x2.")
divide = _binary("divide", _core.div, "x1 / x2; integers as float32.")
pow = _binary("pow", _core.pow, "x1 to the power x2.")
maximum = _binary("maximum", _core.maximum, "The larger element; NaN where one is.")
minimum = _binary("minimum", _core.minimum, "The smaller element; NaN where one is.")
equal = _binary("equal", _core.equal, "Whether x1 = x2.")
not_equal = _binary("not_equal", _core.not_equal, "Whether x1 ≠ x2.")
less = _binary("less", _core.less, "Whether x1 < x2.")
less_equal = _binary("less_equal", _core.less_equal, "Whether x1 ≤ x2.")
greater = _binary("greater", _core.greater, "Whether x1 > x2.")
greater_equal = _binary("greater_equal", _core.greater_equal, "Whether x1 ≥ x2.")


def _truth(x):
    return _core.not_equal(x, False) if isinstance(x, Tensor) else bool(x)


logical_and = _binary("logical_and", lambda a, b: _core.mul(_truth(a), _truth(b)), "Whether both are true.")
logical_or = _binary("logical_or", lambda a, b: _core.maximum(_truth(a), _truth(b)), "Whether one is true.")
logical_xor = _binary("logical_xor", lambda a, b: _core.not_equal(_truth(a), _truth(b)), "Whether one alone is true.")


def _circle(dy, x1, x2):
    square_of_radius = x1 * x1 + x2 * x2
    return dy * x2 / square_of_radius, -dy * x1 / square_of_radius


atan2 = _floating_binary("atan2", _circle, "The angle of the point (x2, x1) in radians, from -π to π.")
copysign = _floating_binary(
    "copysign", lambda dy, x1, x2: (dy * sign(x1) * copysign(1.0, x2), zeros_like(x2)), "x1 with the sign of x2."
)
hypot = _floating_binary(
    "hypot", lambda dy, x1, x2: (dy * x1 / hypot(x1, x2), dy * x2 / hypot(x1, x2)), "√(x1² + x2²), without overflow between."
)
logaddexp = _floating_binary(
    "logaddexp", lambda dy, x1, x2: (dy * _core.sigmoid(x1 - x2), dy * _core.sigmoid(x2 - x1)), "ln(e^x1 + e^x2)."
)
nextafter = _floating_binary("nextafter", None, "The next number from x1 towards x2; it has no gradient.")


def clip(x: Tensor, /, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """x between two bounds, numbers or tensors that broadcast to x's shape; None bounds nothing. The dtype stays x's."""
    require_tensor("clip", x)
    result = x
    if min is not None:
        result = _core.maximum(result, min)
    if max is not None:
        result = _core.minimum(result, max)
    return result.to(x.dtype, copy=result is x)


__all__ = [
    *_operators.__all__, "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "clip", "conj",
    "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor", "greater", "greater_equal", "hypot", "isfinite",
    "isinf", "isnan", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "nextafter", "not_equal", "positive", "pow",
    "real", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]
