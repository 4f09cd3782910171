"""compile(): what a replay gives is what the function gives, and what cannot be replayed is refused by name."""

import gc
import threading
import weakref

import numpy as np
import pytest
import treadle as td


def numbers(*shape, seed=0):
    return td.tensor(np.random.default_rng(seed).standard_normal(shape).astype("f"))


def test_replays_run_no_python():
    runs = []

    @td.compile
    def f(x, y):
        runs.append(1)
        return (x * y).sum() + x.exp().mean()

    x, y = numbers(3, 4), numbers(3, 4, seed=1)
    wanted = f.function(x, y).numpy()
    for _ in range(4):
        np.testing.assert_array_equal(f(x, y).numpy(), wanted)
    before = len(runs)
    for _ in range(10):  # calls 5 to 14: recorded again on the 2nd, 4th and 16th only
        f(x, y)
    assert len(runs) == before
    assert len(f.programs()) == 1 and f.programs()[0].calls == 14
    assert 1 <= f.programs()[0].threads <= td.num_threads()


def test_training_steps_update_in_place():
    models = [td.nn.Sequential(td.nn.Linear(4, 8), td.nn.Tanh(), td.nn.Linear(8, 3)) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    x, labels = numbers(16, 4), td.tensor(np.arange(16) % 3)

    def step_of(model):
        def step(x, labels):
            model.zero_grad()
            loss = td.cross_entropy(model(x), labels)
            loss.backward()
            with td.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(parameter - parameter.grad * 0.1)
            return loss

        return step

    plain, compiled = step_of(models[0]), td.compile(step_of(models[1]))
    first = plain(x, labels).item()
    compiled(x, labels)
    for _ in range(20):
        expected, got = plain(x, labels).item(), compiled(x, labels).item()
        assert got == pytest.approx(expected, rel=1e-5)
    assert expected < first


@pytest.mark.parametrize("form", [
    lambda x: (x, x + 1), lambda x: [x * 2], lambda x: {"a": x * 3, "b": (x + 4, None)}, lambda x: None, lambda x: (),
])
def test_results_keep_their_form(form):
    x = td.tensor([1.0, 2.0])
    compiled = td.compile(form)
    for _ in range(3):
        assert repr(compiled(x)) == repr(form(x)).replace(", requires_grad=True", "")


def test_what_is_no_tensor_is_a_constant():
    @td.compile
    def f(x, power, negative=False):
        return -(x**power) if negative else x**power

    x = td.tensor([2.0])
    assert [f(x, 2).item(), f(x, 3).item(), f(x, 2, negative=True).item(), f(x, power=2.0).item()] == [4, 8, -4, 4]
    assert f(td.tensor([3.0]), 3).item() == 27
    with pytest.raises(TypeError, match="constants that can be told apart: no list"):
        f(x, [1])


def test_methods_are_compiled_for_each_object():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @td.compile
        def times(self, x):
            """Multiplied."""
            return x * self.factor

    assert Scale(2.0).times(td.tensor([3.0])).item() == 6
    assert Scale(5.0).times(td.tensor([3.0])).item() == 15
    assert Scale.times.__doc__ == "Multiplied." and Scale.times.__name__ == "times"


def test_modules_of_python_are_compiled():
    class Net(td.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = td.nn.Linear(4, 2)

        def forward(self, x):
            return self.fc(x).relu()

    net = Net()
    compiled = td.compile(net)
    for rows in (1, 5, 1):
        np.testing.assert_allclose(compiled(numbers(rows, 4)).numpy(), net(numbers(rows, 4)).numpy(), rtol=1e-5)
    assert len(compiled.programs()) == 2


def test_a_value_that_is_read_is_refused():
    with pytest.raises(td.RecordingError):
        td.compile(lambda x: x * 2 if x.sum().item() > 0 else x)(td.tensor([1.0]))


def test_a_number_that_changed_is_refused():
    factor = 1.0

    @td.compile
    def f(x):
        return x * factor

    f(td.tensor([1.0]))
    factor = 2.0
    with pytest.raises(td.RecordingError):
        for _ in range(4):
            f(td.tensor([1.0]))


def test_another_form_of_result_is_refused():
    compiled = td.compile(lambda x: (x, x) if x.shape == (1,) else x)
    compiled(td.tensor([1.0]))
    with pytest.raises(td.RecordingError, match="one form"):
        compiled(td.tensor([1.0, 2.0]))


def test_exceptions_reach_the_caller_and_the_next_call_runs():
    fails = True

    @td.compile
    def f(x):
        if fails:
            raise LookupError("not now")
        return x + 1

    with pytest.raises(LookupError, match="not now"):
        f(td.tensor([1.0]))
    fails = False
    assert f(td.tensor([1.0])).item() == 2


def test_what_cannot_be_returned_or_compiled_is_named():
    with pytest.raises(TypeError, match="a str would not be computed again"):
        td.compile(lambda x: "text")(td.tensor([1.0]))
    with pytest.raises(TypeError, match="a int cannot be called"):
        td.compile(3)
    with pytest.raises(ValueError, match="'sometimes' is none of"):
        td.compile(lambda x: x, graph="sometimes")


def test_batches_of_any_size_share_programs():
    compiled = td.compile(lambda x: x * 2, batch_buckets=[2, 8])
    for rows in (1, 3, 8, 19):
        np.testing.assert_array_equal(compiled(numbers(rows, 3)).numpy(), numbers(rows, 3).numpy() * 2)
    assert len(compiled.programs()) == 2


def test_reports_and_times_of_programs():
    compiled = td.compile(lambda x: (x * 2).sum())
    compiled(numbers(4, 4))
    assert compiled.programs()[0].signature == "f32 [4, 4]"
    assert "mul" in str(compiled.programs()[0]) or "sum" in str(compiled.programs()[0])
    assert all(seconds > 0 for seconds in compiled.time_steps(numbers(4, 4), replays=2))


def test_threads_call_one_function():
    compiled = td.compile(lambda x: (x @ x).tanh())
    x = numbers(8, 8)
    wanted, failures = compiled(x).numpy().copy(), []

    def work():
        for _ in range(200):
            if not np.array_equal(compiled(x).numpy(), wanted):
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_compiled_function_in_a_cycle_is_collected():
    class Owner:
        pass

    owner = Owner()
    owner.step = td.compile(lambda x: x + len(owner.__dict__))
    owner.step(td.tensor([1.0]))
    gone, compiled = weakref.ref(owner), weakref.ref(owner.step)
    del owner
    gc.collect()
    assert gone() is None and compiled() is None
