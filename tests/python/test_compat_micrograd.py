"""The surface of micrograd-cuda: its example, and what the original got wrong."""

import gc
import json
import random
import weakref

import pytest
import treadle as td
from treadle.compat.micrograd import MLP, Layer, Operations, Tensor

# The original's example; its import lines and the device are what changes.
EXAMPLE = """
import random
import time

from micrograd_cuda.mlp import MLP
from micrograd_cuda.tensor import Tensor
from micrograd_cuda.operations import Operations

# Model
model = MLP(300, [300, 300, 1])
epochs = 1
device = "cuda"

# Data
xs_batch = Tensor([[random.random() for _ in range(300)] for _ in range(100)]).T
ys_batch = Tensor([[random.random()] for _ in range(100)]).T

# Move to device
model.to(device)
xs_batch.to(device)
ys_batch.to(device)

start = time.time()

for k in range(epochs):

    # Forward pass
    ypred = model(xs_batch)
    diff = ypred - ys_batch
    loss = (diff**2).sum()

    # Backward pass
    for p in model.parameters():
        p.grad.data, _ = Operations(p.device).zeros_matrix_like(shape=p.shape)
    loss.backward()

    # Update
    for p in model.parameters():
            p.data, _ = Operations(p.device).matrix_add(Operations(p.device).matrix_scalar_mul(-0.1, p.grad.data, shape=p.shape), p.data, shape=p.shape)

print(f"Elapsed: {time.time() - start:.2f} sec")
    
loss.to("cpu")
print(loss.data)
"""


def run_example(device, text=EXAMPLE):
    random.seed(1)
    names = {}
    exec(text.replace("micrograd_cuda", "treadle.compat.micrograd").replace('"cuda"', f'"{device}"'), names)
    return names["loss"].data


def test_the_example_runs(capsys):
    ((loss,),) = run_example("cpu")
    assert loss > 0 and "Elapsed" in capsys.readouterr().out


def test_the_example_gives_the_same_on_a_device():
    """Small, as the executor of kernels is no GPU; in float32 there, whose roundings are a thousand times finer than this."""
    smaller = EXAMPLE.replace("300", "20").replace("epochs = 1", "epochs = 3").replace("-0.1", "-0.001")
    assert run_example("simt", smaller)[0][0] == pytest.approx(run_example("cpu", smaller)[0][0], rel=1e-4)


def numeric(function, x, i, j, step=1e-6):
    """The central difference of function(tensor).data[0][0] with respect to an element."""
    values = []
    for sign in (1, -1):
        moved = [list(row) for row in x]
        moved[i][j] += sign * step
        values.append(function(Tensor(moved)).data[0][0])
    return (values[0] - values[1]) / (2 * step)


FUNCTIONS = {
    "x + x": lambda x: (x + x).sum(),
    "x * x": lambda x: (x * x).sum(),
    "x - x*2": lambda x: (x - x * 2).sum(),
    "1 - x": lambda x: ((1 - x) ** 2).sum(),
    "2 / x": lambda x: (2 / x).sum(),
    "x / x²": lambda x: (x / x**2).sum(),
    "neg": lambda x: ((-x) ** 3).sum(),
    "T alone": lambda x: (x.T**2).sum(),
    "T": lambda x: (x.T @ x).tanh().sum(),
    "@ twice": lambda x: ((x @ x.T) @ (x @ x.T)).sum(),
    "tanh": lambda x: x.tanh().sum(),
    "abs": lambda x: (x.abs() ** 2).sum(),
    "concat": lambda x: (x.concat(x * 2) ** 2).sum(),
    "concat 1": lambda x: (x.concat(x.tanh(), axis=1) ** 2).sum(),
    "element": lambda x: x[1, 2] ** 2,
    "rows": lambda x: (x[0:1] * x[1]).sum(),
    "columns": lambda x: (x[:, 1:] * x[:, :-1]).sum(),
    "lists": lambda x: ([[1.0, 2.0]] @ x).sum() + x[0, 0] * [[4.0]],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_the_slopes(name):
    """Central differences in float64: off by step², some 1e-11, and by roundings over the step, some 1e-9."""
    values = [[0.5, -1.5, 2.0], [1.25, 0.75, -0.5]]
    x = Tensor(values)
    FUNCTIONS[name](x).backward()
    for i in range(2):
        for j in range(3):
            assert x.grad.data[i][j] == pytest.approx(numeric(FUNCTIONS[name], values, i, j), abs=1e-7), (i, j)


def test_every_tensor_has_its_gradient():
    x = Tensor([[2.0]])
    y = x * 3
    z = y**2
    z.backward()
    assert (z.grad.data, y.grad.data, x.grad.data) == ([[1.0]], [[12.0]], [[36.0]])


def test_a_second_backward_adds_the_same_again():
    x = Tensor([[2.0]])
    y = x * x
    z = y * 3
    z.backward()
    assert x.grad.data == [[12.0]]
    z.backward()
    assert x.grad.data == [[24.0]] and y.grad.data == [[6.0]]
    x.zero_grad()
    z.backward()
    assert x.grad.data == [[12.0]]


def test_gradients_of_several_results_add_up():
    x = Tensor([[1.0, 2.0]])
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.data == [[5.0, 5.0]]


def test_gradients_reach_the_tensor_that_was_read():
    """Whatever happens to it between."""
    x = Tensor([[1.0]])
    y = x * 2
    x.data = [[7.0]]
    y.backward()
    assert x.data == [[7.0]] and x.grad.data == [[2.0]]
    z = x * 5
    x.to("simt")
    z.backward()
    x.to("cpu")
    assert x.grad.data == [[7.0]]


def test_a_result_that_moves_counts_once():
    x = Tensor([[1.0]])
    y = x * 2
    first = y + 1
    y.to("simt")
    second = y * 3
    (first.to("simt") + second).backward()
    assert y.to("cpu").grad.data == [[4.0]] and x.grad.data == [[8.0]]


def test_tensors_without_gradients():
    x = Tensor([[1.0]], requires_grad=False)
    assert x.grad is None and not (x + x).requires_grad
    with pytest.raises(td.AutogradError):
        (x + x).backward()
    y = Tensor([[1.0]])
    z = (x * y).sum()
    z.requires_grad = False
    assert z.grad is None
    w = y + z
    w.backward()
    assert y.grad.data == [[1.0]]


def test_a_long_chain_does_not_recurse():
    x = y = Tensor([[1.0]])
    for _ in range(20000):
        y = y + 1
    y.backward()
    assert x.grad.data == [[1.0]]


def test_each_tensor_is_visited_once():
    """And not once for each of the 2⁵⁰ ways to it."""
    x = y = Tensor([[1.0]])
    for _ in range(50):
        y = y + y
    y.backward()
    assert x.grad.data == [[2.0**50]]


def test_what_is_computed_is_freed():
    x = Tensor([[1.0]])
    y = x * 2
    z = y.tanh()
    gone = weakref.ref(y), weakref.ref(z)
    z.backward()
    del y, z
    gc.collect()
    assert gone[0]() is None and gone[1]() is None


def test_parts_lie_within_the_tensor():
    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert x[1, -1].data == [[6.0]] and x[0].data == [[1.0, 2.0, 3.0]] and x[:, 1].data == [[2.0], [5.0]]
    for index in (2, (0, 3), (-3, 0)):
        with pytest.raises(IndexError, match="extent"):
            x[index]
    with pytest.raises(IndexError, match="3 indices"):
        x[0, 0, 0]
    with pytest.raises(IndexError, match="rows 1 to 3 of a matrix that has 2"):
        Operations("cpu").indexing_2d(x.data, 2, 1, 1, 0)


def test_shapes_that_do_not_fit_are_named():
    x = Tensor([[1.0, 2.0]])
    with pytest.raises(td.ShapeError, match=r"\(1, 2\).*\(2, 1\)"):
        Tensor([[1.0, 2.0]], shape=(2, 1))
    with pytest.raises(td.ShapeError):
        x.data = [[1.0]]
    with pytest.raises(td.ShapeError):
        x.grad = Tensor([[1.0]])
    with pytest.raises(td.ShapeError):
        x @ x
    with pytest.raises(td.ShapeError, match=r"\(1, 2\).*\(9, 9\)"):
        Operations("cpu").tanh(x.data, shape=(9, 9))


@pytest.mark.parametrize("device", ["cpu", "simt"])
def test_operations_by_name(device):
    on = Operations(device)
    a, b = [[1.0, 2.0], [3.0, 4.0]], [[0.5, -1.0], [2.0, 0.0]]
    expected = {
        "matrix_mul": (on.matrix_mul(a, b, (2, 2), (2, 2)), [[4.5, -1.0], [9.5, -3.0]]),
        "matrix_add": (on.matrix_add(a, b, shape=(2, 2)), [[1.5, 1.0], [5.0, 4.0]]),
        "matrix_scalar_mul": (on.matrix_scalar_mul(-2, a, (2, 2)), [[-2.0, -4.0], [-6.0, -8.0]]),
        "element_wise_mul": (on.element_wise_mul(a, b), [[0.5, -2.0], [6.0, 0.0]]),
        "matrix_transpose": (on.matrix_transpose(a), [[1.0, 3.0], [2.0, 4.0]]),
        "power": (on.power(a, 2), [[1.0, 4.0], [9.0, 16.0]]),
        "power_prime": (on.power_prime(a, 2), [[2.0, 4.0], [6.0, 8.0]]),
        "tanh": (on.tanh([[0.0, 0.0]]), [[0.0, 0.0]]),
        "tanh_prime": (on.tanh_prime([[0.0]]), [[1.0]]),
        "matrix_concat": (on.matrix_concat(a, [[5.0, 6.0]]), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "summation": (on.summation(a), [[10.0]]),
        "indexing_2d": (on.indexing_2d(a, 1, 2, 1, 0), [[3.0, 4.0]]),
        "zeros_matrix_like": (on.zeros_matrix_like((1, 2)), [[0.0, 0.0]]),
        "ones_matrix_like": (on.ones_matrix_like((1, 2)), [[1.0, 1.0]]),
        "pairs": (on.matrix_add(on.power(a, 1), on.to_device(a)), [[2.0, 4.0], [6.0, 8.0]]),
    }
    for name, ((data, shape), values) in expected.items():
        found = Operations("cpu").to_device(data, shape)[0]
        assert found == values, name
        assert shape == (len(values), len(values[0])), name


def test_layers_of_one_size_are_saved_apart(tmp_path):
    model = MLP(3, [3, 3, 3])
    assert len(model.state_dict()) == 3
    model.save(tmp_path / "new" / "mlp")
    again = MLP.load(tmp_path / "new" / "mlp")
    assert [p.data for p in again.parameters()] == [p.data for p in model.parameters()]
    x = Tensor([[1.0], [2.0], [3.0]])
    assert again(x).data == model(x).data


def test_a_model_on_a_device_is_saved(tmp_path):
    model = MLP(2, [1]).to("simt")
    model.save(tmp_path)
    again = MLP.load(tmp_path)
    assert again.layers[0].w.device == "cpu"
    assert again.layers[0].w.data == Tensor(model.layers[0].w.data).data


def test_files_of_the_original_are_read(tmp_path):
    """Which knows a layer by its label; where two have the same, one was lost."""
    (tmp_path / "config.json").write_text("[2, 3, 1]")
    weights = {"nin:2 nout:3": [[0.5] * 3] * 3, "nin:3 nout:1": [[0.25] * 4]}
    (tmp_path / "weights.json").write_text(json.dumps(weights))
    assert MLP.load(tmp_path).layers[1].w.data == [[0.25] * 4]
    (tmp_path / "config.json").write_text("[3, 3, 3]")
    (tmp_path / "weights.json").write_text(json.dumps({"nin:3 nout:3": [[0.5] * 4] * 3}))
    with pytest.raises(ValueError, match="layer 0"):
        MLP.load(tmp_path)


def test_a_copy_changes_by_itself():
    model = MLP(2, [2, 1])
    before = model.layers[0].w.data
    copy = model.copy()
    assert [p.data for p in copy.parameters()] == [p.data for p in model.parameters()]
    copy.layers[0].w.data = [[0.0] * 3] * 2
    assert model.layers[0].w.data == before


def test_a_small_network_learns():
    xs = Tensor([[2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -1.0]], requires_grad=False).T
    ys = Tensor([[1.0, -1.0, -1.0, 1.0]], requires_grad=False)
    random.seed(0)
    model, losses = MLP(3, [4, 4, 1]), []
    for _ in range(30):
        loss = ((model(xs) - ys) ** 2).sum()
        for p in model.parameters():
            p.zero_grad()
        loss.backward()
        for p in model.parameters():
            p.data, _ = Operations(p.device).matrix_add(p.data, Operations(p.device).matrix_scalar_mul(-0.1, p.grad.data))
        losses.append(loss.data[0][0])
    assert losses[-1] < 0.05 * losses[0]


def test_a_layer_has_its_bias_in_the_last_column():
    layer = Layer(2, 1)
    layer.w.data = [[0.0, 0.0, 0.5]]
    assert layer(Tensor([[3.0, 4.0], [5.0, 6.0]])).data == [[pytest.approx(0.46211715726)] * 2]
