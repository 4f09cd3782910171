"""The functions of ops, called from Python: arguments arrive where they belong. The ops themselves are tested in C++."""

import numpy as np
import pytest
import treadle as td
import treadle.nn.functional as F

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4)).astype("f")
Y = RNG.standard_normal((3, 4)).astype("f")
P = RNG.uniform(0.1, 0.9, (3, 4)).astype("f")
IMAGES = RNG.standard_normal((2, 4, 6, 6)).astype("f")
LABELS = np.array([1, 0, 3])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(x))


def log_softmax(x):
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def close(found, expected, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=tolerance, atol=tolerance)


POINTWISE = {
    "elu": (lambda f, x: f(x, alpha=2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x))),
    "celu": (lambda f, x: f(x, 2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2))),
    "selu": (lambda f, x: f(x), lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
    "leaky_relu": (lambda f, x: f(x, 0.2), lambda x: np.where(x > 0, x, 0.2 * x)),
    "sigmoid": (lambda f, x: f(x), sigmoid),
    "silu": (lambda f, x: f(x), lambda x: x * sigmoid(x)),
    "softplus": (lambda f, x: f(x, beta=2.0), lambda x: softplus(2 * x) / 2),
    "log_sigmoid": (lambda f, x: f(x), lambda x: -softplus(-x)),
    "mish": (lambda f, x: f(x), lambda x: x * np.tanh(softplus(x))),
    "hard_swish": (lambda f, x: f(x), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "clamp": (lambda f, x: f(x, -0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
    "log_softmax": (lambda f, x: f(x, 1), log_softmax),
    "unsqueeze": (lambda f, x: f(x, 1), lambda x: x[:, None]),
    "transpose": (lambda f, x: f(x, 0, 1), lambda x: x.T),
    "cast": (lambda f, x: f(x, td.int32), lambda x: x.astype("int32")),
    "sum_to": (lambda f, x: f(x, (1, 4)), lambda x: x.sum(0, keepdims=True)),
}


@pytest.mark.parametrize("name", POINTWISE)
def test_functions_of_one_tensor(name):
    call, expected = POINTWISE[name]
    close(call(getattr(td, name), td.tensor(X)), expected(X))
    close(call(getattr(F, name), td.tensor(X)), expected(X))


def test_gelu_is_exact():
    expected = [0.5 * x * (1 + td.erf(td.tensor([x / 2**0.5])).item()) for x in X.ravel().tolist()]
    close(td.gelu(td.tensor(X)), np.reshape(expected, X.shape))
    close(td.erf(td.tensor([0.0, 1.0])), [0.0, 0.8427007929])


@pytest.mark.parametrize("name, operator", [
    ("div", np.divide), ("less", np.less), ("less_equal", np.less_equal), ("greater", np.greater),
    ("greater_equal", np.greater_equal), ("not_equal", np.not_equal), ("floor_divide", np.floor_divide),
])
def test_functions_of_two_tensors_and_numbers(name, operator):
    close(getattr(td, name)(td.tensor(X), td.tensor(Y)), operator(X, Y))
    close(getattr(td, name)(td.tensor(X), 0.5), operator(X, np.float32(0.5)))


BITS = {"bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor, "bitwise_and": np.bitwise_and,
        "bitwise_left_shift": np.left_shift, "bitwise_right_shift": np.right_shift}


@pytest.mark.parametrize("name", BITS)
def test_functions_of_bits(name):
    a, b = np.array([5, 9, 12]), np.array([1, 3, 2])
    close(getattr(td, name)(td.tensor(a), td.tensor(b)), BITS[name](a, b))


def cross_entropy_terms(logits, labels):
    return -log_softmax(logits)[np.arange(len(labels)), labels]


LOSSES = {
    "mse": (Y, (X - Y) ** 2, {}),
    "l1_loss": (Y, np.abs(X - Y), {}),
    "huber_loss": (Y, np.where(np.abs(X - Y) <= 0.5, 0.5 * (X - Y) ** 2, 0.5 * (np.abs(X - Y) - 0.25)), {"delta": 0.5}),
    "smooth_l1_loss": (Y, np.where(np.abs(X - Y) <= 0.5, (X - Y) ** 2, np.abs(X - Y) - 0.25), {"beta": 0.5}),
    "binary_cross_entropy_with_logits": (P, softplus(X) - P * X, {}),
    "hinge_loss": (np.sign(Y), np.maximum(0, 1 - np.sign(Y) * X), {}),
    "kl_div": (P, P * (np.log(P) - X), {}),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_elements(name):
    target, terms, options = LOSSES[name]
    loss = getattr(td, name)
    close(loss(td.tensor(X), td.tensor(target), reduction="none", **options), terms)
    close(loss(td.tensor(X), td.tensor(target), reduction="sum", **options), terms.sum(), 1e-4)
    close(loss(td.tensor(X), td.tensor(target), **options), terms.mean())


def test_losses_with_weights():
    q = RNG.uniform(0.1, 0.9, (3, 4)).astype("f")
    terms = -(q * np.log(P) + (1 - q) * np.log(1 - P))
    close(td.binary_cross_entropy(td.tensor(P), td.tensor(q), weight=td.tensor(Y**2)), (Y**2 * terms).mean())
    with_logits = q * 3 * softplus(-X) + (1 - q) * softplus(X)
    close(td.binary_cross_entropy_with_logits(td.tensor(X), td.tensor(q), pos_weight=td.tensor([3.0])), with_logits.mean())


def test_losses_of_classes():
    terms, weight = cross_entropy_terms(X, LABELS), np.array([1, 2, 3, 4], "f")
    close(td.cross_entropy(td.tensor(X), td.tensor(LABELS)), terms.mean())
    close(td.cross_entropy(td.tensor(X), td.tensor(LABELS), ignore_index=0), terms[[0, 2]].mean())
    smooth = 0.8 * terms - 0.2 * log_softmax(X).mean(1)
    close(td.cross_entropy(td.tensor(X), td.tensor(LABELS), label_smoothing=0.2), smooth.mean())
    weighted = (terms * weight[LABELS]).sum() / weight[LABELS].sum()
    close(td.nll_loss(td.tensor(log_softmax(X)), td.tensor(LABELS), weight=td.tensor(weight)), weighted)
    close(td.cross_entropy(td.tensor(X), td.tensor(LABELS), weight=td.tensor(weight)), weighted)
    shares = np.exp(log_softmax(Y))
    close(td.cross_entropy(td.tensor(X), td.tensor(shares)), -(shares * log_softmax(X)).sum(1).mean())
    chosen = X[np.arange(3), LABELS]
    margins = np.maximum(0, 0.5 - chosen[:, None] + X)
    margins[np.arange(3), LABELS] = 0
    close(td.multi_margin_loss(td.tensor(X), td.tensor(LABELS), margin=0.5), (margins.sum(1) / 4).mean())
    close(td.pick(td.tensor(X), td.tensor(LABELS)), chosen)
    with pytest.raises(ValueError, match="reduction"):
        td.mse(td.tensor(X), td.tensor(Y), reduction="some")


def patches(x, size):
    """[N, C, P, Q, size, size] of x."""
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))


def test_convolutions():
    w, b = RNG.standard_normal((6, 4, 3, 3)).astype("f"), RNG.standard_normal(6).astype("f")
    padded = np.pad(IMAGES, ((0, 0), (0, 0), (1, 1), (1, 1)))
    expected = np.einsum("ncpqrs,kcrs->nkpq", patches(padded, 3), w)[:, :, ::2, ::2] + b[:, None, None]
    arguments = dict(stride=2, padding=1)
    close(td.conv2d(td.tensor(IMAGES), td.tensor(w), td.tensor(b), **arguments), expected, 1e-4)
    close(td.conv2d_relu(td.tensor(IMAGES), td.tensor(w), td.tensor(b), **arguments), np.maximum(expected, 0), 1e-4)
    y = td.conv2d(td.tensor(IMAGES), td.tensor(w[:, :2]), groups=2, dilation=(2, 1), padding=(1, 2, 0, 0))
    assert y.shape == (2, 6, 3, 6)
    # The transpose: its product with y is that of x with the convolution of y.
    x, filters = IMAGES, RNG.standard_normal((4, 6, 3, 3)).astype("f")
    up = td.conv_transpose2d(td.tensor(x), td.tensor(filters), stride=2, output_padding=1)
    other = RNG.standard_normal(up.shape).astype("f")
    back = td.conv2d(td.tensor(other), td.tensor(filters), stride=2)
    close((up.numpy() * other).sum(), (x * back.numpy()).sum(), 1e-3)


def test_pooling():
    windows = patches(IMAGES, 2)[:, :, ::2, ::2]
    close(td.avg_pool2d(td.tensor(IMAGES)), windows.mean((-1, -2)))
    values, positions = td.max_pool2d_with_positions(td.tensor(IMAGES), 2)
    close(values, windows.max((-1, -2)))
    flat = IMAGES.reshape(2, 4, 36)
    close(td.elements_of_rows(td.tensor(flat.reshape(8, 36)), td.reshape(positions, (8, 9))), windows.max((-1, -2)).reshape(8, 9))
    thirds = IMAGES.reshape(2, 4, 3, 2, 3, 2)
    close(td.adaptive_avg_pool2d(td.tensor(IMAGES), 3), thirds.mean((3, 5)))
    close(td.adaptive_max_pool2d(td.tensor(IMAGES), (3, 3)), thirds.max((3, 5)))


def test_normalisations():
    def normalised(x, axes):
        return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-3)

    w, b = np.arange(1, 5, dtype="f"), np.arange(4, dtype="f")
    y, mean, scale = td.batch_norm(td.tensor(IMAGES), td.tensor(w), td.tensor(b), eps=1e-3)[:3]
    expected = normalised(IMAGES, (0, 2, 3)) * w[:, None, None] + b[:, None, None]
    close(y, expected, 1e-4)
    close(mean, IMAGES.mean((0, 2, 3)), 1e-4)
    variance = IMAGES.var((0, 2, 3))
    again = td.batch_norm_inference(td.tensor(IMAGES), mean, td.tensor(variance), td.tensor(w), td.tensor(b), eps=1e-3)
    close(again, expected, 1e-4)
    close(td.layer_norm(td.tensor(X), td.tensor(w), td.tensor(b), eps=1e-3), normalised(X, 1) * w + b, 1e-4)
    groups = normalised(IMAGES.reshape(2, 2, 2, 6, 6), (2, 3, 4)).reshape(IMAGES.shape)
    close(td.group_norm(td.tensor(IMAGES), groups=2, eps=1e-3), groups, 1e-4)
    running, spread, batches = td.zeros((4,)), td.ones((4,)), td.tensor(0)
    td.update_batch_statistics(running, spread, batches, mean, td.tensor(variance), momentum=0.5, count=72)
    close(running, 0.5 * IMAGES.mean((0, 2, 3)), 1e-4)
    close(spread, 0.5 + 0.5 * variance * 72 / 71, 1e-4)


def test_images_of_other_sizes():
    close(td.interpolate2d(td.tensor(IMAGES), size=(12, 12)), IMAGES.repeat(2, 2).repeat(2, 3))
    assert td.interpolate2d(td.tensor(IMAGES), size=(4, 9), mode="bilinear", align_corners=True).shape == (2, 4, 4, 9)
    shuffled = IMAGES.reshape(2, 1, 2, 2, 6, 6).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 12, 12)
    close(td.pixel_shuffle(td.tensor(IMAGES), 2), shuffled)
    close(td.pixel_unshuffle(td.tensor(shuffled), 2), IMAGES)
    pads = ((0, 0), (0, 0), (1, 2), (2, 0))
    close(td.pad_reflect(td.tensor(IMAGES), (0, 0, 1, 2), (0, 0, 2, 0)), np.pad(IMAGES, pads, "reflect"))
    close(td.pad_replicate(td.tensor(IMAGES), (0, 0, 1, 2), (0, 0, 2, 0)), np.pad(IMAGES, pads, "edge"))
    last = td.to_channels_last(td.tensor(IMAGES))
    assert last.strides[1] == 1
    close(last, IMAGES)


def test_products_attention_and_rows():
    w, b = RNG.standard_normal((5, 4)).astype("f"), RNG.standard_normal(5).astype("f")
    close(td.linear_relu(td.tensor(X), td.tensor(w), td.tensor(b)), np.maximum(X @ w.T + b, 0))
    q, k, v = (RNG.standard_normal((2, 3, 4)).astype("f") for _ in range(3))
    scores = np.where(np.tri(3, dtype=bool), 0.5 * q @ k.transpose(0, 2, 1), -np.inf)
    weights = np.exp(log_softmax(scores))
    tensors = [td.tensor(one) for one in (q, k, v)]
    close(td.scaled_dot_product_attention(*tensors, causal=True, scale=0.5), weights @ v)
    close(td.scaled_dot_product_attention_with_weights(*tensors, causal=True, scale=0.5)[1], weights)
    rows = np.array([2, 0, 2])
    close(td.index_select(td.tensor(X), 0, td.tensor(rows)), X[rows])
    close(td.embedding(td.tensor(X), td.tensor(rows)), X[rows])
    close(td.prelu(td.tensor(IMAGES), td.tensor([0.1, 0.2, 0.3, 0.4])),
          np.where(IMAGES > 0, IMAGES, IMAGES * np.array([0.1, 0.2, 0.3, 0.4], "f")[:, None, None]))
    close(td.expand(td.tensor(X[:1]), (3, 4)), X[:1].repeat(3, 0))


def test_random_numbers_follow_the_generator():
    td.manual_seed(3)
    first = td.randn((100,))
    td.manual_seed(3)
    close(td.randn((100,)), first.numpy(), 0)
    x = td.empty((10_000,))
    td.uniform_(x, low=2, high=4)
    assert 2 <= x.numpy().min() and x.numpy().max() < 4
    td.normal_(x, mean=5, deviation=0.1)  # the mean of 10,000: 5 ± 0.001; six deviations
    assert abs(x.numpy().mean() - 5) < 0.006
    td.bernoulli_(x, probability=0.25)
    assert set(np.unique(x.numpy())) == {0.0, 1.0} and abs(x.numpy().mean() - 0.25) < 6 * 0.25 / 50
    dropped = td.dropout(td.ones((10_000,)), 0.5).numpy()
    assert set(np.unique(dropped)) == {0.0, 2.0}


def test_dtypes_devices_and_copies():
    assert td.promote_types(td.int32, td.float16) == td.float16
    assert isinstance(td.float32, td.DType)
    assert td.scalar_like(3.0, td.zeros((2,), dtype=td.float64)).dtype == td.float64
    assert {"cpu", "simt"} <= set(td.known_devices())
    target = td.zeros((3, 4))
    td.copy_into(target, td.tensor(X))
    close(target, X)
    assert td.from_array(X).data_ptr() == X.ctypes.data


def test_errors_are_of_the_kind_that_python_raises():
    with pytest.raises(ValueError) as shape:
        td.tensor(X) @ td.tensor(X)
    assert isinstance(shape.value, td.ShapeError) and isinstance(shape.value, td.Error) and "[3, 4]" in str(shape.value)
    with pytest.raises(TypeError) as dtype:
        td.nll_loss(td.tensor(X), td.tensor(Y[:, 0]))
    assert isinstance(dtype.value, td.DTypeError) and "labels" in str(dtype.value)
    if not any(device.startswith("cuda") for device in td.known_devices()):
        with pytest.raises(td.DeviceAbsent, match="cuda"):
            td.tensor(X).to("cuda")
    assert issubclass(td.DeviceAbsent, td.DeviceError) and issubclass(td.FileError, OSError)
