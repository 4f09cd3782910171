"""Modules: parts are attributes, and Python's forward() takes part in everything that the library's does."""

import gc
import weakref

import numpy as np
import pytest
import treadle as td


class Net(td.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = td.nn.Conv2d(1, 2, kernel_size=3)
        self.scale = td.nn.Parameter(td.tensor([2.0]))
        self.register_buffer("calls", td.tensor([0]))
        self.fc = td.nn.Linear(2 * 4 * 4, 3)

    def forward(self, x):
        return self.fc(self.conv(x).relu().flatten(1)) * self.scale


def test_parts_are_named_as_the_attributes():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == ["scale", "conv.weight", "conv.bias", "fc.weight", "fc.bias"]
    assert [name for name, _ in net.named_buffers()] == ["calls"]
    assert list(net.state_dict()) == [
        "scale", "conv.weight", "conv.bias", "fc.weight", "fc.bias", "calls",
    ]


def test_a_summary_that_fails_leaves_modules_as_they_were():
    class Part(td.nn.Module):
        def forward(self, x):
            return "nothing"

        def extra_repr(self):
            return {"named": "Part"}[self.name]

    class Whole(td.nn.Module):
        def __init__(self):
            super().__init__()
            self.part = Part()

        def forward(self, x):
            return self.part(x)

    whole = Whole()
    whole.part.name = "unnamed"
    with pytest.raises(KeyError):
        td.nn.summary(whole, (2,))
    whole.part.name = "named"
    with pytest.raises(TypeError, match="Part returned str"):
        td.nn.Sequential(whole.part)(td.zeros(2))


def test_a_part_that_gives_no_tensor_is_one_line_of_a_summary():
    class Part(Net):
        def forward(self, x):
            return {"y": super().forward(x)}

    class Whole(td.nn.Module):
        def __init__(self):
            super().__init__()
            self.part, self.last = Part(), td.nn.Linear(3, 1)

        def forward(self, x):
            return self.last(self.part(x)["y"])

    lines = td.nn.summary(Whole(), (2, 1, 6, 6)).layers
    assert [(one.depth, one.name) for one in lines] == [(0, ""), (1, "part"), (2, "conv"), (2, "fc"), (1, "last")]
    assert [one.outputs for one in lines[::4]] == [[(2, 1)], [(2, 1)]] and lines[1].outputs == []


def test_gradients_reach_all_parameters():
    net = Net()
    net(td.tensor(np.ones((2, 1, 6, 6), "f"))).sum().backward()
    assert all(parameter.grad is not None for parameter in net.parameters())


def test_a_layer_is_replaced_in_its_place():
    net = Net()
    net.conv = td.nn.Conv2d(1, 2, kernel_size=3, bias=False)
    assert [name for name, _ in net.named_parameters()] == ["scale", "conv.weight", "fc.weight", "fc.bias"]
    net.fc = None
    assert [name for name, _ in net.named_children()] == ["conv"]


def test_state_goes_from_one_to_another():
    first, second = Net(), Net()
    second.load_state_dict(first.state_dict())
    x = td.tensor(np.ones((1, 1, 6, 6), "f"))
    np.testing.assert_array_equal(first(x).numpy(), second(x).numpy())
    with pytest.raises(td.ShapeError, match="fc.bias"):
        second.load_state_dict({**first.state_dict(), "fc.bias": td.tensor([1.0])})


def test_python_modules_are_layers_of_sequential():
    model = td.nn.Sequential(Net(), td.nn.ReLU())
    assert model(td.tensor(np.ones((2, 1, 6, 6), "f"))).shape == (2, 3)
    assert model[0].conv is not None and len(model) == 2
    assert "0.conv.weight" in model.state_dict()


def test_forward_may_take_and_return_anything():
    class Odd(td.nn.Module):
        def forward(self, x, power=1):
            return {"y": x**power}

    x = td.tensor([2.0])
    assert Odd()(x)["y"].item() == 2
    assert Odd()(x, power=3)["y"].item() == 8


def test_exceptions_of_forward_reach_the_caller():
    class Broken(td.nn.Module):
        def forward(self, x):
            raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        td.nn.Sequential(Broken())(td.tensor([1.0]))


def test_a_forgotten_super_is_named():
    class Forgetful(td.nn.Module):
        def __init__(self):
            self.fc = td.nn.Linear(1, 1)

    with pytest.raises(TypeError, match=r"super\(\).__init__\(\) comes before"):
        Forgetful()


def test_a_module_in_a_cycle_is_collected():
    class Knot(td.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = td.nn.Linear(1, 1)
            self.again = lambda: self

    gone = weakref.ref(Knot())
    outer = td.nn.Sequential(Knot())
    child = weakref.ref(outer[0])
    outer[0].outer = lambda: outer
    del outer
    gc.collect()
    assert gone() is None and child() is None


def test_modes_reach_children():
    net = Net()
    assert net.eval() is net and not net.training and not net.conv.training
    assert net.train().conv.training


def test_layers_of_the_library_say_what_they_do_not_take():
    with pytest.raises(TypeError, match="layer of the library"):
        td.nn.Linear(2, 2).extra = td.nn.Parameter(td.tensor([1.0]))
    with pytest.raises(TypeError, match="copy_"):
        td.nn.Linear(2, 2).weight = td.tensor([1.0])
    with pytest.raises(TypeError, match="takes tensors alone"):
        td.nn.Linear(2, 2)([1.0, 2.0])
