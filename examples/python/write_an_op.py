"""An op of one's own in Python: its gradient, a check of it, and the op in a compiled function."""

# %% The op: y = x·tanh(ln(1 + eˣ)), as a function with a gradient of its own.
import math

import treadle as td
from treadle.autograd import Function, FunctionContext, gradcheck


class Mish(Function):
    """Mish (Misra, 2019). Autograd would keep four tensors for it; this keeps one."""

    @staticmethod
    def forward(ctx: FunctionContext, x: td.Tensor) -> td.Tensor:
        """y = x·tanh(softplus(x)), of any shape."""
        ctx.save_for_backward(x)
        return x * td.tanh(td.softplus(x))

    @staticmethod
    def backward(ctx: FunctionContext, grad: td.Tensor) -> td.Tensor:
        """dy/dx = t + x·σ(x)·(1 − t²), with t = tanh(softplus(x))."""
        x: td.Tensor = ctx.saved_tensors[0]
        t = td.tanh(td.softplus(x))
        return grad * (t + x * td.sigmoid(x) * (1 - t * t))


# %% It is called by apply(), and is differentiated like others.
x = td.tensor([-2.0, -1.0, 0.0, 1.0, 2.0], dtype=td.float64, requires_grad=True)
y = Mish.apply(x)
print("y      ", [round(one, 4) for one in y.tolist()])
y.sum().backward()
print("dy/dx  ", [round(one, 4) for one in x.grad.tolist()])
(first,) = td.grad(Mish.apply(x).sum(), x, create_graph=True)
(second,) = td.grad(first.sum(), x)
print("d²y/dx²", [round(one, 4) for one in second.tolist()])

# %% Is the gradient right? Slopes by finite differences say so.
print("gradcheck:", gradcheck(Mish.apply, x))
largest = (y - td.nn.Mish()(x)).abs().max().item()
print("largest difference from the library's own Mish:", largest)
assert largest < 1e-15


# %% A wrong gradient is named.
class Forgetful(Mish):
    """Without the second term."""

    @staticmethod
    def backward(ctx: FunctionContext, grad: td.Tensor) -> td.Tensor:
        """Wrong."""
        (x,) = ctx.saved_tensors
        return grad * td.tanh(td.softplus(x))


try:
    gradcheck(Forgetful.apply, x)
except td.AutogradError as error:
    print(error)


# %% In a compiled function the op is what it is made of, forward and back, and is fused with its surroundings.
@td.compile
def slope(points: td.Tensor) -> td.Tensor:
    """The gradient of Σ mish(w·x) for w."""
    (found,) = td.grad(Mish.apply(points * w).sum(), w)
    return found


w = td.tensor([1.5], requires_grad=True)
points = td.tensor([0.5, 1.0])
print("compiled:", round(slope(points).item(), 5))
print(slope.programs()[0])


# %% forward() may compute by any means, such as NumPy or the standard library, outside of compiled functions.
class LogGamma(Function):
    """ln Γ(x), by Python's math.lgamma; its derivative, digamma, by a central difference."""

    @staticmethod
    def forward(ctx: FunctionContext, x: td.Tensor) -> td.Tensor:
        """Of positive numbers in one axis."""
        ctx.save_for_backward(x)
        return td.tensor([math.lgamma(one) for one in x.tolist()], dtype=x.dtype)

    @staticmethod
    def backward(ctx: FunctionContext, grad: td.Tensor) -> td.Tensor:
        """The slope over 2e-5."""
        (x,) = ctx.saved_tensors
        slopes = [(math.lgamma(one + 1e-5) - math.lgamma(one - 1e-5)) / 2e-5 for one in x.tolist()]
        return grad * td.tensor(slopes, dtype=x.dtype)


z = td.tensor([1.0, 2.0, 3.0], dtype=td.float64, requires_grad=True)
LogGamma.apply(z).sum().backward()
print("digamma(1) is minus Euler's constant:", round(z.grad[0].item(), 6))
