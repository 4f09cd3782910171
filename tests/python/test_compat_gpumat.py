"""The surface of gpumat: its example, and what the original got wrong."""

import gc
import weakref

import numpy as np
import pytest
import treadle as td
from treadle.compat.gpumat import PyGpuMatrix

# The original's example; its import line is what changes.
EXAMPLE = """
from gpumat import PyGpuMatrix
import numpy as np

import time

M = 5000
K = 5000
N = 5000

k = np.ones((M, N), dtype=np.float32)

A = PyGpuMatrix(np.ones((M, K), dtype=np.float32), M, K)
B = PyGpuMatrix(np.ones((K, N), dtype=np.float32), K, N)
C = PyGpuMatrix(k, M, N)

start = time.time()
print("Start Multiplication!")
A.mul(M, N, K, B, C)
C.loadFromDevice()

stop = time.time()
print("Done!")

print("Time elapsed: ", stop - start)

print(k)
"""


def matrix(array, device="cpu"):
    return PyGpuMatrix(array, *array.shape, device=device)


def test_the_example_runs(capsys):
    """With matrices that take no second."""
    names = {}
    exec(EXAMPLE.replace("from gpumat", "from treadle.compat.gpumat").replace("5000", "200"), names)
    assert (names["k"] == 200).all()
    assert "Done!" in capsys.readouterr().out


@pytest.mark.parametrize("device", ["cpu", "simt"])
def test_shapes_that_are_not_square(device):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((3, 5), np.float32), rng.standard_normal((5, 7), np.float32)
    product, total = np.zeros((3, 7), np.float32), np.zeros((3, 5), np.float32)
    A, B, C, D = matrix(a, device), matrix(b, device), matrix(product, device), matrix(total, device)
    A.mul(3, 7, 5, B, C)
    A.add(3, 5, A, D)
    assert not product.any() and not total.any()  # the array is the host's until it is loaded
    C.loadFromDevice()
    D.loadFromDevice()
    # A sum of five products: off by five roundings of their absolute sum at most.
    bound = 5 * 2.0**-24 * (abs(a) @ abs(b)).max()
    np.testing.assert_allclose(product, a @ b, rtol=0, atol=bound)
    np.testing.assert_array_equal(total, a + a)


def test_operands_are_read_before_the_result_is_written():
    a = np.array([[1, 2], [3, 4]], np.float32)
    A = matrix(a)
    A.mul(2, 2, 2, A, A)
    A.loadFromDevice()
    np.testing.assert_array_equal(a, [[7, 10], [15, 22]])


def test_the_host_and_the_device_change_apart():
    a = np.ones((2, 2), np.float32)
    A = matrix(a)
    a[0, 0] = 5
    A.loadFromDevice()
    assert a[0, 0] == 1
    a[0, 0] = 5
    A.loadToDevice()
    assert A.tensor[0, 0].item() == 5


def test_arrays_live_as_long_as_their_matrices():
    a = np.full((2, 3), 3, np.float32)
    gone = weakref.ref(a)
    A = matrix(a)
    del a
    gc.collect()
    assert gone() is not None
    A.loadFromDevice()
    assert (gone() == 3).all()
    del A
    gc.collect()
    assert gone() is None


def test_arrays_of_any_layout():
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    view = base[::2, ::-3].T
    A = matrix(view)
    np.testing.assert_array_equal(A.tensor.numpy(), view)
    A.add(*view.shape, A, A)
    A.loadFromDevice()
    assert base[0, 5] == 10 and base[0, 4] == 4


def test_extents_that_are_not_the_arrays_are_refused():
    a = np.ones((2, 3), np.float32)
    with pytest.raises(td.ShapeError, match=r"\(2, 3\).*\(4, 3\)"):
        PyGpuMatrix(a, 4, 3, device="cpu")
    with pytest.raises(td.ShapeError, match=r"\(6,\)"):
        PyGpuMatrix(a.reshape(-1), 2, 3, device="cpu")
    A, B = matrix(a), matrix(a)
    with pytest.raises(td.ShapeError, match=r"B has shape \(2, 3\), the call says \(3, 2\)"):
        A.mul(2, 2, 3, B, matrix(np.ones((2, 2), np.float32)))
    with pytest.raises(td.ShapeError, match="C has shape"):
        A.add(2, 3, B, matrix(np.ones((3, 2), np.float32)))


def test_what_is_no_matrix_of_float32_is_refused():
    with pytest.raises(td.DTypeError, match="float64"):
        PyGpuMatrix(np.ones((2, 2)), 2, 2)
    with pytest.raises(TypeError, match="list"):
        PyGpuMatrix([[1.0]], 1, 1)
    one = np.ones((1, 1), np.float32)
    with pytest.raises(td.DeviceError, match="cpu and simt"):
        matrix(one).add(1, 1, matrix(one, "simt"), matrix(one))
    with pytest.raises(td.DeviceError, match="C is on simt"):
        matrix(one).add(1, 1, matrix(one), matrix(one, "simt"))


def test_a_read_only_array_is_not_written():
    a = np.ones((1, 2), np.float32)
    a.flags.writeable = False
    A = matrix(a)
    with pytest.raises(ValueError, match="read-only"):
        A.loadFromDevice()
