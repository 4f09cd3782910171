"""Schedules: classes from the registry, and PyTorch's names of those that mean the same."""

import inspect
import math

import pytest
import treadle as td

lr_scheduler = td.lr_scheduler


def optimizer(lr=1.0):
    return td.optim.SGD([td.tensor([1.0], requires_grad=True)], lr=lr)


def rates(scheduler, steps, *told):
    found = []
    for _ in range(steps):
        found += scheduler.get_last_lr()
        scheduler.step(*told)
    return found


def test_a_class_for_each_kind():
    for name in lr_scheduler.known_schedules():
        schedule = lr_scheduler.make(name)
        assert type(schedule).__name__ in lr_scheduler.__all__ and schedule.kind == name
        assert isinstance(schedule, lr_scheduler.LRScheduler)
    assert inspect.signature(lr_scheduler.StepSchedule).parameters["gamma"].default == 0.1
    assert "epochs between two drops" in lr_scheduler.StepSchedule.__doc__
    with pytest.raises(ValueError, match="cosine"):
        lr_scheduler.make("sine")


def test_step_lr():
    assert rates(lr_scheduler.StepLR(optimizer(), step_size=2, gamma=0.5), 5) == [1, 1, 0.5, 0.5, 0.25]


def test_pytorchs_names():
    assert rates(lr_scheduler.MultiStepLR(optimizer(), [1, 3], gamma=0.5), 4) == [1, 0.5, 0.5, 0.25]
    assert rates(lr_scheduler.ExponentialLR(optimizer(), 0.5), 3) == [1, 0.5, 0.25]
    assert rates(lr_scheduler.CosineAnnealingLR(optimizer(), 2, eta_min=0.2), 3) == pytest.approx([1, 0.6, 0.2])
    warm = rates(lr_scheduler.CosineAnnealingWarmRestarts(optimizer(), 1, T_mult=2), 4)
    assert warm == pytest.approx([1, 1, 0.5, 1])
    one = rates(lr_scheduler.OneCycleLR(optimizer(0.1), 1.0, total_steps=10, pct_start=0.5), 10)
    assert one[0] == pytest.approx(1 / 25) and max(one) == 1 and one[-1] == pytest.approx(1 / 25 / 1e4)


def test_on_a_plateau():
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer(), patience=1, factor=0.5)
    assert scheduler.follows_figure
    assert rates(scheduler, 4, 3.0) == [1, 1, 1, 0.5]
    with pytest.raises(TypeError, match="figure"):
        scheduler.step()
    best = lr_scheduler.ReduceLROnPlateau(optimizer(), mode="max", patience=0, factor=0.5)
    best.step(1.0), best.step(2.0)
    assert best.get_last_lr() == [1]
    with pytest.raises(ValueError, match="mode"):
        lr_scheduler.ReduceLROnPlateau(optimizer(), mode="least")


def test_warm_up_and_span():
    schedule = lr_scheduler.LinearSchedule(optimizer(), total_steps=3, warm_up_steps=1)
    assert rates(schedule, 4) == pytest.approx([0.5, 2 / 3, 1 / 3, 0])
    assert lr_scheduler.CosineSchedule(total_steps=4).at(2, rate=3.0) == pytest.approx(1.5)


def test_groups_follow_with_their_factors():
    p, q = (td.tensor([1.0], requires_grad=True) for _ in range(2))
    groups = td.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.2}], lr=0.1)
    scheduler = lr_scheduler.ExponentialLR(groups, 0.5)
    scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([0.05, 0.1])


def test_states_go_on():
    first, second = optimizer(), optimizer()
    scheduler = lr_scheduler.ReduceLROnPlateau(first, patience=0, factor=0.5)
    scheduler.step(1.0), scheduler.step(2.0)
    other = lr_scheduler.ReduceLROnPlateau(second, patience=0, factor=0.5)
    other.load_state_dict(scheduler.state_dict())
    assert second.learning_rate == first.learning_rate == 0.5
    scheduler.step(3.0), other.step(3.0)
    assert second.learning_rate == first.learning_rate == 0.25


def test_what_cannot_be_is_refused():
    with pytest.raises(td.ValueError, match="step_size is 0"):
        lr_scheduler.StepLR(optimizer(), step_size=0)
    with pytest.raises(ValueError, match="fit"):
        lr_scheduler.StepSchedule().step()
    with pytest.raises(TypeError, match="step_size"):
        lr_scheduler.StepSchedule(step_size=1.5)
    with pytest.raises(TypeError, match="milestones"):
        lr_scheduler.MultiStepSchedule(milestones="12")


def test_rates_drive_the_steps_of_an_optimizer():
    p = td.tensor([1.0], requires_grad=True)
    own = td.optim.SGD([p], lr=1.0)
    own.set_schedule(lr_scheduler.Rates("exponential", 0.5, {"gamma": 0.5}))
    for _ in range(2):
        own.zero_grad()
        p.sum().backward()
        own.step()
    assert p.item() == pytest.approx(1 - 0.5 - 0.25)
    assert own.learning_rate == 0.25


def test_beside_pytorch():
    torch = pytest.importorskip("torch")
    for name, arguments in [
        ("StepLR", (3, 0.7)), ("MultiStepLR", ([2, 5],)), ("ExponentialLR", (0.9,)), ("CosineAnnealingLR", (9, 0.1)),
        ("CosineAnnealingWarmRestarts", (2, 2, 0.01)), ("OneCycleLR", (2.0, 10)),
    ]:
        other = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5)
        theirs = getattr(torch.optim.lr_scheduler, name)(other, **_spelled(name, arguments))
        ours = getattr(lr_scheduler, name)(optimizer(0.5), *arguments)
        expected = []
        for _ in range(9):
            expected.append(other.param_groups[0]["lr"])
            other.step(), theirs.step()
        assert rates(ours, 9) == pytest.approx(expected, rel=1e-9), name


def _spelled(name, arguments):
    names = {
        "StepLR": ["step_size", "gamma"], "MultiStepLR": ["milestones"], "ExponentialLR": ["gamma"],
        "CosineAnnealingLR": ["T_max", "eta_min"], "CosineAnnealingWarmRestarts": ["T_0", "T_mult", "eta_min"],
        "OneCycleLR": ["max_lr", "total_steps"],
    }[name]
    return dict(zip(names, arguments))


def test_cosines_are_cosines():
    schedule = lr_scheduler.CosineSchedule(optimizer(), total_steps=8)
    assert rates(schedule, 8) == pytest.approx([(1 + math.cos(math.pi * t / 8)) / 2 for t in range(8)])
