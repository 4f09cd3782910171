"""Tensors as arrays: operators, updates in place, creation, conversions, copies, printing."""

import copy
import operator
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest
import treadle as td

DTYPES = ("float32", "float64", "float16", "int8", "uint8", "int16", "int32", "int64", "bool")
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")


def values(dtype, shape=(3, 4), seed=0):
    """Small numbers of a dtype, none of them 0."""
    drawn = np.random.default_rng(seed).integers(1, 7, shape)
    return (drawn % 2 == 0) if dtype == "bool" else drawn.astype(dtype)


# --- operators ---


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne"])
@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "bool"])
def test_arithmetic_is_that_of_numpy(name, dtype):
    a, b = values(dtype), values(dtype, (4,), 1)
    function = getattr(operator, name)
    ours, theirs = function(td.tensor(a), td.tensor(b)), function(a, b)
    if name == "truediv" and dtype in INTEGERS:  # as PyTorch: integers divide to float32
        theirs = theirs.astype(np.float32)
    # A division and a power of small integers are off by an ulp of the dtype they are computed in, at most.
    ulps = 4 if dtype in ("float16", "float32", "float64") else 0
    np.testing.assert_allclose(
        ours.numpy(), theirs, rtol=ulps * np.finfo(theirs.dtype).eps if ulps and theirs.dtype != bool else 0
    )
    assert ours.numpy().dtype == theirs.dtype


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift"])
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_bits_are_those_of_numpy(name, dtype):
    if dtype == "bool" and name.endswith("shift"):
        with pytest.raises(td.DTypeError, match="integers are expected"):
            getattr(operator, name)(td.tensor([True]), td.tensor([True]))
        return
    a, b = values(dtype), values(dtype, (4,), 1)
    function = getattr(operator, name)
    np.testing.assert_array_equal(function(td.tensor(a), td.tensor(b)).numpy(), function(a, b), strict=True)
    np.testing.assert_array_equal((~td.tensor(a)).numpy(), ~a, strict=True)


def test_bits_of_floats_are_refused():
    with pytest.raises(td.DTypeError, match="bitwise_and.*float32"):
        td.tensor([1.0]) & 1
    with pytest.raises(td.DTypeError, match="bitwise_invert.*float32"):
        ~td.tensor([1.0])


def test_sines_are_ops_that_are_compiled():
    angles = np.linspace(-7, 7, 9)
    x = td.tensor(angles, requires_grad=True)
    y = td.compile(lambda x: td.sin(x) * x.cos())(x.detach())
    # Three roundings of numbers up to 1.
    np.testing.assert_allclose(y.numpy(), np.sin(angles) * np.cos(angles), rtol=0, atol=3 * np.finfo(float).eps)
    (td.sin(x) * td.cos(x)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(2 * angles), rtol=0, atol=6 * np.finfo(float).eps)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_division_rounds_down_as_pythons(dtype):
    a = np.array([7, -7, 7, -7, 0], dtype)
    b = np.array([2, 2, -2, -2, 3], dtype)
    quotient, rest = divmod(td.tensor(a), td.tensor(b))
    np.testing.assert_array_equal(quotient.numpy(), a // b, strict=True)
    np.testing.assert_array_equal(rest.numpy(), a % b, strict=True)
    np.testing.assert_array_equal((7 // td.tensor(b)).numpy(), 7 // b, strict=True)
    np.testing.assert_array_equal((-7 % td.tensor(b)).numpy(), -7 % b, strict=True)


def test_integers_divided_by_zero_are_refused():
    with pytest.raises(ZeroDivisionError):
        td.tensor([1, 2]) // td.tensor([1, 0])
    assert np.isinf((td.tensor([1.0]) // 0.0).item())


def test_numbers_keep_the_dtype_of_tensors():
    half = td.tensor([1.0, 2.0]).to(td.float16)
    assert (half + 1).dtype == (2.5 * half).dtype == (half // 2).dtype == td.float16
    small = td.tensor(np.array([3], np.uint8))
    assert (small + 1).dtype == (small % 2).dtype == (small | 4).dtype == td.uint8
    assert (small + 0.5).dtype == (0.5 // small).dtype == td.float32
    assert (td.tensor([True]) + 1).dtype == td.int64
    assert td.result_type(small, half, 1.0) == td.float16
    assert td.result_type(td.float32, td.float64) == td.float64
    assert td.result_type(small, td.tensor(1)) == td.uint8  # a tensor of rank 0 is weaker
    with pytest.raises(td.ValueError, match="300 is no uint8"):
        small & 300


def test_numpys_numbers_are_operands_and_other_things_are_not():
    x = td.tensor([1.0, 2.0])
    assert (np.float32(2) * x).tolist() == (x * np.int64(2)).tolist() == [2, 4]
    for other in (np.array(["a", "b"]), "a", None, [1.0]):
        with pytest.raises(TypeError, match="unsupported operand|does not support"):
            x + other
        with pytest.raises(TypeError, match="unsupported operand|does not support"):
            x // other


def test_matmul_of_vectors_and_batches():
    a, b = np.random.default_rng(0).random((2, 3, 4), "f"), np.random.default_rng(1).random((4, 5), "f")
    np.testing.assert_allclose((td.tensor(a) @ td.tensor(b)).numpy(), a @ b, rtol=4 * np.finfo("f").eps)
    assert (td.tensor(b[0]) @ td.tensor(b[1])).shape == ()
    with pytest.raises(td.ShapeError, match=r"matmul.*\[2, 3, 4\].*\[3, 5\]|3.*4.*5"):
        td.tensor(a) @ td.tensor(b[:3])


def test_gradients_of_whole_division():
    a, b = td.tensor([7.5, -7.5], requires_grad=True), td.tensor([2.0, 2.0], requires_grad=True)
    (a % b).sum().backward()
    assert a.grad.tolist() == [1, 1] and b.grad.tolist() == [-3, 4]
    a.grad = b.grad = None
    (a // b + a).sum().backward()
    assert a.grad.tolist() == [1, 1] and b.grad is None


# --- in place ---


def test_updates_in_place_show_in_views_and_arrays():
    memory = np.ones((2, 3), "f")
    x = td.from_numpy(memory)
    row, same = x[1], x
    x += 1
    x *= td.tensor([1.0, 2.0, 3.0])
    x -= 1
    x /= 2
    assert same is x and row.tolist() == [0.5, 1.5, 2.5] and memory[0].tolist() == [0.5, 1.5, 2.5]
    x //= 1
    x **= 2
    x %= 3
    assert memory[1].tolist() == [0, 1, 1]


def test_updates_in_place_keep_dtype_and_shape():
    x = td.tensor([1, 2])
    with pytest.raises(td.DTypeError, match="gives f32, the tensor holds i64"):
        x += 0.5
    with pytest.raises(td.ShapeError, match=r"gives shape \[3, 2\], the tensor has \[2\]"):
        x += td.zeros((3, 2), dtype="int64")
    half = td.tensor([1.0]).to(td.float16)
    half += td.tensor([1.0])
    assert half.dtype == td.float16
    flags = td.tensor([True, False])
    flags |= td.tensor([False, True])
    flags &= td.tensor([True, False])
    flags ^= td.tensor([True, True])
    assert flags.tolist() == [False, True]
    bits = td.tensor([3])
    bits <<= 2
    bits >>= 1
    assert bits.tolist() == [6]


def test_leaves_that_require_gradients_are_not_updated_in_place():
    w = td.tensor([1.0], requires_grad=True)
    for update in (lambda: operator.iadd(w, 1), lambda: operator.setitem(w, 0, 1.0)):
        with pytest.raises(td.AutogradError, match="no_grad"):
            update()
    with td.no_grad():
        w += 1
        w[0] = w[0] * 2
    assert w.tolist() == [4] and w.requires_grad and w.is_leaf


def test_gradients_flow_through_updates_in_place():
    w = td.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = w * w
    h += w
    h *= w
    total = td.zeros(3)
    total += h
    total[1] = w[0] * 5
    assert total.requires_grad and not total.is_leaf
    total.sum().backward()
    # h = w³ + w²; element 1 was replaced by 5·w[0].
    np.testing.assert_allclose(w.grad.numpy(), [3 + 2 + 5, 0, 27 + 6])


def test_updates_with_gradients_refuse_memory_that_others_read():
    w = td.tensor([1.0, 2.0], requires_grad=True)
    h = w * 2
    view = h[0]
    with pytest.raises(td.AutogradError, match="others read"):
        h += 1
    with pytest.raises(td.AutogradError, match="others read"):
        view += 1


def test_what_a_gradient_needs_is_not_changed_unseen():
    w = td.tensor([2.0], requires_grad=True)
    a = td.tensor([7.0])
    y = a % w
    a += 1
    with pytest.raises(td.AutogradError, match="modified"):
        y.sum().backward()


# --- creation ---


def test_creation_is_numpys():
    same = np.testing.assert_array_equal
    same(td.zeros(2, 3).numpy(), np.zeros((2, 3), "f"), strict=True)
    same(td.ones((2, 3), dtype=int).numpy(), np.ones((2, 3), int), strict=True)
    same(td.full((2,), 7).numpy(), np.full(2, 7), strict=True)
    same(td.full((), True).numpy(), np.array(True), strict=True)
    same(td.full((2,), 2**62 + 1).numpy(), np.full(2, 2**62 + 1), strict=True)
    same(td.arange(5).numpy(), np.arange(5), strict=True)
    same(td.arange(5, 0, -2).numpy(), np.arange(5, 0, -2), strict=True)
    same(td.arange(0, 1, 0.25).numpy(), np.arange(0, 1, 0.25, dtype="f"), strict=True)
    same(td.arange(3, 1).numpy(), np.arange(3, 1), strict=True)
    same(td.linspace(0, 1, 5, dtype="float64").numpy(), np.linspace(0, 1, 5), strict=True)
    same(td.linspace(0, 1, 4, endpoint=False).numpy(), np.linspace(0, 1, 4, endpoint=False, dtype="f"), strict=True)
    same(td.eye(3, 4, k=1).numpy(), np.eye(3, 4, 1, "f"), strict=True)
    same(td.eye(2, k=-1, dtype="bool").numpy(), np.eye(2, k=-1, dtype=bool), strict=True)
    x = np.arange(12.0).reshape(1, 3, 4).astype("f")
    for k in (-1, 0, 2):
        same(td.tril(td.tensor(x), k).numpy(), np.tril(x, k), strict=True)
        same(td.triu(td.tensor(x), k).numpy(), np.triu(x, k), strict=True)
    parts = [np.arange(2), np.arange(3), np.arange(4)]
    for indexing in ("xy", "ij"):
        for ours, theirs in zip(td.meshgrid(*map(td.tensor, parts), indexing=indexing), np.meshgrid(*parts, indexing=indexing)):
            same(ours.numpy(), theirs, strict=True)
    like = td.tensor(x).to(td.float16)
    assert td.zeros_like(like).dtype == td.float16 and td.ones_like(like, dtype="int64").dtype == td.int64
    assert td.empty_like(like).shape == like.shape and td.full_like(like, 2).tolist()[0][0][0] == 2
    assert td.zeros(3, requires_grad=True).requires_grad


def test_tensors_are_put_together_and_taken_apart():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(td.stack([td.tensor(a), td.tensor(a)], -1).numpy(), np.stack([a, a], -1), strict=True)
    np.testing.assert_array_equal(td.concat([td.tensor(a), td.tensor(b)], 1).numpy(), np.concatenate([a, b], 1), strict=True)
    np.testing.assert_array_equal(td.concat([td.tensor(a), td.tensor(b)], None).numpy(), np.concatenate([a, b], None))
    assert [x.shape for x in td.split(td.arange(7), 3)] == [(3,), (3,), (1,)]
    assert [x.tolist() for x in td.arange(7).split([1, 0, 6])] == [[0], [], [1, 2, 3, 4, 5, 6]]
    assert [x.shape for x in td.chunk(td.zeros(2, 7), 3, 1)] == [(2, 3), (2, 3), (2, 1)]
    assert [x.tolist() for x in td.tensor(b).unbind(1)] == [[0, 3], [1, 4], [2, 5]]
    x = td.tensor(a, requires_grad=True)
    first, second = x.split([1, 2], 1)
    td.stack([first.sum(), (second * 2).sum()]).sum().backward()
    assert x.grad.tolist() == [[1, 2, 2], [1, 2, 2]]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: td.stack([td.zeros(2), td.zeros(3)]), td.ShapeError, r"\(2,\) and \(3,\)"),
        (lambda: td.stack([]), td.ValueError, "no tensors"),
        (lambda: td.split(td.zeros(4), [1, 2]), td.ValueError, r"\[1, 2\].*extent 4"),
        (lambda: td.split(td.zeros(4), 0), td.ValueError, "parts of 0"),
        (lambda: td.chunk(td.zeros(4), 2, 1), td.ShapeError, "axis 1.*rank 1"),
        (lambda: td.tril(td.zeros(3)), td.ShapeError, "matrices"),
        (lambda: td.meshgrid(td.zeros(2, 2)), td.ShapeError, "one axis"),
        (lambda: td.meshgrid(td.zeros(2), indexing="ji"), td.ValueError, "'xy' or 'ij'"),
        (lambda: td.arange(0, 3, 0), td.ValueError, "step"),
        (lambda: td.linspace(0, 1, -1), td.ValueError, "-1 numbers"),
        (lambda: td.full((2,), -1, "uint8"), td.ValueError, "-1"),
        (lambda: td.tensor("abc"), TypeError, "does not hold numbers"),
        (lambda: td.tensor([[1], [1, 2]]), td.ValueError, "rows of one length"),
        (lambda: td.tensor(np.zeros(2, complex)), td.DTypeError, "none of the dtypes"),
        (lambda: td.zeros(2).to("nowhere"), td.ValueError, "nowhere"),
        (lambda: td.zeros(2).to(1.5), TypeError, "a device, a dtype or a tensor"),
        (lambda: td.zeros(2, 2).to(td.float16).numpy()[0, 5], IndexError, "out of bounds"),
        (lambda: operator.index(td.tensor(1.5)), TypeError, "rank 0"),
        (lambda: len(td.tensor(1)), TypeError, "no length"),
        (lambda: td.zeros(2).item(), td.ShapeError, "2|elements"),
    ],
)
def test_errors_name_what_does_not_fit(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- reductions and moves ---


def test_reductions_take_axis_and_keepdims():
    a = np.random.default_rng(0).random((2, 3, 4))
    x = td.tensor(a)
    for name in ("sum", "mean", "max", "min"):
        for axis in (None, 0, -1, (0, 2), [1]):
            for keepdims in (False, True):
                theirs = getattr(np, name)(a, axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims)
                ours = getattr(x, name)(axis=axis, keepdims=keepdims)
                np.testing.assert_allclose(ours.numpy(), theirs, rtol=24 * np.finfo(float).eps)
    assert x.argmax(1, keepdims=True).shape == (2, 1, 4)


def test_transposes_are_views():
    x = td.tensor(np.arange(24.0).reshape(2, 3, 4))
    assert x.T.shape == (4, 3, 2) and x.mT.shape == (2, 4, 3)
    assert x.T.data_ptr() == x.data_ptr() and not x.T.is_contiguous
    assert x.permute(2, 0, 1).shape == x.permute((2, 0, 1)).shape == (4, 2, 3)
    assert x.reshape(-1, 4).shape == x.reshape((6, -1)).shape == (6, 4)
    assert x.nbytes == 24 * 8 and x.itemsize == 8


def test_to_takes_dtypes_devices_and_tensors():
    x = td.tensor([1.0, 2.0])
    assert x.to(td.float32) is not None and x.to("cpu").same_as(x) and not x.to("cpu", copy=True).same_as(x)
    assert x.to("float64", "simt").device == "simt" and x.to(dtype=int, device="simt").dtype == td.int64
    like = td.zeros(1, dtype="float16", device="simt")
    assert (x.to(like).dtype, x.to(like).device) == (td.float16, "simt")
    assert x.to("simt").to("cpu").tolist() == [1, 2]


def test_numbers_of_single_elements():
    assert float(td.tensor(1.5)) == 1.5 and int(td.tensor(-1.5)) == -1 and bool(td.tensor([0.0])) is False
    assert int(td.tensor(2**62 + 1)) == td.tensor(2**62 + 1).item() == 2**62 + 1
    assert [10, 20, 30][td.tensor(1)] == 20 and 2.0 in td.tensor([1.0, 2.0]) and 3.0 not in td.tensor([1.0])
    assert f"{td.tensor(0.12345):.2f}" == "0.12"
    assert type(td.tensor(True).item()) is bool and type(td.tensor(1.0).item()) is float
    assert [x.item() for x in td.tensor([1, 2])] == [1, 2]


# --- arrays of others ---


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_share_memory_both_ways(dtype):
    array = values(dtype)
    x = td.from_numpy(array)
    assert x.data_ptr() == array.ctypes.data and x.dtype == dtype
    assert td.asarray(array).data_ptr() == array.ctypes.data
    for back in (x.numpy(), np.asarray(x), np.from_dlpack(x), np.asarray(memoryview(x))):
        assert back.ctypes.data == array.ctypes.data and back.dtype == array.dtype
        np.testing.assert_array_equal(back, array)
    x[0, 0] = 0
    assert array[0, 0] == 0
    np.testing.assert_array_equal(np.asarray(x[:, ::2].T), array[:, ::2].T)


def test_asarray_copies_where_it_must():
    array = np.arange(4.0)
    assert td.asarray(array, copy=True).data_ptr() != array.ctypes.data
    assert td.asarray([1.0, 2.0]).dtype == td.float32 and td.asarray(array, dtype="float32").dtype == td.float32
    x = td.tensor([1.0])
    assert td.asarray(x).same_as(x)
    backwards, fixed = array[::-1], array.copy()
    fixed.flags.writeable = False
    big = array.astype(">f8")
    for other in (backwards, fixed, big, [1.0]):
        np.testing.assert_array_equal(td.asarray(other).numpy(), np.asarray(other, "f" if isinstance(other, list) else float))
        with pytest.raises(td.ValueError, match="copy"):
            td.asarray(other, copy=False)
    with pytest.raises(td.ValueError, match="copy"):
        td.asarray(array, dtype="float32", copy=False)


def test_from_numpy_says_what_it_does_not_take():
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    for array, error in ((fixed, td.ValueError), (np.zeros(4)[::-1], td.ValueError), (np.zeros(2, ">f4"), td.DTypeError)):
        with pytest.raises(error):
            td.from_numpy(array)
    with pytest.raises(TypeError, match="list is not a NumPy array"):
        td.from_numpy([1.0])


class Producer:
    """Another library's array, which has DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_both_ways():
    array = np.arange(6, dtype="f").reshape(2, 3)
    x = td.from_dlpack(Producer(array))
    assert x.data_ptr() == array.ctypes.data
    assert td.asarray(Producer(array)).data_ptr() == array.ctypes.data
    assert td.from_dlpack(Producer(array), copy=True).data_ptr() != array.ctypes.data
    assert td.from_dlpack(Producer(array), device="simt").device == "simt"
    assert np.from_dlpack(x.T).strides == (4, 12) and x.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        td.from_dlpack(Producer(array), device="simt", copy=False)
    with pytest.raises(TypeError, match="list has no __dlpack__"):
        td.from_dlpack([1.0])


def test_arguments_of_dlpack():
    x = td.tensor([1.0, 2.0])
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(x.__dlpack__()) and '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    x.__dlpack__(stream=None, max_version=(1, 1), dl_device=(1, 0), copy=False)
    assert np.from_dlpack(x, copy=True).ctypes.data != x.data_ptr()
    for wrong, error in (
        ({"dl_device": (2, 0)}, BufferError),
        ({"dl_device": "cpu"}, TypeError),
        ({"stream": 1}, ValueError),
        ({"max_version": 1}, TypeError),
    ):
        with pytest.raises(error):
            x.__dlpack__(**wrong)
    with pytest.raises(BufferError, match="detach"):
        np.from_dlpack(td.tensor([1.0], requires_grad=True))


def test_bfloat16_goes_by_dlpack_and_as_float32():
    x = td.tensor([1.5, -2.0]).to(td.bfloat16)
    assert td.from_dlpack(Producer(x)).dtype == td.bfloat16
    assert np.asarray(x).dtype == np.float32 and x.tolist() == [1.5, -2]
    with pytest.raises(td.DTypeError, match="bfloat16"):
        x.numpy()
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(x)


def test_pytorch_shares_memory():
    torch = pytest.importorskip("torch")
    ours = td.tensor([[1.0, 2.0], [3.0, 4.0]])
    theirs = torch.from_dlpack(ours)
    theirs[0, 0] = 9
    assert ours[0, 0].item() == 9 and torch.from_dlpack(ours.to(td.bfloat16)).dtype == torch.bfloat16
    back = td.from_dlpack(theirs.T)
    assert back.data_ptr() == ours.data_ptr() and back.strides == (1, 2)


def test_buffers():
    x = td.tensor([[1, 2, 3], [4, 5, 6]])
    view = memoryview(x)
    assert view.shape == (2, 3) and view.strides == (24, 8) and view.tolist() == x.tolist() and not view.readonly
    view[0, 1] = 7
    assert x[0, 1].item() == 7 and bytes(x) == x.numpy().tobytes()
    assert memoryview(x.T).strides == (8, 24)
    assert bytes(x[:, ::2].contiguous()) == x.numpy()[:, ::2].tobytes()
    leaf = td.tensor([1.0], requires_grad=True)
    assert memoryview(leaf).readonly and not np.asarray(leaf).flags.writeable and not leaf.numpy().flags.writeable
    with pytest.raises(BufferError, match="row-major"):
        struct.unpack_from("q", x.T)
    with pytest.raises(TypeError, match="read-write"):
        struct.pack_into("f", leaf, 0, 1.0)


def test_cuda_array_interface_is_of_cuda_alone():
    assert not hasattr(td.tensor([1.0]), "__cuda_array_interface__")


# --- copies and pickles ---


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_pickles_hold_everything(dtype):
    x = td.tensor(values("bool" if dtype == "bool" else "float32")).to(dtype).T
    x = x.detach()
    if x.dtype.is_floating_point:
        x.requires_grad = True
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert (again.dtype, again.shape, again.requires_grad) == (x.dtype, x.shape, x.requires_grad)
        assert again.tolist() == x.tolist() and again.data_ptr() != x.data_ptr()
    assert copy.copy(x).data_ptr() == x.data_ptr() and pickle.loads(pickle.dumps(x.dtype)) == x.dtype


def test_deep_copies_have_their_own_gradients():
    x = td.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    again = copy.deepcopy([x, x])
    assert again[0] is again[1] and again[0].grad.tolist() == [2, 4] and not again[0].grad.same_as(x.grad)
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(td.AutogradError, match="leaves"):
            copied(x * 2)


# --- printing ---


def test_values_are_printed_as_numpys():
    assert repr(td.tensor([[1.0, 2.5], [-3.0, 0.25]])) == "tensor([[ 1.  ,  2.5 ],\n        [-3.  ,  0.25]])"
    assert repr(td.tensor([1.0, 1 / 3]).to(td.float16)) == "tensor([1.    , 0.3333], dtype=float16)"
    assert repr(td.tensor([True, False])) == "tensor([ True, False])"
    assert repr(td.tensor(3)) == "tensor(3)" and repr(td.zeros(0)) == "tensor([])"
    assert repr(td.zeros(2, 0)) == "tensor([], shape=(2, 0))"
    assert repr(td.tensor([1.5]).to(td.bfloat16)) == "tensor([1.5], dtype=bfloat16)"
    assert repr(td.tensor([1.0], device="simt")) == "tensor([1.], device='simt')"
    leaf = td.tensor([1.0], requires_grad=True)
    assert repr(leaf) == "tensor([1.], requires_grad=True)" and repr(leaf * 2) == "tensor([2.], has_gradient=True)"


def test_large_tensors_are_shortened():
    text = repr(td.arange(2000))
    assert text == "tensor([   0,    1,    2, ..., 1997, 1998, 1999], shape=(2000,))"
    text = repr(td.zeros(100, 100))
    assert text.count("...") == 7 and "shape=(100, 100)" in text
    assert "..." not in repr(td.zeros(10, 100))


def test_print_options():
    try:
        td.set_printoptions(precision=2, threshold=3, edgeitems=1)
        assert repr(td.tensor([1 / 3] * 5)) == "tensor([0.33, ..., 0.33], shape=(5,))"
        td.set_printoptions(sci_mode=True)
        assert "3.33e-01" in repr(td.tensor([1 / 3]))
        with pytest.raises(td.ValueError, match="precision"):
            td.set_printoptions(precision=-1)
    finally:
        td.set_printoptions(precision=4, threshold=1000, edgeitems=3)


def test_import_leaves_numpy_alone():
    code = "import sys, treadle; x = treadle.zeros(3) + 1; assert x.sum().item() == 3; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
