"""The layers, made from Python: arguments arrive where they belong, and each layer computes what its function does."""

import numpy as np
import pytest
import treadle as td
from treadle import nn

RNG = np.random.default_rng(1)


def numbers(*shape):
    return td.tensor(RNG.standard_normal(shape).astype("f"))


ROWS, IMAGES = numbers(3, 4), numbers(2, 4, 6, 6)
# Class → how it is made, what it is called with, and the same by a function, or the shape that comes out.
LAYERS = {
    "ReLU": (nn.ReLU(), ROWS, td.relu),
    "ReLU6": (nn.ReLU6(), ROWS, lambda x: td.clamp(x, 0, 6)),
    "LeakyReLU": (nn.LeakyReLU(0.3), ROWS, lambda x: td.leaky_relu(x, 0.3)),
    "ELU": (nn.ELU(alpha=2.0), ROWS, lambda x: td.elu(x, 2.0)),
    "CELU": (nn.CELU(alpha=2.0), ROWS, lambda x: td.celu(x, 2.0)),
    "SELU": (nn.SELU(), ROWS, td.selu),
    "GELU": (nn.GELU(), ROWS, td.gelu),
    "SiLU": (nn.SiLU(), ROWS, td.silu),
    "Mish": (nn.Mish(), ROWS, td.mish),
    "Hardswish": (nn.Hardswish(), ROWS, td.hard_swish),
    "Softplus": (nn.Softplus(beta=2.0), ROWS, lambda x: td.softplus(x, 2.0)),
    "Sigmoid": (nn.Sigmoid(), ROWS, td.sigmoid),
    "LogSigmoid": (nn.LogSigmoid(), ROWS, td.log_sigmoid),
    "Tanh": (nn.Tanh(), ROWS, td.tanh),
    "Hardtanh": (nn.Hardtanh(-0.5, 0.5), ROWS, lambda x: td.clamp(x, -0.5, 0.5)),
    "Softmax": (nn.Softmax(axis=0), ROWS, lambda x: td.softmax(x, 0)),
    "LogSoftmax": (nn.LogSoftmax(axis=-1), ROWS, lambda x: td.log_softmax(x, 1)),
    "PReLU": (nn.PReLU(4, first=0.5), IMAGES, lambda x: td.leaky_relu(x, 0.5)),
    "MaxPool2d": (nn.MaxPool2d(3, stride=2, padding=1), IMAGES, lambda x: td.max_pool2d(x, 3, stride=2, padding=1)),
    "AvgPool2d": (nn.AvgPool2d((2, 3)), IMAGES, lambda x: td.avg_pool2d(x, (2, 3))),
    "AdaptiveAvgPool2d": (nn.AdaptiveAvgPool2d(2), IMAGES, lambda x: td.adaptive_avg_pool2d(x, 2)),
    "AdaptiveMaxPool2d": (nn.AdaptiveMaxPool2d((3, 2)), IMAGES, lambda x: td.adaptive_max_pool2d(x, (3, 2))),
    "GlobalAvgPool2d": (nn.GlobalAvgPool2d(), IMAGES, lambda x: td.mean(x, (2, 3))),
    "ConstantPad2d": (nn.ConstantPad2d((1, 2, 0, 0), 3.0), IMAGES, (2, 4, 7, 8)),
    "ReflectionPad2d": (nn.ReflectionPad2d(1), IMAGES, lambda x: td.pad_reflect(x, (0, 0, 1, 1), (0, 0, 1, 1))),
    "ReplicationPad2d": (nn.ReplicationPad2d(1), IMAGES, lambda x: td.pad_replicate(x, (0, 0, 1, 1), (0, 0, 1, 1))),
    "PixelShuffle": (nn.PixelShuffle(2), IMAGES, lambda x: td.pixel_shuffle(x, 2)),
    "PixelUnshuffle": (nn.PixelUnshuffle(2), IMAGES, lambda x: td.pixel_unshuffle(x, 2)),
    "Upsample": (nn.Upsample(2, mode="bilinear"), IMAGES, lambda x: td.interpolate2d(x, size=12, mode="bilinear")),
    "Flatten": (nn.Flatten(), IMAGES, lambda x: td.reshape(x, (2, -1))),
    "Identity": (nn.Identity(), ROWS, lambda x: x),
    "Dropout": (nn.Dropout(0.5).eval(), ROWS, lambda x: x),
    "Dropout2d": (nn.Dropout2d(1.0), IMAGES, lambda x: x * 0.0),
    "BatchNorm1d": (nn.BatchNorm1d(4, eps=1e-3), ROWS, lambda x: td.batch_norm(x, eps=1e-3)[0]),
    "BatchNorm2d": (nn.BatchNorm2d(4, affine=False), IMAGES, lambda x: td.batch_norm(x)[0]),
    "GroupNorm": (nn.GroupNorm(2, 4), IMAGES, lambda x: td.group_norm(x, groups=2)),
    "LayerNorm": (nn.LayerNorm(4, eps=1e-3), ROWS, lambda x: td.layer_norm(x, td.ones((4,)), eps=1e-3)),
    "ResidualBlock": (nn.ResidualBlock(4, 8, stride=2), IMAGES, (2, 8, 3, 3)),
    "TransformerEncoderLayer": (
        nn.TransformerEncoderLayer(4, 2, feedforward=8, dropout=0, gelu=True, norm_first=True), numbers(2, 3, 4), (2, 3, 4)),
    "MultiheadAttention": (nn.MultiheadAttention(4, 2, bias=False), numbers(2, 3, 4), (2, 3, 4)),
    "ConvTranspose2d": (nn.ConvTranspose2d(4, 3, kernel_size=2, stride=2), IMAGES, (2, 3, 12, 12)),
}
WITH_WEIGHTS = {
    "Linear": (nn.Linear(4, 5), ROWS, lambda layer, x: td.linear(x, layer.weight, layer.bias)),
    "Conv2d": (nn.Conv2d(4, 6, 3, padding=1, groups=2), IMAGES,
               lambda layer, x: td.conv2d(x, layer.weight, layer.bias, padding=1, groups=2)),
    "Embedding": (nn.Embedding(7, 3, padding_index=0), td.tensor([[1, 0], [6, 2]]), lambda layer, x: td.embedding(layer.weight, x)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_without_weights(name):
    layer, x, expected = LAYERS[name]
    y = layer(x)
    if callable(expected):
        np.testing.assert_allclose(y.numpy(), expected(x).numpy(), rtol=1e-5, atol=1e-6)
    else:
        assert y.shape == expected


@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_layers_with_weights(name):
    layer, x, expected = WITH_WEIGHTS[name]
    np.testing.assert_allclose(layer(x).numpy(), expected(layer, x).numpy(), rtol=1e-5, atol=1e-6)
    assert all(parameter.requires_grad for parameter in layer.parameters())


def test_each_layer_is_tested():
    kinds = {name for name in nn.__all__ if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module)}
    abstract = {"Module", "Activation", "BatchNorm"}
    containers = {"Sequential", "ModuleList"}
    assert kinds - set(nn.losses.__all__) - abstract - containers == set(LAYERS) | set(WITH_WEIGHTS)


def test_modules_in_a_list():
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 2)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    stack = Stack()
    assert stack(ROWS).shape == (3, 2) and len(stack.layers) == 2
    assert list(stack.state_dict()) == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]
    assert nn.Sequential({"first": nn.Linear(4, 2)}).state_dict().keys() == {"first.weight", "first.bias"}


LABELS, SHARES = td.tensor([1, 0, 3]), td.sigmoid(numbers(3, 4))
LOSSES = {
    "CrossEntropyLoss": (dict(label_smoothing=0.1, weight=td.tensor([1.0, 2, 3, 4])), ROWS, LABELS, td.cross_entropy),
    "NLLLoss": (dict(ignore_index=0), td.log_softmax(ROWS, 1), LABELS, td.nll_loss),
    "MultiMarginLoss": (dict(p=2, margin=0.5), ROWS, LABELS, td.multi_margin_loss),
    "MSELoss": (dict(reduction="sum"), ROWS, numbers(3, 4), td.mse),
    "L1Loss": ({}, ROWS, numbers(3, 4), td.l1_loss),
    "HuberLoss": (dict(delta=0.3), ROWS, numbers(3, 4), td.huber_loss),
    "SmoothL1Loss": (dict(beta=0.3), ROWS, numbers(3, 4), td.smooth_l1_loss),
    "BCELoss": (dict(weight=td.sigmoid(numbers(3, 4))), SHARES, td.sigmoid(numbers(3, 4)), td.binary_cross_entropy),
    "BCEWithLogitsLoss": (dict(pos_weight=td.tensor([2.0])), ROWS, SHARES, td.binary_cross_entropy_with_logits),
    "KLDivLoss": (dict(log_target=True), ROWS, numbers(3, 4), td.kl_div),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_their_functions(name):
    options, x, target, function = LOSSES[name]
    loss = getattr(nn, name)(**options)
    assert loss(x, target).item() == function(x, target, **options).item()
    assert repr(loss).startswith(name + "(")
    assert set(loss.state_dict()) == {key for key, value in options.items() if isinstance(value, td.Tensor)}


def test_each_loss_is_tested():
    assert set(LOSSES) == set(nn.losses.__all__)


def test_generators_make_equal_layers():
    layers = [nn.Linear(4, 5, generator=td.random.Generator(7)) for _ in range(2)]
    np.testing.assert_array_equal(layers[0].weight.numpy(), layers[1].weight.numpy())


INITIALISERS = {
    "constant": dict(value=2.0), "uniform": dict(low=-1, high=1), "normal": dict(mean=1.0, deviation=0.1),
    "truncated_normal": dict(low=-1, high=1), "xavier_uniform": dict(gain=2.0), "xavier_normal": {}, "orthogonal": dict(gain=2.0),
    "kaiming_uniform": dict(nonlinearity="leaky_relu", slope=0.2), "kaiming_normal": {},
    "uniform_fan_in": dict(fan_in=16, generator=td.random.Generator(1)),
}


@pytest.mark.parametrize("name", INITIALISERS)
def test_initialisers_fill_in_place(name):
    weight = nn.Linear(16, 8).weight
    before = weight.detach().numpy().copy()
    getattr(nn.init, name)(weight, **INITIALISERS[name])
    after = weight.detach().numpy()
    assert weight.requires_grad and not np.array_equal(before, after) and np.isfinite(after).all()


def test_what_initialisers_fill():
    weight = nn.Linear(16, 8).weight
    nn.init.orthogonal(weight, gain=2.0)
    rows = weight.detach().numpy()
    np.testing.assert_allclose(rows @ rows.T, 4 * np.eye(8), atol=1e-5)
    nn.init.constant(weight, 2.0)
    assert (weight.detach().numpy() == 2).all()
    assert set(INITIALISERS) == set(nn.init.__all__)
