"""Copies and pickles of modules, summaries, and the spellings that PyTorch's users bring along."""

import copy
import pickle

import numpy as np
import pytest
import treadle as td
from treadle import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.width = width
        self.conv = nn.Conv2d(1, 4, kernel_size=3, padding=(1, 2, 1, 2), bias=False)
        self.norm = nn.BatchNorm2d(4, momentum=None)
        self.block = nn.ResidualBlock(4, width, stride=2)
        self.layers = nn.ModuleList([nn.Linear(width, 3), nn.Linear(3, 2)])
        self.scale = nn.Parameter(td.tensor([2.0]))
        self.register_buffer("calls", td.tensor([3]))
        self.alias = self.layers

    def forward(self, x):
        y = self.block(self.norm(self.conv(x)).relu()).mean(axis=(2, 3))
        for layer in self.layers:
            y = layer(y)
        return y * self.scale


X = td.tensor(np.random.default_rng(0).standard_normal((2, 1, 6, 6)).astype("f"))
WAYS = {"deepcopy": copy.deepcopy, "pickle": lambda module: pickle.loads(pickle.dumps(module))}


@pytest.mark.parametrize("way", WAYS)
def test_copies_are_equal_and_apart(way):
    net = Net()
    net(X)  # moves the running statistics
    net.block.eval()
    net.conv.weight.requires_grad = False
    again = WAYS[way](net)
    assert list(again.state_dict()) == list(net.state_dict())
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(again.state_dict()[name].numpy(), value.numpy())
    assert [one.training for one in again.modules()] == [one.training for one in net.modules()]
    assert not again.conv.weight.requires_grad and again.scale.requires_grad
    assert again.width == 8 and again.alias is again.layers and again.conv.describe() == net.conv.describe()
    net.eval(), again.eval()
    np.testing.assert_array_equal(again(X).numpy(), net(X).numpy())
    with td.no_grad():
        again.layers[0].weight.copy_(again.layers[0].weight * 0)
        again.scale.copy_(td.tensor([0.0]))
    assert net.layers[0].weight.abs().sum().item() > 0 and net.scale.item() == 2


@pytest.mark.parametrize("way", WAYS)
def test_every_kind_of_module_is_copied(way):
    modules = [
        nn.Sequential(nn.Linear(2, 3), nn.ReLU()), nn.Sequential({"a": nn.Linear(2, 3)}), nn.Softmax(dim=1), nn.CrossEntropyLoss(),
        nn.Upsample(2, mode="bilinear"), nn.Linear(2, 3).to(td.float64), td.models.make("lenet5", seed=3), nn.PReLU(3),
    ]
    for module in modules:
        again = WAYS[way](module)
        assert repr(again) == repr(module) and type(again) is type(module)
        for (name, value), (other, copied) in zip(module.state_dict().items(), again.state_dict().items(), strict=True):
            assert name == other and copied.dtype == value.dtype
            np.testing.assert_array_equal(copied.numpy(), value.numpy())


def test_parts_of_models_of_the_library_are_copied_with_them():
    with pytest.raises(TypeError, match="as a part of another module"):
        copy.deepcopy(td.models.make("lenet5").conv1)


def test_summaries():
    summary = nn.summary(Net(), (2, 1, 6, 6))
    assert isinstance(summary, nn.ModelSummary) and isinstance(summary.layers[1], nn.LayerSummary)
    assert summary.parameters == sum(one.size for one in Net().parameters())
    conv = next(one for one in summary.layers if one.name == "conv")
    assert conv.outputs == [(2, 4, 6, 8)]
    text = str(summary)
    assert "conv: Conv2d(1, 4, 3×3" in text and "total" in text and "multiply-adds" in text


def test_pytorchs_words():
    x = td.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.sum(dim=1).tolist() == [3, 7] and x.mean(0, keepdim=True).shape == (1, 2) == td.mean(x, dim=0, keepdim=True).shape
    assert td.softmax(x, dim=0).sum(dim=0).tolist() == pytest.approx([1, 1]) and nn.Dropout(p=0.25).describe() == nn.Dropout(0.25).describe()
    assert (x.numel(), x.dim(), x.t().tolist(), x.view(4).shape) == (4, 2, [[1, 3], [2, 4]], (4,))
    assert [x.float().dtype, x.double().dtype, x.half().dtype, x.long().dtype] == [td.float32, td.float64, td.float16, td.int64]
    assert x.cpu().device == "cpu" and td.cat([x, x], dim=1).shape == (2, 4)
    assert td.rand(2, 3).shape == td.randn((2, 3)).shape == (2, 3) and td.randn(2, requires_grad=True).requires_grad
    if "cuda" not in " ".join(td.known_devices()):
        with pytest.raises(td.DeviceAbsent):
            x.cuda()
    with pytest.raises(td.ShapeError, match="matrix"):
        td.ones(1, 2, 3).t()


def test_arrays_are_operands():
    x, array = td.tensor([1.0, 2.0]), np.array([3.0, 4.0], "f")
    for found, expected in [(x + array, [4, 6]), (array + x, [4, 6]), (array - x, [2, 2]), (x / array, [1 / 3, 0.5]), (array > x, [1, 1])]:
        assert isinstance(found, td.Tensor)
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    assert (x // np.array([2.0, 1.0])).tolist() == [0, 2] and (np.array([5, 6]) % td.tensor([3, 4])).tolist() == [2, 2]
    x += array
    assert x.tolist() == [4, 6]
    assert (x + array.astype("float64")).dtype == td.float64
    with pytest.raises(TypeError):
        x + np.array(["a", "b"])


def test_threads():
    before = td.num_threads()
    td.set_num_threads(1)
    assert td.num_threads() == 1
    td.set_num_threads(before)
    with pytest.raises(ValueError, match="from 1 to"):
        td.set_num_threads(0)
