"""The surface of gpumat: float32 matrices on a device, each beside a NumPy array of the host.

    from treadle.compat.gpumat import PyGpuMatrix

    A = PyGpuMatrix(np.ones((2, 3), np.float32), 2, 3)
    B = PyGpuMatrix(np.ones((3, 4), np.float32), 3, 4)
    C = PyGpuMatrix(result := np.zeros((2, 4), np.float32), 2, 4)
    A.mul(2, 4, 3, B, C)
    C.loadFromDevice()  # result holds the product

A matrix keeps its array alive, takes any layout, and refuses extents that are not those of the arrays. What the
surface has no name for (elementwise functions, transposes, gradients) is a method of its `tensor`.
"""

import numpy as np

from treadle import _core
from treadle.compat._devices import default_device

__all__ = ["PyGpuMatrix"]


class PyGpuMatrix:
    """A matrix of M rows and N columns of float32, with a copy of the elements of `mat` on the device.

    mat: a NumPy array of float32 and shape (M, N), in any layout; `loadFromDevice()` writes into it.
    device: "cuda", "cpu", "simt"; None: the GPU where there is one, else the processor.
    Raises TypeError for what is no array, DTypeError for one that is not float32, ShapeError where its shape is not
    (M, N), DeviceAbsent for a device that is not there.
    """

    def __init__(self, mat: np.ndarray, M: int, N: int, device: str | None = None) -> None:
        if not isinstance(mat, np.ndarray):
            raise TypeError(f"PyGpuMatrix: {type(mat).__name__} is not a NumPy array")
        if mat.dtype != np.float32:
            raise _core.DTypeError(f"PyGpuMatrix: the array is {mat.dtype}, not float32")
        _require_shape("PyGpuMatrix: the array", mat.shape, (M, N))
        self._host = mat
        self._device = default_device() if device is None else device
        self.loadToDevice()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self._host.shape
        return rows, columns

    @property
    def tensor(self) -> _core.Tensor:
        """The elements on the device. What is written into it is what the matrix holds."""
        return self._matrix

    def loadToDevice(self) -> None:
        """Copies the array's elements to the device."""
        self._matrix = _core.from_array(self._host.copy(order="C")).to(self._device)

    def loadFromDevice(self) -> None:
        """Copies the device's elements into the array. Raises ValueError where that is read-only."""
        self._host[...] = self._matrix.to("cpu").numpy()

    def mul(self, M: int, N: int, K: int, B: "PyGpuMatrix", C: "PyGpuMatrix") -> None:
        """C becomes the product of this matrix, M×K, and B, K×N, on the device; C may be one of the two.

        Raises ShapeError naming both extents where a matrix has others, DeviceError for two devices.
        """
        _require_shape("mul: the matrix", self.shape, (M, K))
        _require_shape("mul: B", B.shape, (K, N))
        _require_shape("mul: C", C.shape, (M, N))
        C._becomes(self._matrix @ B._matrix)

    def add(self, M: int, N: int, B: "PyGpuMatrix", C: "PyGpuMatrix") -> None:
        """C becomes the sum of this matrix and B, all M×N, on the device; C may be one of the two.

        Raises ShapeError naming both extents where a matrix has others, DeviceError for two devices.
        """
        for name, matrix in (("the matrix", self), ("B", B), ("C", C)):
            _require_shape(f"add: {name}", matrix.shape, (M, N))
        C._becomes(self._matrix + B._matrix)

    def _becomes(self, result: _core.Tensor) -> None:
        if result.device != self._matrix.device:
            raise _core.DeviceError(f"C is on {self._matrix.device}, the operands on {result.device}")
        self._matrix = result

    def __repr__(self) -> str:
        return f"PyGpuMatrix({self.shape[0]}×{self.shape[1]} on {self._matrix.device})"


def _require_shape(what: str, shape: tuple[int, ...], wanted: tuple[int, int]) -> None:
    if shape != wanted:
        raise _core.ShapeError(f"{what} has shape {shape}, the call says {wanted}")
