"""Automatic differentiation: functions with a gradient of one's own, and checks of gradients.

    class Exp(td.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = td.exp(x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * y

    y = Exp.apply(x)
"""

from __future__ import annotations

import atexit
import functools
import weakref

from treadle import _core
from treadle._core import Tensor, _connect, grad, is_grad_enabled  # type: ignore[attr-defined]
from treadle._modes import enable_grad, no_grad

TYPE_CHECKING = False  # as of typing, whose import takes time
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = [
    "Function", "FunctionContext", "enable_grad", "grad", "gradcheck", "is_grad_enabled", "no_grad", "once_differentiable",
]


class FunctionContext:
    """What forward() leaves for backward(): tensors by save_for_backward(), all else as attributes.

    A tensor that is an attribute, and was computed from the function's own results, would keep itself alive.
    """

    needs_input_grad: tuple[bool, ...]
    """Of each argument of forward(), whether its gradient is asked for."""

    if TYPE_CHECKING:  # whatever a function keeps

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, function: type["Function"], arguments: tuple[Any, ...]) -> None:
        self._function = function
        self._is_tensor = [isinstance(one, Tensor) for one in arguments]
        self._to_save: tuple[Tensor | None, ...] = ()
        self._saved: list[Tensor] | None = None
        self._not_differentiable: tuple[Tensor, ...] = ()
        self._materialize = True
        self.needs_input_grad = tuple(isinstance(one, Tensor) and one.requires_grad for one in arguments)

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keeps tensors for backward(). Gradients of gradients pass through those that are arguments or results of
        forward(), others are constants. backward() raises AutogradError when one was modified in place meanwhile."""
        self._to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What save_for_backward() was given, tensors and None; in backward() alone."""
        if self._saved is None:
            raise _core.AutogradError(f"{self._function.__name__}: saved tensors are there in backward() alone")
        saved = iter(self._saved)
        return tuple(None if one is None else next(saved) for one in self._kept)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Results that carry no gradient, such as positions."""
        self._not_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward() gets zeros for results that nobody used; else None."""
        self._materialize = value

    def _take_saved(self) -> list[Tensor]:
        """The tensors to keep, which from now on the graph has, and the context has not."""
        tensors = [one for one in self._to_save if one is not None]
        self._kept = tuple(None if one is None else True for one in self._to_save)
        self._to_save = ()
        return tensors

    def _gradients(self, saved: list[Tensor], upstream: list[Tensor | None], needs: list[bool]) -> list[Tensor | None]:
        """Calls backward(); the gradients of the arguments that are tensors."""
        self._saved = saved
        asked = iter(needs)
        self.needs_input_grad = tuple(tensor and next(asked) for tensor in self._is_tensor)
        given = iter(upstream)
        try:
            found = self._function.backward(self, *(next(given) if is_tensor else None for is_tensor in self._results))
        finally:
            self._saved = None
        return self._checked(found)

    def _checked(self, found: Any) -> list[Tensor | None]:
        name = f"{self._function.__name__}.backward()"
        gradients = list(found) if isinstance(found, (tuple, list)) else [found]
        while len(gradients) > len(self._is_tensor) and gradients[-1] is None:
            gradients.pop()
        if len(gradients) != len(self._is_tensor):
            raise _core.AutogradError(
                f"{name} returned {len(gradients)} gradients, forward() takes {len(self._is_tensor)} arguments"
            )
        for i, (gradient, is_tensor) in enumerate(zip(gradients, self._is_tensor)):
            if gradient is not None and not (is_tensor and isinstance(gradient, Tensor)):
                expected = "a tensor or None" if is_tensor else "None, as the argument is no tensor"
                raise _core.AutogradError(f"{name}: gradient {i} is a {type(gradient).__name__}, not {expected}")
        return [gradient for gradient, is_tensor in zip(gradients, self._is_tensor) if is_tensor]


_contexts: "weakref.WeakSet[FunctionContext]" = weakref.WeakSet()


@atexit.register
def _let_go() -> None:
    """Empties the contexts that are left when the interpreter ends.

    The collector of cycles does not see that a graph holds a context. It would keep alive for ever a module that has a
    function's class and a result of it.
    """
    for context in list(_contexts):
        context.__dict__.clear()


class Function:
    """A function of tensors with a gradient of its own: derive from it, and call it by apply().

    forward(ctx, *arguments) computes results by whatever means, outside of the graph. backward(ctx, *gradients) gets
    the gradient of each result and returns that of each argument, of its shape and dtype, or None. Made of functions of
    Treadle's, it can be differentiated again. In compiled functions both are recorded, as far as they call functions
    of Treadle's; what reads values there, such as NumPy, raises RecordingError.
    """

    @staticmethod
    def forward(ctx: FunctionContext, *arguments: Any) -> Any:
        """One tensor, or a tuple of tensors and other objects."""
        raise NotImplementedError("a Function defines forward()")

    @staticmethod
    def setup_context(ctx: FunctionContext, inputs: tuple[Any, ...], output: Any) -> None:
        """Where it is defined, forward() takes no context, and this is called after it."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx: FunctionContext, *gradients: Any) -> Any:
        """One gradient, or one for each argument of forward()."""
        raise NotImplementedError("a Function that is differentiated defines backward()")

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        """What forward() returns for the arguments, as part of the graph. Raises what forward() raises, DeviceError where
        tensors are on two devices."""
        ctx = FunctionContext(cls, arguments)
        with no_grad():
            if cls.setup_context is not Function.setup_context:
                returned = cls.forward(*arguments)
                cls.setup_context(ctx, arguments, returned)
            else:
                returned = cls.forward(ctx, *arguments)
        if not (is_grad_enabled() and any(ctx.needs_input_grad)):
            return returned
        return cls._connected(ctx, arguments, returned)

    @classmethod
    def _connected(cls, ctx: FunctionContext, arguments: tuple[Any, ...], returned: Any) -> Any:
        """The results, with their place in the graph."""
        several = isinstance(returned, (tuple, list))
        results = list(returned) if several else [returned]
        tensors = [one for one in results if isinstance(one, Tensor)]
        if not tensors:
            raise TypeError(f"{cls.__name__}.forward() returned a {type(returned).__name__}, which holds no tensor")
        fixed = [k for k, one in enumerate(tensors) if any(one.same_as(other) for other in ctx._not_differentiable)]
        ctx._not_differentiable = ()
        ctx._results = [isinstance(one, Tensor) for one in results]
        _contexts.add(ctx)
        operands = [one for one in arguments if isinstance(one, Tensor)]
        connected = iter(_connect(ctx, cls.__name__, operands, tensors, ctx._take_saved(), fixed))
        results = [next(connected) if isinstance(one, Tensor) else one for one in results]
        return type(returned)(results) if several else results[0]


class _Once(Function):
    """Lets a gradient through that depends on other tensors in a way that nobody can differentiate."""

    @staticmethod
    def forward(ctx: FunctionContext, name: str, gradient: Tensor, *behind: Tensor) -> Tensor:
        ctx.name = name
        return gradient

    @staticmethod
    def backward(ctx: FunctionContext, *gradients: Any) -> Any:
        raise _core.AutogradError(f"{ctx.name} is differentiable once: its gradient has none")


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """For a backward() whose own steps cannot be differentiated, as they use NumPy or a file: below @staticmethod.

    It is called outside of any graph. Differentiating its gradients again raises AutogradError; they would count as
    constants otherwise.
    """

    @functools.wraps(backward)
    def computed(ctx: FunctionContext, *gradients: Any) -> Any:
        with no_grad():
            found = backward(ctx, *gradients)
        if not is_grad_enabled():
            return found
        behind = [one for one in (*gradients, *ctx.saved_tensors) if isinstance(one, Tensor) and one.requires_grad]
        name = ctx._function.__name__
        several = list(found) if isinstance(found, (tuple, list)) else [found]
        return tuple(_Once.apply(name, one, *behind) if isinstance(one, Tensor) else one for one in several)

    return computed


def gradcheck(
    function: Callable[..., Any],
    inputs: Tensor | Sequence[Tensor],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
) -> bool:
    """Whether the gradients of a function's results are their slopes, for each input that requires a gradient.

    function: takes the inputs, returns a tensor or several. inputs: in float64, as the slopes are central differences over
    2·eps. A gradient g passes beside a slope s where |g − s| ≤ atol + rtol·|s|. Raises AutogradError naming the first that
    does not, DTypeError for inputs that are not float64.
    """
    inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    varied = [i for i, one in enumerate(inputs) if one.requires_grad]
    for i in varied:
        if inputs[i].dtype != _core.float64:
            raise _core.DTypeError(f"gradcheck: input {i} is {inputs[i].dtype.name}, not float64")
    weights, value = _weighted(function, inputs)
    gradients = grad([value], [inputs[i] for i in varied], allow_unused=True)
    for i, gradient in zip(varied, gradients):
        for place, slope in enumerate(_slopes(function, inputs, i, weights, eps)):
            found = 0.0 if gradient is None else float(gradient.reshape(-1)[place])
            if not abs(found - slope) <= atol + rtol * abs(slope):
                raise _core.AutogradError(
                    f"gradcheck: the gradient of element {place} of input {i} is {found:.6g}, the slope {slope:.6g}"
                )
    return True


def _weighted(
    function: Callable[..., Any], inputs: Sequence[Tensor], weights: list[Tensor] | None = None
) -> tuple[list[Tensor], Tensor]:
    """The sum of all results, each element with a weight of its own, so that none hides another."""
    returned = function(*inputs)
    results = [returned] if isinstance(returned, Tensor) else [one for one in returned if isinstance(one, Tensor)]
    results = [one for one in results if one.dtype.is_floating_point]
    if weights is None:
        weights = [_core.arange(0, one.size).to(one.dtype).to(one.device).reshape(one.shape) * 0.1 + 1 for one in results]
    sums = [(one * weight).sum() for one, weight in zip(results, weights)]
    total = sums[0]
    for more in sums[1:]:
        total = total + more
    return weights, total


def _slopes(
    function: Callable[..., Any], inputs: Sequence[Tensor], i: int, weights: list[Tensor], eps: float
) -> list[float]:
    """By central differences, of each element of input i."""
    moved = [one.detach() for one in inputs]
    slopes = []
    for place in range(inputs[i].size):
        values = []
        for step in (eps, -eps):
            elements = inputs[i].detach().to("cpu").numpy().copy()
            elements.reshape(-1)[place] += step
            moved[i] = _core.from_array(elements).to(inputs[i].device)
            values.append(float(_weighted(function, moved, weights)[1]))
        slopes.append((values[0] - values[1]) / (2 * eps))
    return slopes
