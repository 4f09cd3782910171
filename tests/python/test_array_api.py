"""treadle.array_api beside array-api-strict, its gradients beside slopes, and a library that takes it."""

import functools
import os
import subprocess
import sys

import array_api_cases
import array_api_table
import numpy as np
import pytest
import treadle as td
import treadle.array_api as xp
from treadle.autograd import gradcheck


@pytest.mark.parametrize("name", array_api_table.names_of_standard())
def test_function_of_the_standard(name):
    outcome = array_api_table.outcomes()[name]
    assert outcome.startswith(("passes", "not there")), outcome


def test_the_document_is_up_to_date():
    text = array_api_table.document()
    assert text == array_api_table.DOCUMENT.read_text(encoding="utf-8"), "run tests/python/array_api_table.py"


def test_cases_and_notes_are_of_names_of_the_standard():
    names = set(array_api_table.names_of_standard())
    assert not set(array_api_cases.CASES) - names
    assert not set(array_api_cases.LEFT_OUT) - names
    assert not [name for name in array_api_cases.NOTES if name not in names and f"linalg.{name}" not in names]


def test_differences_are_seen():
    """What compares the results can fail."""
    right = np.array([1.0, 2.0], "f")
    for wrong in (right + 1, right.astype(float), right[:1], right * (1 + 1e-5), np.array([1, np.nan], "f")):
        assert array_api_table.difference(wrong, right, 8)
    assert not array_api_table.difference(right, right, 0) and array_api_table.difference((right,), right, 8)


def matrix(shape=(3, 3), seed=0):
    drawn = np.random.default_rng(seed).uniform(-1, 1, shape)
    return td.tensor(drawn + (2 * np.eye(shape[-1]) if shape[-1] == shape[-2] else 0), requires_grad=True)


def vector(low=-2.0, high=2.0, count=5, seed=0):
    """Numbers apart from each other and from whole numbers, where some derivatives are none."""
    places = (np.arange(count) + 0.5) / count + np.random.default_rng(seed).uniform(-0.05, 0.05, count)
    return td.tensor(low + (high - low) * places, requires_grad=True)


symmetric = lambda x: (x + x.mT) / 2 + 2 * td.eye(3, dtype="float64")  # noqa: E731
DIFFERENTIABLE = {
    **{
        name: (getattr(xp, name), [vector()])
        for name in "asinh atan sin cos tan sinh cosh tanh exp expm1 square reciprocal abs".split()
    },
    **{name: (getattr(xp, name), [vector(0.1, 3)]) for name in "log log10 log2 log1p sqrt".split()},
    **{name: (getattr(xp, name), [vector(-0.9, 0.9)]) for name in "asin acos atanh".split()},
    "acosh": (xp.acosh, [vector(1.2, 4)]),
    **{name: (getattr(xp, name), [vector(-1.9, 1.7)]) for name in "ceil floor round trunc sign".split()},
    **{
        name: (getattr(xp, name), [vector(), vector(-1.3, 1.6, seed=1)])
        for name in "add subtract multiply divide maximum minimum atan2 copysign hypot logaddexp remainder".split()
    },
    "pow": (xp.pow, [vector(0.3, 2), vector()]),
    "clip": (lambda x: xp.clip(x, -1.1, 1.3), [vector()]),
    "prod": (lambda x: xp.prod(x, axis=0), [matrix()]),
    "cumulative_prod": (lambda x: xp.cumulative_prod(x, axis=1), [matrix()]),
    "cumulative_sum": (lambda x: xp.cumulative_sum(x, axis=0, include_initial=True), [matrix()]),
    "mean": (lambda x: xp.mean(x, axis=0), [matrix()]),
    "var": (lambda x: xp.var(x, axis=1, correction=1), [matrix()]),
    "std": (xp.std, [matrix()]),
    "max": (lambda x: xp.max(x, axis=0), [matrix()]),
    "sort": (lambda x: xp.sort(x, descending=True), [matrix()]),
    "take_along_axis": (lambda x: xp.take_along_axis(x, td.tensor([[0], [2], [0]])), [matrix()]),
    "repeat": (lambda x: xp.repeat(x, td.tensor([2, 0, 1]), axis=1), [matrix()]),
    "tile": (lambda x: xp.tile(x, (2, 1, 2)), [matrix()]),
    "roll": (lambda x: xp.roll(x, (1, -1), axis=(0, 1)), [matrix()]),
    "flip": (xp.flip, [matrix()]),
    "diff": (lambda x: xp.diff(x, prepend=x[:, :1]), [matrix()]),
    "where": (lambda a, b: xp.where(a > 0, a, b), [vector(), vector(seed=1)]),
    "unique_values": (xp.unique_values, [vector()]),
    "matmul": (xp.matmul, [matrix(), matrix((2, 3, 2), 1)]),
    "vecdot": (xp.vecdot, [matrix(), matrix(seed=1)]),
    "tensordot": (lambda a, b: xp.tensordot(a, b, axes=((0,), (1,))), [matrix(), matrix(seed=1)]),
    "linalg.cholesky": (lambda x: xp.linalg.cholesky(symmetric(x)), [matrix()]),
    "linalg.cross": (xp.linalg.cross, [matrix(), matrix(seed=1)]),
    "linalg.det": (xp.linalg.det, [matrix((2, 3, 3))]),
    "linalg.diagonal": (lambda x: xp.linalg.diagonal(x, offset=1), [matrix()]),
    "linalg.inv": (xp.linalg.inv, [matrix()]),
    "linalg.matrix_norm": (xp.linalg.matrix_norm, [matrix((2, 3, 2))]),
    "linalg.matrix_norm 1": (lambda x: xp.linalg.matrix_norm(x, ord=1), [matrix((2, 3, 2))]),
    "linalg.matrix_power": (lambda x: xp.linalg.matrix_power(x, -3), [matrix()]),
    "linalg.outer": (xp.linalg.outer, [vector(), vector(seed=1)]),
    "linalg.slogdet": (lambda x: xp.linalg.slogdet(x).logabsdet, [matrix()]),
    "linalg.solve": (xp.linalg.solve, [matrix(), matrix((3, 2), 1)]),
    "linalg.solve of a vector": (xp.linalg.solve, [matrix((2, 3, 3)), vector(count=3)]),
    "linalg.trace": (xp.linalg.trace, [matrix()]),
    "linalg.vector_norm": (lambda x: xp.linalg.vector_norm(x, axis=0, ord=3), [matrix()]),
}
# The second derivative is 0 or has its own jumps; what is left must be right twice.
TWICE = [name for name in DIFFERENTIABLE if name not in ("ceil", "floor", "round", "trunc", "sign")]


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_slopes(name):
    function, inputs = DIFFERENTIABLE[name]
    assert gradcheck(function, inputs)


@pytest.mark.parametrize("name", TWICE)
def test_gradients_of_gradients_are_slopes(name):
    function, inputs = DIFFERENTIABLE[name]

    def slope(*given):
        # With a square, so that linear functions have a second derivative, too.
        leaves = [x if x.requires_grad else x.requires_grad_() for x in given]
        y = function(*leaves)
        return td.grad([(y * y).sum()], leaves, create_graph=True)

    assert gradcheck(slope, inputs)


def test_steps_have_gradients_of_zero():
    for name in ("ceil", "floor", "round", "trunc", "sign"):
        x = vector()
        getattr(xp, name)(x).sum().backward()
        assert x.grad.tolist() == [0] * 5


@pytest.mark.parametrize(
    "call",
    [
        lambda x: xp.linalg.eigh(x),
        lambda x: xp.linalg.eigvalsh(x),
        lambda x: xp.linalg.svd(x),
        lambda x: xp.linalg.svdvals(x),
        lambda x: xp.linalg.qr(x),
        lambda x: xp.linalg.pinv(x),
        lambda x: xp.linalg.matrix_norm(x, ord=2),
        lambda x: xp.nextafter(x, 1.0),
    ],
)
def test_gradients_are_not_lost(call):
    x = matrix()
    with pytest.raises(td.AutogradError, match="no gradient"):
        call(x)
    with td.no_grad():
        call(x)
    call(x.detach())


def test_isin_can_be_inverted():
    assert xp.isin(td.tensor([1, 2]), td.tensor([2]), invert=True).tolist() == [True, False]


def test_prod_has_gradients_beside_zeros():
    x = td.tensor([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0]], requires_grad=True)
    xp.prod(x, axis=1).sum().backward()
    assert x.grad.tolist() == [[0, 6, 0], [0, 0, 0]]


def test_other_devices_and_half_types():
    for device, dtype in (("simt", "float32"), ("cpu", "float16"), ("cpu", "bfloat16")):
        x = td.tensor([0.5, 1.0], dtype=dtype, device=device, requires_grad=True)
        y = xp.sum(xp.sin(x) * xp.floor(x + 1))
        assert (y.device, y.dtype) == (device, dtype)
        y.backward()
        # d/dx sin(x)·⌊x + 1⌋ within half an ulp each of the two factors and the product.
        expected = np.cos([0.5, 1.0]) * [1, 2]
        tolerance = 2 * xp.finfo(x.dtype).eps
        np.testing.assert_allclose(np.asarray(x.grad.to("cpu").to("float32")), expected, rtol=tolerance)
        assert xp.sort(x).device == xp.nonzero(x)[0].device == xp.argmax(x).device == device
    assert xp.finfo(td.bfloat16).max == 3.3895313892515355e38 and xp.finfo(td.bfloat16).bits == 16


def test_the_namespace_of_a_tensor():
    x = td.tensor([1.0])
    assert x.__array_namespace__() is xp and x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match="2099"):
        x.__array_namespace__(api_version="2099.12")
    assert x.to_device("simt").device == "simt" and x.to_device("cpu").same_as(x)
    with pytest.raises(ValueError, match="streams"):
        x.to_device("cpu", stream=1)
    info = xp.__array_namespace_info__()
    assert info.default_device() == "cpu" and {"cpu", "simt"} <= set(info.devices())
    assert info.default_dtypes()["real floating"] == td.float32 and "float16" not in info.dtypes()
    assert set(xp.__all__) <= set(dir(xp))


def test_functions_are_there_without_the_namespace_and_as_methods():
    values = np.random.default_rng(0).random((3, 4))
    x = td.tensor(values)
    np.testing.assert_array_equal(td.sin(x).numpy(), np.sin(values))
    assert td.tan is xp.tan and td.linalg is xp.linalg and td.pi == np.pi and td.array_api is xp
    same = functools.partial(np.testing.assert_allclose, rtol=8 * np.finfo(float).eps)
    same(x.std(0).numpy(), values.std(0))
    same(x.var(axis=-1, correction=1, keepdims=True).numpy(), values.var(-1, ddof=1, keepdims=True))
    same(x.prod().item(), values.prod())
    same(x.cumulative_sum(0).numpy(), values.cumsum(0))
    same(x.sort(0).numpy(), np.sort(values, 0))
    same(x.clip(0.2, 0.7).floor().numpy(), np.floor(values.clip(0.2, 0.7)))
    assert bool((x > 0).all()) and not bool((x > 2).any(1).any()) and x.argmin(1).tolist() == values.argmin(1).tolist()
    with pytest.raises(AttributeError, match="module 'treadle' has no attribute 'sinus'"):
        td.sinus


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: xp.sin(1.0), TypeError, "sin: a tensor is expected, not float"),
        (lambda x: xp.sin(td.arange(3)), td.DTypeError, "sin: a floating dtype is expected, not int64"),
        (lambda x: xp.add(1, 2), TypeError, "add: one of the operands must be a tensor"),
        (lambda x: xp.sum(x, axis=2), ValueError, "sum: axis 2 is out of range for rank 2"),
        (lambda x: xp.sum(x, axis=(0, -2)), ValueError, "named twice"),
        (lambda x: xp.squeeze(x, axis=0), ValueError, "squeeze"),
        (lambda x: xp.take(x, td.tensor([0])), ValueError, "an axis is needed"),
        (lambda x: xp.take(x, td.tensor([9]), axis=0), IndexError, "index 9"),
        (lambda x: xp.cumulative_sum(x), ValueError, "an axis is needed"),
        (lambda x: xp.broadcast_to(x, (4, 3)), ValueError, "4|3"),
        (lambda x: xp.broadcast_shapes((2,), (3,)), ValueError, r"\(2,\) and \(3,\)"),
        (lambda x: xp.reshape(x.mT, (9,), copy=False), ValueError, "only by a copy"),
        (lambda x: xp.isdtype(td.float32, "real"), ValueError, "'real'"),
        (lambda x: xp.finfo(td.int8), TypeError, "int8"),
        (lambda x: xp.iinfo(td.float32), TypeError, "float32"),
        (lambda x: xp.linalg.inv(x[:2]), ValueError, "square matrices"),
        (lambda x: xp.linalg.inv(x * 0), np.linalg.LinAlgError, "Singular"),
        (lambda x: xp.linalg.outer(x, x), ValueError, "vectors"),
        (lambda x: xp.linalg.matrix_norm(x, ord=3), ValueError, "ord is"),
        (lambda x: xp.linalg.qr(x, mode="full"), ValueError, "mode is"),
        (lambda x: xp.searchsorted(x[0], x, side="both"), ValueError, "side is"),
        (lambda x: xp.nonzero(x[0, 0]), ValueError, "rank 0"),
        (lambda x: xp.vecdot(x, x[:, :2]), ValueError, "differ in axis -1"),
    ],
)
def test_errors_name_what_does_not_fit(call, error, message):
    with td.no_grad(), pytest.raises(error, match=message):
        call(matrix())


def test_a_compiled_function_says_what_it_cannot_have():
    with pytest.raises(td.RecordingError, match="tan.*compiled"):
        td.compile(xp.tan)(td.tensor([1.0]))


SCIPY = """
import numpy as np, treadle as td
from scipy import cluster, integrate, special, stats

drawn = np.random.default_rng(0).random((20, 3))
x = td.tensor(drawn)
for function in (
    lambda x: special.logsumexp(x, axis=0), lambda x: special.softmax(x, axis=1), stats.zscore, stats.skew, stats.gmean,
    lambda x: stats.pearsonr(x[:, 0], x[:, 1]).pvalue, lambda x: stats.ttest_ind(x[:, 0], x[:, 1]).statistic,
    cluster.vq.whiten, lambda x: integrate.trapezoid(x, axis=0),
):
    found, expected = function(x), function(drawn)
    assert isinstance(found, td.Tensor), type(found)
    # The same formulas in double, whose sums of 20 terms are added in another order.
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e3 * np.finfo(float).eps)
"""


def test_scipy_takes_tensors():
    subprocess.run([sys.executable, "-c", SCIPY], check=True, env={**os.environ, "SCIPY_ARRAY_API": "1"})
