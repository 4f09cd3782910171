"""Matrix operations by name, on data: nested lists on the cpu, tensors of Treadle's on other devices.

    data, shape = Operations("cpu").matrix_mul([[1, 2]], [[3], [4]])  # [[11.0]], (1, 1)

Each gives a pair of data and shape, and takes such a pair wherever it takes data. A `shape` that is given is compared
with the data's: ShapeError names both.
"""

from collections.abc import Sequence

from treadle import _core
from treadle.compat.micrograd._data import Data, Shape, data_of, elements_of

__all__ = ["Operations"]

Result = tuple[Data, Shape]


class Operations:
    """The operations on one device: "cpu", "cuda", "simt"."""

    def __init__(self, device: str) -> None:
        self.device = device

    def to_device(self, data: Data, shape: Sequence[int] | None = None) -> Result:
        """The data, of any device, on this one."""
        return self._result(self._take(data, shape))

    def zeros_matrix_like(self, shape: Sequence[int]) -> Result:
        """Zeros of a shape."""
        return self._filled(shape, 0.0)

    def ones_matrix_like(self, shape: Sequence[int]) -> Result:
        """Ones of a shape."""
        return self._filled(shape, 1.0)

    def matrix_mul(
        self, a: Data, b: Data, shape_a: Sequence[int] | None = None, shape_b: Sequence[int] | None = None
    ) -> Result:
        """The product a·b of [M, K] and [K, N]."""
        return self._result(self._take(a, shape_a) @ self._take(b, shape_b))

    def matrix_scalar_mul(self, scalar: float, matrix: Data, shape: Sequence[int] | None = None) -> Result:
        """Each element times the number."""
        return self._result(self._take(matrix, shape) * scalar)

    def matrix_add(
        self,
        a: Data,
        b: Data,
        shape: Sequence[int] | None = None,
        shape_a: Sequence[int] | None = None,
        shape_b: Sequence[int] | None = None,
    ) -> Result:
        """The sum; a row, a column or a single element is added to all. `shape` is that of both."""
        return self._result(self._take(a, shape_a or shape) + self._take(b, shape_b or shape))

    def element_wise_mul(self, a: Data, b: Data, shape: Sequence[int] | None = None) -> Result:
        """The products of elements. `shape` is that of both."""
        return self._result(self._take(a, shape) * self._take(b, shape))

    def matrix_transpose(self, matrix: Data, shape: Sequence[int] | None = None) -> Result:
        """Rows as columns."""
        return self._result(self._take(matrix, shape).T)

    def power(self, matrix: Data, exponent: float, shape: Sequence[int] | None = None) -> Result:
        """Each element to the power of the number."""
        return self._result(self._take(matrix, shape) ** exponent)

    def power_prime(self, matrix: Data, exponent: float, shape: Sequence[int] | None = None) -> Result:
        """The derivative of power(): exponent·x^(exponent − 1)."""
        return self._result(self._take(matrix, shape) ** (exponent - 1) * exponent)

    def tanh(self, matrix: Data, shape: Sequence[int] | None = None) -> Result:
        """The hyperbolic tangent of each element."""
        return self._result(self._take(matrix, shape).tanh())

    def tanh_prime(self, matrix: Data, shape: Sequence[int] | None = None) -> Result:
        """The derivative of tanh(): 1 − tanh²x."""
        return self._result(1 - self._take(matrix, shape).tanh() ** 2)

    def matrix_concat(
        self, a: Data, b: Data, shape_a: Sequence[int] | None = None, shape_b: Sequence[int] | None = None
    ) -> Result:
        """The rows of `a`, below them those of `b`."""
        return self._result(_core.concat([self._take(a, shape_a), self._take(b, shape_b)], 0))

    def summation(self, matrix: Data, shape: Sequence[int] | None = None) -> Result:
        """The sum of all elements, as a matrix of one."""
        return self._result(self._take(matrix, shape).sum().reshape(1, 1))

    def indexing_2d(
        self, matrix: Data, rows: int, columns: int, first_row: int, first_column: int, shape: Sequence[int] | None = None
    ) -> Result:
        """The block of so many rows and columns from an element on. Raises IndexError where it leaves the matrix."""
        elements = self._take(matrix, shape)
        for name, count, first, extent in (
            ("rows", rows, first_row, elements.shape[0]),
            ("columns", columns, first_column, elements.shape[1]),
        ):
            if first < 0 or count < 0 or first + count > extent:
                raise IndexError(f"{name} {first} to {first + count} of a matrix that has {extent}")
        return self._result(elements[first_row : first_row + rows, first_column : first_column + columns])

    def _take(self, data: Data, shape: Sequence[int] | None) -> _core.Tensor:
        return elements_of(data, self.device, shape)

    def _filled(self, shape: Sequence[int], value: float) -> Result:
        dtype = _core.float64 if self.device == "cpu" else _core.float32
        return self._result(_core.full(tuple(shape), value, dtype, self.device))

    def _result(self, elements: _core.Tensor) -> Result:
        return data_of(elements), elements.shape
