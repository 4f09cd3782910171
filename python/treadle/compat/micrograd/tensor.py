"""Tensors that know how they were made: gradients of all of them by backward().

    x = Tensor([[1.0, 2.0]])
    y = (x * x + x).sum()
    y.backward()
    print(x.grad.data)  # [[3.0, 5.0]]
"""

from collections.abc import Sequence
from typing import Union

from treadle import _core
from treadle.compat.micrograd._data import Data, Shape, data_of, elements_of

__all__ = ["Tensor"]

Other = Union["Tensor", float, Data]


class Tensor:
    """Elements on a device, and the gradient of what is computed from them.

    data: numbers in nested lists, or a tensor of Treadle's, whose elements are copied to `device`.
    shape: compared with the data's, if it is given; ShapeError names both.
    label: a name, for whoever wants one.
    """

    _value: _core.Tensor
    _place: _core.Tensor
    _operands: "tuple[tuple[Tensor, _core.Tensor], ...]"
    _grad: "Tensor | None"
    label: str | None

    def __init__(
        self,
        data: Data,
        requires_grad: bool = True,
        shape: Sequence[int] | None = None,
        device: str = "cpu",
        label: str | None = None,
    ) -> None:
        self._replace(elements_of(data, device, shape), requires_grad)
        self._grad = None
        self.label = label

    @property
    def data(self) -> Data:
        """The elements: nested lists on the cpu, made anew each time, elsewhere a tensor of Treadle's.

        What is assigned replaces all of them, and cuts the tensor off from what it was computed from; its gradient
        stays. Raises ShapeError for data of another shape.
        """
        return data_of(self._value.detach())

    @data.setter
    def data(self, data: Data) -> None:
        self._replace(elements_of(data, self.device, self.shape), self.requires_grad)

    @property
    def shape(self) -> Shape:
        """The extents."""
        return self._value.shape

    @property
    def device(self) -> str:
        """Where the elements lie."""
        return self._value.device

    @property
    def requires_grad(self) -> bool:
        """Whether backward() leaves a gradient. Setting it cuts the tensor off from what it was computed from; without
        it there is no gradient."""
        return self._value.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._replace(self._value.detach(), value)
        if not value:
            self._grad = None

    @property
    def grad(self) -> "Tensor | None":
        """The sum of the gradients that backward() has found since zero_grad(); zeros before, None for a tensor that
        requires none."""
        if self._grad is None and self.requires_grad:
            self._grad = _result(_core.zeros_like(self._value.detach()))
        return self._grad

    @grad.setter
    def grad(self, gradient: "Tensor | None") -> None:
        if gradient is not None and gradient.shape != self.shape:
            raise _core.ShapeError(f"the gradient has shape {gradient.shape}, the tensor {self.shape}")
        self._grad = gradient

    def to(self, device: str) -> "Tensor":
        """Moves the elements and the gradient, and returns the tensor. A result stays connected with its operands."""
        if device == self.device:
            return self
        dtype = _core.float64 if device == "cpu" else _core.float32
        if self._operands:
            self._value = self._value.to(device).to(dtype)
        else:
            self._replace(self._value.detach().to(device).to(dtype), self.requires_grad)
        if self._grad is not None:
            self._grad.to(device)
        return self

    def zero_grad(self) -> None:
        """Sets the gradient to zeros."""
        self._grad = None

    def backward(self) -> None:
        """Adds the gradients of the sum of all elements to `grad` of this tensor and of all that it was computed from.

        It may be called again: every call adds the same. Raises AutogradError where nothing requires a gradient.
        """
        reached = self._reached()
        ones = _core.ones_like(self._value.detach())
        places = [place for _, place in reached]
        found = _core.grad([self._value], places, [ones], retain_graph=True, allow_unused=True)
        for (tensor, _), gradient in zip(reached, found):
            if gradient is not None and tensor.requires_grad:
                total = tensor.grad
                assert total is not None
                total._value = total._value + elements_of(gradient, tensor.device)

    def _reached(self) -> list[tuple["Tensor", _core.Tensor]]:
        """This tensor and all behind it, with the places that gradients lead to."""
        found = {id(self._place): (self, self._place)}
        waiting = [self]
        while waiting:
            for tensor, place in waiting.pop()._operands:
                if place.requires_grad and id(place) not in found:
                    found[id(place)] = (tensor, place)
                    waiting.append(tensor)
        return list(found.values())

    def _replace(self, elements: _core.Tensor, requires_grad: bool) -> None:
        self._begin(elements.detach(), ())
        self._value.requires_grad = requires_grad

    def _begin(self, value: _core.Tensor, operands: "tuple[Tensor, ...]") -> None:
        self._value = value
        # Where gradients of this tensor arrive: the value before it was moved.
        self._place = value
        # What it was computed from, with the places then: elements of a tensor may be replaced later.
        self._operands = tuple((operand, operand._place) for operand in operands) if value.requires_grad else ()

    def __add__(self, other: Other) -> "Tensor":
        other = self._operand(other)
        return _result(self._value + other._value, self, other)

    def __sub__(self, other: Other) -> "Tensor":
        other = self._operand(other)
        return _result(self._value - other._value, self, other)

    def __mul__(self, other: Other) -> "Tensor":
        other = self._operand(other)
        return _result(self._value * other._value, self, other)

    def __truediv__(self, other: Other) -> "Tensor":
        other = self._operand(other)
        return _result(self._value / other._value, self, other)

    def __matmul__(self, other: Other) -> "Tensor":
        other = self._operand(other)
        return _result(self._value @ other._value, self, other)

    def __pow__(self, exponent: float) -> "Tensor":
        return _result(self._value**exponent, self)

    def __radd__(self, other: Other) -> "Tensor":
        return self._operand(other) + self

    def __rsub__(self, other: Other) -> "Tensor":
        return self._operand(other) - self

    def __rmul__(self, other: Other) -> "Tensor":
        return self._operand(other) * self

    def __rtruediv__(self, other: Other) -> "Tensor":
        return self._operand(other) / self

    def __rmatmul__(self, other: Other) -> "Tensor":
        return self._operand(other) @ self

    def __neg__(self) -> "Tensor":
        return _result(-self._value, self)

    @property
    def T(self) -> "Tensor":
        """Rows as columns; gradients pass."""
        return _result(self._value.T, self)

    def tanh(self) -> "Tensor":
        """The hyperbolic tangent of each element."""
        return _result(self._value.tanh(), self)

    def abs(self) -> "Tensor":
        """The absolute value of each element; its gradient at 0 is 0."""
        return _result(self._value.abs(), self)

    def sum(self) -> "Tensor":
        """The sum of all elements, of shape (1, 1)."""
        return _result(self._value.sum().reshape(1, 1), self)

    def concat(self, other: "Tensor", axis: int = 0) -> "Tensor":
        """This tensor, then `other`, along an axis. Raises ShapeError where other extents differ."""
        return _result(_core.concat([self._value, other._value], axis), self, other)

    def __getitem__(self, index: "int | slice | tuple[int | slice, ...]") -> "Tensor":
        """A part: a number takes a row or a column and keeps its axis. Raises IndexError outside of the tensor."""
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) > len(self.shape):
            raise IndexError(f"{len(parts)} indices for a tensor of shape {self.shape}")
        key = tuple(_kept_axis(part, extent) for part, extent in zip(parts, self.shape))
        return _result(self._value[key], self)

    def __repr__(self) -> str:
        return f"Tensor(data={self.data})"

    def _operand(self, other: Other) -> "Tensor":
        return other if isinstance(other, Tensor) else Tensor(other, requires_grad=False, device=self.device)


def _result(value: _core.Tensor, *operands: Tensor) -> Tensor:
    tensor = Tensor.__new__(Tensor)
    tensor._begin(value, operands)
    tensor._grad, tensor.label = None, None
    return tensor


def _kept_axis(part: int | slice, extent: int) -> slice:
    """The slice that takes what the index does."""
    if isinstance(part, slice):
        return part
    if not -extent <= part < extent:
        raise IndexError(f"index {part} of an axis of extent {extent}")
    return slice(part % extent, part % extent + 1)
