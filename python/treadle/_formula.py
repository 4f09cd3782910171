"""Functions that the library has no op for: NumPy computes the value over the tensors' memory, ops the gradient."""

from treadle import _arrays, _core
from treadle._core import Tensor
from treadle.autograd import Function


def tensors_of(name: str, operands) -> list:
    """The operands as tensors on one device. A number takes the dtype that it would have beside the tensors."""
    device = next((x.device for x in operands if isinstance(x, Tensor)), "cpu")
    return [x if isinstance(x, Tensor) else _of_number(name, x, device) for x in operands]


def _of_number(name: str, number, device: str) -> Tensor:
    if not isinstance(number, (bool, int, float)) and not hasattr(number, "dtype"):
        raise TypeError(f"{name}: a tensor or a number is expected, not {type(number).__name__}")
    return _arrays.tensor(number, device=device)


def promoted(name: str, a, b) -> tuple:
    """Both operands in the dtype that they are computed in together; numbers count as the library's ops count them."""
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        a, b = tensors_of(name, [a, b])
    dtype = _core.result_type(a, b)
    device = (a if isinstance(a, Tensor) else b).device

    def converted(x):
        if isinstance(x, Tensor):
            return x.to(dtype)
        import numpy as np

        if dtype.is_floating_point or dtype == _core.bool:
            return _core.full((), x, dtype, device)
        limits = np.iinfo(dtype.name)
        if not limits.min <= x <= limits.max:
            raise _core.ValueError(f"{name}: {x} is no {dtype.name}")
        return _core.from_array(np.array(int(x), dtype.name)).to(device)

    return converted(a), converted(b)


def computed(name: str, compute, operands, gradient, promote: bool = True) -> Tensor:
    """compute(arrays…) as a tensor. Two operands are promoted to one dtype unless `promote` is False; half types are computed in
    float32.

    gradient(dy, tensors…) gives a gradient for each operand, in shapes that broadcast to theirs; without one, gradients that
    would be lost raise AutogradError.
    """
    import numpy as np

    tensors = list(promoted(name, *operands)) if promote and len(operands) == 2 else tensors_of(name, operands)
    for x in tensors:
        if x._is_symbolic():
            raise _core.RecordingError(f"{name}: NumPy computes it, so a compiled function cannot have it")
    dtype = tensors[0].dtype
    half = dtype in (_core.bfloat16, _core.float16)
    arrays = [np.asarray(x.to(_core.float32) if half and x.dtype == dtype else x) for x in tensors]
    value = _arrays.asarray(compute(*arrays), device=tensors[0].device)
    if half and value.dtype == _core.float32:
        value = value.to(dtype)
    return attached(name, value, tensors, gradient)


def attached(name: str, value: Tensor, tensors: list, gradient) -> Tensor:
    """The value with its gradient, where one of the tensors that it was computed from requires one."""
    if not _core.is_grad_enabled() or not any(x.requires_grad for x in tensors):
        return value
    if not value.dtype.is_floating_point:
        return value
    if gradient is None:
        raise _core.AutogradError(f"{name} has no gradient: detach() what it is computed from, or use treadle.no_grad()")
    return _Formula.apply(gradient, value, *tensors)


class _Formula(Function):
    """Connects a value with what it was computed from."""

    @staticmethod
    def forward(ctx, gradient, value: Tensor, *inputs: Tensor) -> Tensor:
        ctx.gradient = gradient
        ctx.save_for_backward(*inputs)
        return value

    @staticmethod
    def backward(ctx, dy: Tensor) -> tuple:
        inputs = ctx.saved_tensors
        found = ctx.gradient(dy, *inputs)
        return None, None, *(None if g is None else _core.sum_to(g.to(x.dtype), x.shape) for g, x in zip(found, inputs))
