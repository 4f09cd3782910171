"""Indexing and broadcasting beside NumPy: keys and shapes of every kind, drawn by Hypothesis, the same in each run.

Values are small whole numbers, so that sums are exact and results must be equal.
"""

import numpy as np
import pytest
import treadle as td
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KEYS_IN_AN_EXAMPLE = 5
EXAMPLES = 500  # of keys: each is read, differentiated, written, and written with gradients
PAIRS_IN_AN_EXAMPLE = 4
PAIR_EXAMPLES = 150

steady = settings(
    derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck), max_examples=EXAMPLES
)
extents = st.sampled_from((0, 1, 1, 2, 3, 3, 4, 5))
shapes = st.lists(extents, max_size=4).map(tuple)
bounds = st.none() | st.integers(-6, 6)
slices = st.builds(slice, bounds, bounds, st.sampled_from((None, 1, 2, 3, -1, -2, -3)))
index_shapes = st.sampled_from(((), (1,), (2,), (3,), (2, 1), (2, 3), (0,), (1, 3)))
KINDS = ("int", "slice", "slice", "all", "array", "list", "mask", "new", "end")


@st.composite
def keys(draw, shape):
    """A key that NumPy takes for the shape, as a tuple; arrays in it broadcast to one shape."""
    key, axis, has_ellipsis = [], 0, False
    width = draw(st.sampled_from((1, 2, 3)))
    masks = 0
    while len(key) < 7:
        kind = draw(st.sampled_from(KINDS))
        extent = shape[axis] if axis < len(shape) else None
        if kind == "end" or (kind == "new" and len(key) < 5):
            if kind == "end":
                break
            key.append(None)
            continue
        if draw(st.integers(0, 9)) == 0 and not has_ellipsis:
            key.append(Ellipsis)
            has_ellipsis = True
            continue
        if extent is None or (has_ellipsis and axis >= len(shape) - 1):
            break
        if kind == "all":
            key.append(slice(None))
        elif kind == "slice" or extent == 0:
            key.append(draw(slices))
        elif kind == "int":
            key.append(draw(st.integers(-extent, extent - 1)))
        elif kind == "mask" and not masks:
            # The number of places must broadcast with the arrays: one, or as many as they have.
            places = draw(st.sets(st.integers(0, extent - 1), min_size=0, max_size=extent))
            if len(places) not in (1, width):
                places = {draw(st.integers(0, extent - 1))}
            mask = np.zeros(extent, bool)
            mask[list(places)] = True
            key.append(mask)
            masks += 1
        else:
            of = draw(st.sampled_from(((), (1,), (width,), (2, 1), (2, width))))
            count = int(np.prod(of, dtype=int))
            numbers = draw(st.lists(st.integers(-extent, extent - 1), min_size=count, max_size=count))
            array = np.array(numbers, draw(st.sampled_from((np.int64, np.int32)))).reshape(of)
            key.append(array.tolist() if kind == "list" and of else array)
        axis += 1
    if has_ellipsis:  # what stands behind it counts from the last axis
        at = key.index(Ellipsis) if not any(isinstance(one, np.ndarray) for one in key) else next(
            i for i, one in enumerate(key) if one is Ellipsis
        )
        behind = key[at + 1 :]
        if any(one is not None and not isinstance(one, slice) for one in behind):
            key = key[: at + 1]
    return key[0] if len(key) == 1 and draw(st.booleans()) else tuple(key)


@st.composite
def whole_masks(draw, shape):
    bits = draw(st.lists(st.booleans(), min_size=int(np.prod(shape, dtype=int)), max_size=int(np.prod(shape, dtype=int))))
    return np.array(bits, bool).reshape(shape)


@st.composite
def examples(draw):
    shape = draw(shapes)
    any_key = st.one_of(keys(shape), keys(shape), keys(shape), whole_masks(shape))
    return shape, draw(st.lists(any_key, min_size=KEYS_IN_AN_EXAMPLE, max_size=KEYS_IN_AN_EXAMPLE)), draw(st.integers(0, 99))


def of_tensors(key):
    """The key with tensors in place of arrays."""
    if isinstance(key, tuple):
        return tuple(of_tensors(one) for one in key)
    return td.tensor(key) if isinstance(key, np.ndarray) else key


def numbers(shape, seed, factor=1.0):
    """Whole numbers from -7 to 7."""
    count = int(np.prod(shape, dtype=int))
    return (((np.arange(count) * 37 + seed * 11) % 15 - 7) * factor).astype("f").reshape(shape)


def value_shape(shape, seed):
    """A shape that broadcasts to `shape`."""
    kept = [1 if (seed >> axis) & 1 else extent for axis, extent in enumerate(shape)]
    return tuple(kept[seed % (len(kept) + 1) :]) if seed % 3 else tuple(shape)


def check_read(array, key):
    expected = array[key]
    for ours in (td.tensor(array)[key], td.tensor(array)[of_tensors(key)]):
        np.testing.assert_array_equal(ours.numpy(), expected, strict=True)


def check_gradient(array, key, seed):
    x = td.tensor(array, requires_grad=True)
    y = x[key]
    weights = numbers(y.shape, seed)
    (y * td.tensor(weights)).sum().backward()
    expected = np.zeros_like(array)
    np.add.at(expected, key, weights)
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def check_written(array, key, seed):
    expected = array.copy()
    value = numbers(value_shape(array[key].shape, seed), seed + 1)
    expected[key] = value
    for written in (value, td.tensor(value)):
        x = td.tensor(array)
        x[key] = written
        np.testing.assert_array_equal(x.numpy(), expected)


def check_written_with_gradient(array, key, seed):
    target = array[key].shape
    x, v = td.tensor(array, requires_grad=True), td.tensor(numbers(value_shape(target, seed), seed), requires_grad=True)
    y = x * 2
    y[key] = v * 3
    weights = numbers(array.shape, seed + 2)
    (y * td.tensor(weights)).sum().backward()
    places = np.full(array.shape, -1)
    size = int(np.prod(target, dtype=int))
    places[key] = np.arange(size).reshape(target)
    of_x = np.where(places < 0, 2 * weights, 0)
    of_values = np.zeros(size, "f")
    np.add.at(of_values, places[places >= 0], 3 * weights[places >= 0])
    np.testing.assert_array_equal(x.grad.numpy(), of_x)
    if size == 0 and v.grad is None:  # nothing of it was written
        return
    np.testing.assert_array_equal(v.grad.numpy(), summed(of_values.reshape(target), v.shape))


def summed(array, shape):
    """The sum over the axes along which `shape` was broadcast."""
    array = array.sum(axis=tuple(range(array.ndim - len(shape))))
    axes = tuple(axis for axis, extent in enumerate(shape) if extent == 1 and array.shape[axis] != 1)
    return array.sum(axis=axes, keepdims=True) if axes else array


checked = {"keys": 0, "pairs": 0}


@steady
@given(examples())
def test_keys_are_those_of_numpy(example):
    shape, drawn, seed = example
    array = numbers(shape, seed)
    for key in drawn:
        try:
            array[key]
        except IndexError:
            with pytest.raises(IndexError):
                td.tensor(array)[key]
            checked["keys"] += 1
            continue
        check_read(array, key)
        check_gradient(array, key, seed)
        check_written(array, key, seed)
        check_written_with_gradient(array, key, seed)
        checked["keys"] += 4


@st.composite
def broadcastable(draw):
    """Shapes that broadcast to one."""
    shape = draw(shapes)

    def one():
        kept = tuple(1 if draw(st.booleans()) else extent for extent in shape)
        return kept[draw(st.integers(0, len(shape))) :]

    return [(one(), one(), one()) for _ in range(PAIRS_IN_AN_EXAMPLE)], draw(st.integers(0, 99))


PAIRS = {
    "add": (np.add, lambda a, b: (1, 1)),
    "sub": (np.subtract, lambda a, b: (1, -1)),
    "mul": (np.multiply, lambda a, b: (b, a)),
    "maximum": (np.maximum, lambda a, b: (a >= b, a < b)),
    "minimum": (np.minimum, lambda a, b: (a <= b, a > b)),
}


@settings(steady, max_examples=PAIR_EXAMPLES)
@given(broadcastable())
def test_broadcasting_is_that_of_numpy(example):
    triples, seed = example
    for first, second, third in triples:
        a, b = numbers(first, seed), numbers(second, seed + 3)
        for name, (function, derivatives) in PAIRS.items():
            x, y = td.tensor(a, requires_grad=True), td.tensor(b, requires_grad=True)
            z = getattr(td, name)(x, y)
            np.testing.assert_array_equal(z.detach().numpy(), function(a, b), strict=True)
            weights = numbers(z.shape, seed + 5)
            (z * td.tensor(weights)).sum().backward()
            for leaf, derivative in zip((x, y), derivatives(a, b)):
                wide = np.broadcast_to(np.asarray(derivative * weights, "f"), z.shape)
                np.testing.assert_array_equal(leaf.grad.numpy(), summed(wide, leaf.shape))
            checked["pairs"] += 1
        condition = numbers(third, seed) > 0
        chosen = td.where(td.tensor(condition), td.tensor(a), td.tensor(b))
        np.testing.assert_array_equal(chosen.numpy(), np.where(condition, a, b), strict=True)


def test_there_were_ten_thousand_cases():
    """After the two above, which count what they compared."""
    if not all(checked.values()):
        pytest.skip("the tests that count were not run")
    assert sum(checked.values()) >= 10_000, checked


def test_shapes_that_do_not_broadcast_are_named():
    with pytest.raises(td.ShapeError, match=r"2, 3.*4"):
        td.zeros(2, 3) + td.zeros(4)
    with pytest.raises(td.ShapeError, match="3|2"):
        x = td.zeros(2, 3)
        x[0] = td.zeros(2)


@pytest.mark.parametrize(
    "key, message",
    [
        (5, "index 5.*extent 3"),
        ((0, -3), "index -3.*axis 1.*extent 2|index -3"),
        ([0, 3], "index 3.*extent 3"),
        ((0, 0, 0), "3 indices"),
        (([0], 0, 0), "3 indices"),
        ((..., ...), "one ellipsis"),
        ((..., [0], ...), "one ellipsis"),
        (1.5, "not float"),
        ("a", "not str|integers or bools"),
        ([0.5], "integers or bools"),
        (td.tensor([0.5], dtype=td.bfloat16), "integers or bools"),
        (np.ones(2, bool), r"mask of shape \(2,\)"),
        (np.ones((3, 3), bool), r"mask of shape \(3, 3\)"),
    ],
)
def test_keys_that_do_not_fit_are_named(key, message):
    with pytest.raises(IndexError, match=message):
        td.zeros(3, 2)[key]


def test_views_are_views_and_selections_copies():
    x = td.zeros(3, 4)
    for key in (1, (slice(None), slice(0, 4, 2)), (..., None), (slice(1, 2), 3)):
        x[key].fill_(1)
    assert x.tolist() == [[1] * 4] * 3
    x[[0, 1]].fill_(5)
    x[::-1].fill_(5)
    assert x.tolist() == [[1] * 4] * 3


def test_numbers_of_numpy_and_tensors_are_ints():
    x = td.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x[np.int64(1), td.tensor(0)].item() == 3 and x[np.array(0)].tolist() == [1, 2]
    assert x[td.tensor([1, 0])].tolist() == [[3, 4], [1, 2]] and x[x > 2].tolist() == [3, 4]
    assert x[True].shape == (1, 2, 2) and x[False].shape == (0, 2, 2)


@pytest.mark.parametrize("device", ["simt"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "bool"])
def test_other_devices_and_dtypes(device, dtype):
    array = np.arange(12.0).reshape(3, 4) % 5
    x = td.tensor(array).to(dtype).to(device)
    expected = np.asarray(x.to("cpu"))
    for key in ([2, 0], (slice(None), slice(None, None, -1)), expected > 2, (0, [1, 1])):
        assert x[key].device == device and x[key].dtype == dtype
        np.testing.assert_array_equal(np.asarray(x[key].to("cpu")), expected[key])
        written, wanted = x.to(dtype, copy=True), expected.copy()
        written[key], wanted[key] = 1, 1
        np.testing.assert_array_equal(np.asarray(written.to("cpu")), wanted)


def test_duplicates_take_the_last_value_and_sum_gradients():
    x = td.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x[[0, 0, 2]].sum().backward()
    assert x.grad.tolist() == [2, 0, 1]
    y = td.zeros(2)
    y[[0, 0]] = td.tensor([1.0, 2.0])
    assert y.tolist() == [2, 0]


@pytest.mark.parametrize("device", ["cpu", "simt"])
def test_tensors_of_ints_select_rows(device):
    x = td.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
    for index in ([1, 0, 1], [-1, 0], [[0, -2], [1, 1]], []):
        index = np.array(index, np.int32 if device == "simt" else np.int64)
        np.testing.assert_array_equal(x[td.tensor(index, device=device)].to("cpu").numpy(), x.to("cpu").numpy()[index])
    select = td.compile(lambda x, index: x[index] * 2)
    assert select(x, td.tensor([-1, 0], device=device)).tolist() == [[6, 8], [2, 4]]


def test_gradients_of_gradients_through_selections():
    x = td.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (first,) = td.grad([(x[[2, 0]] ** 3).sum()], [x], create_graph=True)
    (second,) = td.grad([first.sum()], [x])
    assert first.tolist() == [3, 0, 27] and second.tolist() == [6, 0, 18]
