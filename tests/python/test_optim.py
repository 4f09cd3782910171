"""Optimizers: classes from the registry of rules, groups of parameters, states, clipping, averages, loss scaling."""

import inspect

import numpy as np
import pytest
import treadle as td

RULES = [kind for kind in vars(td.optim).values() if isinstance(kind, type) and issubclass(kind, td.optim.Optimizer)][1:]


def parameter(*values):
    return td.tensor(list(values), requires_grad=True)


def descend(optimizer, *parameters, steps=3):
    """Steps on the sum of squares, whose gradient is 2p."""
    for _ in range(steps):
        optimizer.zero_grad()
        sum(((p * p).sum() for p in parameters), start=td.tensor(0.0)).backward()
        optimizer.step()


def test_the_classes_are_those_of_pytorch():
    assert {kind.__name__ for kind in RULES} == {"SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Muon"}
    assert {kind.rule for kind in RULES} <= set(td.optim.known_optimizers())
    assert all(kind.__module__ == "treadle.optim" for kind in RULES)


def test_signatures_say_options_and_defaults():
    parameters = inspect.signature(td.optim.SGD).parameters
    assert list(parameters)[:2] == ["params", "lr"]
    assert parameters["momentum"].default == 0 and parameters["nesterov"].default is False
    assert inspect.signature(td.optim.AdamW).parameters["weight_decay"].default == 0.01
    assert inspect.signature(td.optim.RMSprop).parameters["lr"].default == 0.01
    assert "momentum: share of the buffer that stays" in td.optim.SGD.__doc__


@pytest.mark.parametrize("kind", RULES, ids=lambda kind: kind.__name__)
def test_every_rule_descends_and_restores_its_state(kind):
    start = np.random.default_rng(0).normal(size=(3, 2)).astype("f")
    first, second = (td.tensor(start, requires_grad=True) for _ in range(2))
    one, other = kind([("w", first)], lr=0.05), kind([("w", second)], lr=0.05)
    descend(one, first)
    assert (first * first).sum().item() < np.square(start).sum()
    second.detach().copy_(first.detach())
    other.load_state_dict({name: tensor.clone() for name, tensor in one.state_dict().items()})
    assert other.step_count == 3
    descend(one, first), descend(other, second)
    np.testing.assert_array_equal(first.detach().numpy(), second.detach().numpy())


def test_sgd_with_momentum_by_hand():
    p = parameter(1.0)
    descend(td.optim.SGD([p], lr=0.1, momentum=0.5), p, steps=2)
    # 1 - 0.1·2 = 0.8; buffer 0.5·2 + 1.6 = 2.6; 0.8 - 0.26
    assert p.item() == pytest.approx(0.54, abs=1e-6)


def test_pytorchs_spellings_mean_the_same():
    p, q = parameter(1.0, -2.0), parameter(1.0, -2.0)
    descend(td.optim.Adam([p], betas=(0.8, 0.9), eps=1e-3), p)
    descend(td.optim.Adam([q], beta1=0.8, beta2=0.9, eps=1e-3), q)
    np.testing.assert_array_equal(p.detach().numpy(), q.detach().numpy())
    assert td.optim.Adagrad([p], lr_decay=0.1, initial_accumulator_value=1.0).param_groups[0]["learning_rate_decay"] == 0.1
    assert td.optim.Muon([parameter(1.0)], ns_steps=3).param_groups[0]["iterations"] == 3


def test_unknown_and_wrong_options_are_refused():
    p = parameter(1.0)
    with pytest.raises(TypeError, match="momentun"):
        td.optim.SGD([p], momentun=0.9)
    with pytest.raises(TypeError, match="amsgrad"):
        td.optim.Adam([p], amsgrad=True)
    with pytest.raises(TypeError, match="momentum is a str, not a number"):
        td.optim.SGD([p], momentum="much")
    with pytest.raises(TypeError, match="nesterov is a float, not True or False"):
        td.optim.SGD([p], nesterov=1.0)
    with pytest.raises(TypeError, match="iterations is a float, not a whole number"):
        td.optim.Muon([p], iterations=2.5)
    with pytest.raises(TypeError, match="scale is a int, not a text"):
        td.optim.Muon([p], scale=1)
    with pytest.raises(td.ValueError, match="nesterov needs momentum"):
        td.optim.SGD([p], nesterov=True)
    with pytest.raises(ValueError, match="empty"):
        td.optim.SGD([])
    with pytest.raises(TypeError, match="list of tensors"):
        td.optim.SGD(p)
    with pytest.raises(TypeError, match="is a float, not a tensor"):
        td.optim.SGD([1.0])
    with pytest.raises(ValueError, match="adamm.*adamw"):
        td.optim.make("adamm", [p], 0.1)


def test_groups_have_rates_and_options_of_their_own():
    p, q, r = parameter(1.0), parameter(1.0), parameter(1.0)
    optimizer = td.optim.SGD(
        [{"params": [p]}, {"params": q, "lr": 0.2}, {"params": [("r", r)], "weight_decay": 0.5, "momentum": 0.0}], lr=0.1
    )
    descend(optimizer, p, q, r, steps=1)
    assert [one.item() for one in (p, q, r)] == pytest.approx([0.8, 0.6, 0.75], abs=1e-6)
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.1, 0.2, 0.1])
    assert optimizer.param_groups[2]["weight_decay"] == 0.5
    assert optimizer.param_groups[1]["params"][0].same_as(q)


def test_a_groups_rate_can_be_set():
    p, q = parameter(1.0), parameter(1.0)
    optimizer = td.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.0}], lr=0.1)
    optimizer.param_groups[1]["lr"] = 0.05
    descend(optimizer, p, q, steps=1)
    assert [p.item(), q.item()] == pytest.approx([0.8, 0.9], abs=1e-6)
    with pytest.raises(TypeError, match="weight_decay"):
        optimizer.param_groups[0]["weight_decay"] = 1


def test_rates_of_groups_that_begin_at_zero():
    p, q = parameter(1.0), parameter(1.0)
    optimizer = td.optim.SGD([{"params": [p]}, {"params": [q]}], lr=0.0)
    optimizer.param_groups[1]["lr"] = 0.1
    assert [group["lr"] for group in optimizer.param_groups] == [0.0, 0.1]
    optimizer.param_groups[1]["lr"] = 0.0
    optimizer.param_groups[0]["lr"] = 0.1
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.0]
    descend(optimizer, p, q, steps=1)
    assert [p.item(), q.item()] == pytest.approx([0.8, 1.0], abs=1e-6)


def test_groups_of_a_rule_that_makes_several():
    p, q, bias = (td.tensor(value, requires_grad=True) for value in ([[1.0]], [[1.0]], [1.0]))
    optimizer = td.optim.Muon([{"params": [p]}, {"params": [q, bias]}], lr=0.1)
    optimizer.param_groups[1]["lr"] = 0.0
    descend(optimizer, p, q, bias, steps=1)
    assert p.item() != 1 and q.item() == 1 and bias.item() == 1


def test_the_rate_of_one_group_is_the_optimizers():
    optimizer = td.optim.SGD([parameter(1.0)], lr=0.1)
    optimizer.param_groups[0]["lr"] = 0.3
    assert optimizer.learning_rate == 0.3
    optimizer.param_groups[0]["lr"] = 0.0
    assert optimizer.param_groups[0]["lr"] == 0.0
    optimizer.learning_rate = 0.2
    assert optimizer.param_groups[0]["lr"] == 0.2


def test_vectors_may_be_left_without_decay():
    matrix, vector = td.tensor([[1.0]], requires_grad=True), parameter(1.0)
    optimizer = td.optim.SGD([("w", matrix), ("b", vector)], lr=0.1, weight_decay=1.0, decay_vectors=False)
    (matrix.sum() * 0 + vector.sum() * 0).backward()
    optimizer.step()
    assert matrix.item() == pytest.approx(0.9) and vector.item() == 1


def test_names_are_those_of_the_state():
    model = td.nn.Linear(2, 1)
    named = td.optim.SGD(model.named_parameters(), momentum=0.9)
    assert list(named.state_dict()) == ["step", "weight.momentum", "bias.momentum"]
    assert list(td.optim.SGD(model.parameters(), momentum=0.9).state_dict()) == ["step", "0.momentum", "1.momentum"]
    with pytest.raises(td.ValueError, match="weight.momentum"):
        named.load_state_dict({"step": td.tensor([1])})


def test_a_closure_computes_the_loss():
    p = parameter(2.0)
    optimizer = td.optim.SGD([p], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with td.no_grad():
        assert optimizer.step(closure).item() == 4
    assert p.item() == 1


def test_gradients_are_clipped():
    p, q = parameter(3.0), parameter(4.0, 0.0)
    (p.sum() * 3 + (q * td.tensor([4.0, 0.0])).sum()).backward()
    assert td.optim.clip_grad_norm_([p, q], 1.0).item() == pytest.approx(5)
    assert p.grad.item() == pytest.approx(0.6, abs=1e-5)
    td.optim.clip_grad_value_([p, q], 0.5)
    assert p.grad.item() == 0.5 and q.grad.numpy().tolist() == [0.5, 0]
    with pytest.raises(td.ValueError):
        td.optim.clip_grad_norm_([p], -1)


def test_parameters_as_one_vector():
    model = td.nn.Linear(2, 1)
    vector = td.nn.utils.parameters_to_vector(model.parameters())
    assert vector.tolist() == [*model.weight.tolist()[0], *model.bias.tolist()]
    vector.sum().backward()
    assert model.weight.grad.tolist() == [[1, 1]]
    td.nn.utils.vector_to_parameters(td.tensor([1.0, 2.0, 3.0]), model.parameters())
    assert model.weight.tolist() == [[1, 2]] and model.bias.tolist() == [3]
    with pytest.raises(td.ShapeError, match="3 elements"):
        td.nn.utils.vector_to_parameters(td.tensor([1.0]), model.parameters())
    assert td.nn.utils.clip_grad_norm_ is td.optim.clip_grad_norm_


def test_an_average_of_weights():
    model = td.nn.Linear(1, 1, bias=False)
    model.weight.detach().copy_(td.tensor([[0.0]]))
    average = td.optim.WeightAverage(model, decay=0.5)
    model.weight.detach().copy_(td.tensor([[1.0]]))
    average.update()
    assert average.state_dict()["weight"].item() == 0.5
    with average.applied():
        assert model.weight.item() == 0.5
    assert model.weight.item() == 1
    average.load_state_dict({"weight": td.tensor([[3.0]])})
    average.swap()
    assert model.weight.item() == 3
    with pytest.raises(td.ValueError):
        td.optim.WeightAverage(model, 1.0)


def test_a_scaler_leaves_out_steps_that_are_not_finite():
    p = parameter(1.0)
    optimizer, scaler = td.optim.SGD([p], lr=0.1), td.optim.LossScaler(initial=4, interval=1)
    scaler.scale((p * p).sum()).backward()
    assert p.grad.item() == 8
    scaler.unscale(optimizer)
    scaler.step(optimizer)
    assert scaler.proceeds(optimizer).item() is True
    scaler.update()
    assert p.item() == pytest.approx(0.8) and scaler.factor == 8
    optimizer.zero_grad()
    scaler.scale((p * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert p.item() == pytest.approx(0.8) and scaler.skipped_steps == 1 and scaler.factor == 4 and scaler.good_steps == 0
    other = td.optim.LossScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.factor == 4 and other.skipped_steps == 1


def test_beside_pytorch():
    torch = pytest.importorskip("torch")
    start = np.random.default_rng(1).normal(size=(4, 3)).astype("f")
    for name, options in [
        ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}), ("Adam", {"betas": (0.8, 0.95), "eps": 1e-6}),
        ("AdamW", {}), ("RMSprop", {"centered": True}), ("Adagrad", {"lr_decay": 0.1}),
    ]:
        p, q = td.tensor(start, requires_grad=True), torch.tensor(start, requires_grad=True)
        descend(getattr(td.optim, name)([p], **options), p)
        other = getattr(torch.optim, name)([q], **options)
        for _ in range(3):
            other.zero_grad()
            (q * q).sum().backward()
            other.step()
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-5, atol=1e-7, err_msg=name)
