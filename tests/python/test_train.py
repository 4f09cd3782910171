"""fit() and evaluate(): models, losses, data and callbacks of the library's and of Python's; exceptions, ^C and threads."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import treadle as td


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Also where the tests are started in the background, in which shells have ^C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def points(count=120, seed=0):
    """Two classes of points, apart by a line."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, 2)).astype("f")
    return x, (x.sum(1) > 0).astype(np.int64)


class Net(td.nn.Module):
    def __init__(self, seed=0):
        super().__init__()
        generator = td.Generator(seed)
        self.fc1 = td.nn.Linear(2, 8, generator=generator)
        self.fc2 = td.nn.Linear(8, 2, generator=generator)

    def forward(self, x):
        return self.fc2(self.fc1(x).relu())


def quick(model, data, *arguments, **options):
    own = {} if arguments and not isinstance(arguments[0], str) else {"lr": 0.05}
    return td.train.fit(model, data, *arguments, **{"epochs": 3, "batch_size": 20, "verbose": False, **own, **options})


class Recorder(td.train.Callback):
    """Everything that a callback is told, by name."""

    def __init__(self):
        super().__init__()
        self.told = []

    def begin_fit(self, start):
        self.told.append(("begin_fit", start))

    def begin_epoch(self, epoch):
        self.told.append(("begin_epoch", epoch))

    def end_step(self, report):
        self.told.append(("end_step", report))

    def end_epoch(self, report):
        self.told.append(("end_epoch", report))

    def end_fit(self, result):
        self.told.append(("end_fit", result))

    def of(self, name):
        return [one for kind, one in self.told if kind == name]


def test_a_classifier_of_python_learns():
    model = Net()
    result = quick(model, points(), test=points(seed=1), epochs=8)
    assert result.test["accuracy"] > 0.9 and result.losses[-1] < result.losses[0]
    assert (result.epochs_done, result.steps_done, len(result.losses)) == (8, 48, 48)
    assert result.validation is None and result.best_epoch == 0 and not result.interrupted and not result.saved
    assert result.train_seconds > 0 and result.examples_per_second > 0
    found = td.train.evaluate(model, points(seed=1))
    assert found.accuracy == result.test["accuracy"] and found["loss"] == result.test["loss"]
    assert result.evaluation.confusion == found.confusion


def test_figures_by_class():
    class Echo(td.nn.Module):
        def forward(self, x):
            return x

    logits = np.eye(3, dtype="f")[[0, 1, 1, 2]]
    found = td.train.evaluate(Echo(), (logits, np.array([0, 1, 2, 2])))
    assert found.accuracy == 0.75 and found.correct == [1, 1, 1] and found.total == [1, 1, 2]
    assert found.confusion == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert [round(one.recall, 3) for one in found.classes] == [1, 1, 0.5]
    assert found.classes[1].precision == 0.5 and found.macro.f1 == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert "0.75" in repr(found) and "precision" in repr(found.macro)
    with pytest.raises(KeyError):
        found["recall"]


@pytest.fixture
def deterministic():
    assert not td.are_deterministic_algorithms_enabled()
    td.use_deterministic_algorithms()
    yield
    td.use_deterministic_algorithms(False)


def test_equal_seeds_give_equal_runs(deterministic):
    td.manual_seed(0)
    losses = [quick(Net(), points(), seed=seed).losses for seed in (1, 1, 2)]
    assert losses[0] == losses[1] != losses[2]


def test_deterministic_runs_are_resumed_to_the_bit(deterministic, tmp_path):
    assert td.are_deterministic_algorithms_enabled()
    whole = Net(seed=9)
    quick(whole, points(), epochs=4, seed=1, schedule="constant", out=tmp_path / "whole")
    assert td.models.load_checkpoint(tmp_path / "whole" / "last.safetensors").training["--deterministic"] == "true"
    quick(Net(seed=9), points(), epochs=2, seed=1, schedule="constant", out=tmp_path / "cut")
    resumed = Net(seed=3)
    quick(resumed, points(), epochs=4, seed=1, schedule="constant", out=tmp_path / "cut", resume=True)
    for name, weight in whole.state_dict().items():
        np.testing.assert_array_equal(resumed.state_dict()[name], weight, err_msg=name)


def test_the_same_run_as_the_program(tmp_path):
    from treadle.__main__ import program

    out = tmp_path / "run"
    subprocess.run(
        [program(), "train", "perceptron", "--data", "moons", "--epochs", "2", "--out", out, "--quiet", "--no-plots", "--seed", "3"],
        check=True, timeout=120,
    )
    data = td.data.load("moons", seed=3)
    model = td.models.make("perceptron", seed=3, input=data.train.shape, classes=2)
    td.train.fit(model, data, epochs=2, seed=3, verbose=False)
    theirs = td.load(out / "last.safetensors")
    for name, tensor in model.state_dict().items():
        np.testing.assert_allclose(tensor.numpy(), theirs[name].numpy(), rtol=1e-5, atol=1e-7)


def test_optimizers_and_schedules_may_be_given():
    model, recorder = Net(), Recorder()
    optimizer = td.optim.SGD(model.parameters(), lr=0.4)
    quick(model, points(), optimizer, schedule=td.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5), callbacks=[recorder])
    assert [report.learning_rate for report in recorder.of("end_epoch")] == [0.4, 0.2, 0.1]
    assert optimizer.step_count == 18
    for schedule in ("one-cycle", td.lr_scheduler.CosineSchedule(lowest_rate=0.1), None):
        quick(model, points(), optimizer, schedule=schedule, epochs=1)
    assert optimizer.learning_rate > 0
    plateau = td.lr_scheduler.ReduceOnPlateauSchedule(patience=0, gamma=0.5)
    quick(model, points(), td.optim.SGD(model.parameters(), lr=0.0), schedule=plateau, validation=0.25)
    with pytest.raises(td.ValueError, match="validation"):
        quick(model, points(), schedule=plateau)


def test_schedules_of_pytorchs_names_count_epochs():
    recorder, model = Recorder(), Net()
    optimizer = td.optim.SGD(model.parameters(), lr=1.0)
    scheduler = td.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    quick(model, points(), optimizer, schedule=scheduler, epochs=2, callbacks=[recorder])
    # The last of 12 steps: (1 + cos(11π/12)) / 2.
    assert recorder.of("end_epoch")[-1].learning_rate == pytest.approx((1 + np.cos(np.pi * 11 / 12)) / 2)


def test_losses_and_metrics_of_python():
    x = np.random.default_rng(0).normal(size=(100, 3)).astype("f")
    y = x @ np.float32([[1.0], [-2.0], [0.5]])
    model = td.nn.Linear(3, 1, generator=td.Generator(0))

    def distance(prediction, target):
        return (prediction - target).abs().mean()

    result = quick(
        model, (x, y), loss=lambda prediction, target: ((prediction - target) ** 2).mean(), metrics={"distance": distance},
        validation=(x[:10], y[:10]), test=(x, y), best_by="distance", epochs=60,
    )
    assert result.test["loss"] < 1e-2 and result.test["distance"] < 0.1 and result.best_epoch > 0
    np.testing.assert_allclose(model.weight.detach().numpy(), [[1.0, -2.0, 0.5]], atol=0.1)
    again = td.train.evaluate(model, (x, y), loss=distance, metrics={"distance": distance}, batch_size=30)
    assert again["loss"] == again["distance"] == pytest.approx(result.test["distance"], rel=1e-5)
    with pytest.raises(TypeError, match="not a tensor"):
        quick(model, (x, y), loss=lambda prediction, target: 1.0)
    with pytest.raises(TypeError, match="label_smoothing"):
        quick(model, (x, y), loss=distance, label_smoothing=0.1)


def test_accuracy_beside_a_loss_of_ones_own():
    def loss(prediction, labels):
        return td.cross_entropy(prediction, labels)

    own = quick(Net(), points(), test=points(seed=1), loss=loss, metrics={"accuracy": td.train.accuracy}, seed=1)
    plain = quick(Net(), points(), test=points(seed=1), seed=1)
    np.testing.assert_allclose(own.losses, plain.losses, rtol=1e-4)
    assert own.test["accuracy"] == pytest.approx(plain.test["accuracy"]) and own.evaluation is None


def test_numbers_with_whole_targets():
    model = td.nn.Sequential(td.nn.Linear(1, 1))
    x, y = np.arange(20, dtype="f"), np.arange(20)

    def loss(prediction, target):
        return ((prediction.reshape(-1) - target) ** 2).mean()

    class Column(td.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, x):
            return self.inner(x.reshape(-1, 1))

    assert quick(Column(), (x, y), loss=loss, epochs=2).steps_done == 2


def test_an_example_of_one_tensor_is_its_own_target():
    x = np.random.default_rng(0).normal(size=(40, 3)).astype("f")
    model = td.nn.Linear(3, 3)
    result = quick(model, td.data.TensorDataset(x), loss=lambda y, target: ((y - target) ** 2).mean(), epochs=10)
    assert result.losses[-1] < result.losses[0]


class Points(td.data.Dataset):
    def __init__(self):
        self.x, self.labels = points()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], int(self.labels[index])


@pytest.mark.parametrize("kind", ["dataset", "loader", "of the library"])
def test_data_of_all_kinds_give_the_same_run(kind):
    plain = quick(Net(), td.data.dataset(*points()), seed=2).losses
    data = {"dataset": Points(), "loader": td.data.Loader(Points()), "of the library": td.data.Loader(td.data.dataset(*points()))}
    np.testing.assert_allclose(quick(Net(), data[kind], seed=2).losses, plain, rtol=1e-4)


def test_a_loaders_settings_are_the_runs(deterministic):
    loader = td.data.Loader(td.data.dataset(*points()), batch_size=60, seed=5)
    result = td.train.fit(Net(), loader, epochs=1, lr=0.05, verbose=False)
    assert result.steps_done == 2
    assert result.losses == td.train.fit(Net(), loader.dataset, epochs=1, batch_size=60, seed=5, lr=0.05, verbose=False).losses


def test_a_share_is_held_out():
    data, recorder = td.data.dataset(*points()), Recorder()
    result = quick(Net(), data, validation=0.25, callbacks=[recorder])
    assert result.validation["accuracy"] > 0.5 and result.best_epoch > 0 and len(data) == 120
    assert recorder.of("end_epoch")[0].examples == 90
    assert quick(Net(), Points(), validation=0.25).validation["accuracy"] == pytest.approx(result.validation["accuracy"], abs=0.2)
    splits = td.data.load("moons").hold_out(0.2)
    with pytest.raises(ValueError, match="already"):
        quick(Net(), splits, validation=0.1)
    with pytest.raises(ValueError, match="share of 0.001"):
        quick(Net(), Points(), validation=0.001)


def test_callbacks_are_told():
    recorder, model = Recorder(), Net()
    result = quick(model, points(), test=points(seed=1), epochs=2, callbacks=[recorder])
    assert [kind for kind, _ in recorder.told] == (
        ["begin_fit"] + (["begin_epoch"] + ["end_step"] * 6 + ["end_epoch"]) * 2 + ["end_fit"]
    )
    start = recorder.of("begin_fit")[0]
    assert start.model is model and (start.epochs, start.steps_in_epoch, start.epochs_done, start.steps_done) == (2, 6, 0, 0)
    assert start.earlier == []
    step = recorder.of("end_step")[7]
    assert (step.epoch, step.epochs, step.step_in_epoch, step.steps_in_epoch, step.examples_done) == (1, 2, 2, 6, 40)
    assert step.loss == result.losses[7] and step.seconds > 0
    epoch = recorder.of("end_epoch")[1]
    assert (epoch.epoch, epoch.epochs, epoch.steps, epoch.examples, epoch.best) == (2, 2, 12, 120, False)
    assert epoch.test == result.test and epoch.validation is None and epoch.seconds > 0
    assert epoch.train_loss == pytest.approx(np.mean(result.losses[6:]), rel=1e-6)
    assert epoch.figures["test_accuracy"] == result.test["accuracy"]
    assert recorder.of("end_fit")[0].losses == result.losses


def test_callbacks_may_end_a_run():
    class Enough(td.train.Callback):
        def wants_end(self):
            return self.seen >= 2

        seen = 0

        def end_epoch(self, report):
            self.seen += 1

    assert quick(Net(), points(), epochs=9, callbacks=[Enough()]).epochs_done == 2
    stopping = td.train.EarlyStopping("validation_loss", patience=1)
    optimizer = td.optim.SGD(Net().parameters(), lr=0.0)  # of another model: nothing gets better
    assert quick(Net(), points(), optimizer, validation=0.5, epochs=9, callbacks=[stopping]).epochs_done == 2
    assert quick(Net(), points(), optimizer, validation=0.5, epochs=9, early_stop=2).epochs_done == 3


@pytest.mark.parametrize("event", ["begin_fit", "begin_epoch", "end_step", "end_epoch", "end_fit", "wants_end"])
def test_exceptions_of_callbacks_end_the_run_and_reach_the_caller(event, tmp_path):
    class Broken(td.train.Callback):
        pass

    def fail(self, *told):
        raise LookupError(event)

    setattr(Broken, event, fail)
    model = Net()
    with pytest.raises(LookupError, match=event):
        quick(model, points(), callbacks=[Broken()], out=tmp_path / "run")
    assert quick(model, points(), out=tmp_path / "run", overwrite=True).saved  # the folder is free, the model whole


def test_logs_of_the_library(tmp_path):
    profiler = td.train.Profiler(skip=1, steps=2)
    quick(
        Net(), points(), test=points(seed=1), out=tmp_path / "run",
        callbacks=[
            td.train.CsvLog(tmp_path / "log.csv"), profiler,
            td.train.TensorboardLog(tmp_path / "run", {"lr": 0.05, "name": "a test", "plain": True}),
        ],
    )
    assert (tmp_path / "log.csv").read_text().splitlines()[0].startswith("epoch")
    assert profiler.runs and {"op", "variant", "seconds"} <= profiler.runs[0].keys() and '"ph"' in profiler.trace()
    assert any(file.name.startswith("events") for file in (tmp_path / "run").iterdir())


def test_progress(capsys):
    td.train.fit(Net(), points(), epochs=2, validation=0.2, verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[0].startswith("epoch 1/2  loss ") and "validation accuracy" in lines[0]
    assert "examples/s" in lines[0] and lines[0].endswith("best so far")
    td.train.fit(Net(), points(), epochs=1, verbose=False)
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    progress = td.train.Progress("images")
    recorder = Recorder()
    quick(Net(), points(), callbacks=[recorder])
    progress.tick(recorder.of("end_step")[2], 0.5, 1.5, 3)
    drawn = capsys.readouterr().err
    assert "epoch 1/3" in drawn and "loss 0.5000" in drawn and "40 images/s" in drawn and "0:08 left" in drawn
    progress.end_fit(None)
    assert capsys.readouterr().err == "\r\033[K"


def test_the_steps_options():
    losses = quick(Net(), points(), seed=1).losses
    assert np.allclose(quick(Net(), points(), seed=1, batch_size=10, accumulate=2).losses, losses, rtol=1e-4)
    for options in (
        {"clip_norm": 0.01}, {"precision": "bf16"}, {"precision": "f16"}, {"weight_decay": 0.5},
        {"label_smoothing": 0.2}, {"normalize": True}, {"limit_batches": 2},
        {"optimizer": "momentum"}, {"decay_matrices_only": True, "optimizer": "adamw"},
    ):
        result = quick(Net(), td.data.dataset(*points()), seed=1, **options)
        assert np.isfinite(result.losses).all() and result.losses != losses, options
    assert quick(Net(), points(), steps=4).steps_done == 4
    with pytest.raises(TypeError, match="__getitem__"):
        quick(Net(), Points(), normalize=True)


def test_vectors_may_be_left_without_decay():
    model, free = Net(), Net()
    quick(model, points(), optimizer="adamw", lr=0.0, weight_decay=0.5, epochs=1)  # no rate, no decay
    for one, decides in ((model, False), (free, True)):
        one.fc1.bias.detach().copy_(td.tensor([1.0] * 8))
        quick(one, points(), optimizer="adamw", lr=0.5, weight_decay=0.9, epochs=1, steps=1, decay_matrices_only=decides)
    moved = 0.5  # at most the rate, by Adam's first step
    assert (free.fc1.bias.detach().numpy() >= 1 - moved - 1e-5).all()
    assert (model.fc1.bias.detach().numpy() < 1 - 0.45 + moved).all() and model.fc1.bias.min().item() < 0.5


def test_an_optimizer_that_is_given_has_its_own_rate():
    model = Net()
    for name, value in (("lr", 0.1), ("weight_decay", 0.1), ("decay_matrices_only", True)):
        with pytest.raises(TypeError, match=name):
            quick(model, points(), td.optim.SGD(model.parameters()), **{name: value})


def test_the_rate_of_a_given_optimizer_stays():
    recorder, model = Recorder(), Net()
    quick(model, points(), td.optim.SGD(model.parameters(), lr=0.25), callbacks=[recorder])
    assert [report.learning_rate for report in recorder.of("end_epoch")] == [0.25] * 3


def test_parts_that_are_held_out_share_nothing():
    seen = []

    class Seen(Points):
        def __getitem__(self, index):
            seen.append(index)
            return super().__getitem__(index)

    quick(Net(), Seen(), validation=0.25, epochs=1)
    assert sorted(seen) == list(range(120))


def test_a_set_without_a_test_part_has_none():
    splits = td.data.load("moons")
    assert quick(perceptron(), splits, epochs=1).test is not None
    td.data._sets._core._data._test_part(splits)
    assert quick(perceptron(), splits, epochs=1).test is None


def test_the_model_ends_with_its_average():
    model, start = Net(), Net().state_dict()
    quick(model, points(), ema=0.999999)
    for name, tensor in model.state_dict().items():
        np.testing.assert_allclose(tensor.numpy(), start[name].numpy(), atol=1e-3)


def test_a_normalization_goes_with_the_model():
    x, labels = points()
    data, model = td.data.dataset(x * 10 + 5, labels), Net()
    result = quick(model, data, test=data, normalize=True)
    assert td.train.evaluate(model, data).loss == pytest.approx(result.test["loss"], rel=1e-6)
    assert td.train.evaluate(model, data, normalization=([], [])).loss != result.test["loss"]


def test_runs_are_resumed(tmp_path):
    whole = Net()
    losses = quick(whole, points(), epochs=4, seed=1).losses

    class Stop(td.train.Callback):
        def end_step(self, report):
            if report.epoch == 1 and report.step_in_epoch == 3:
                raise KeyboardInterrupt

    model, run, recorder = Net(), tmp_path / "run", Recorder()
    with pytest.raises(KeyboardInterrupt):
        quick(model, points(), epochs=4, seed=1, out=run, callbacks=[Stop()])
    result = quick(Net(seed=9), points(), epochs=4, seed=1, out=run, resume=True, callbacks=[recorder])
    np.testing.assert_allclose(result.losses, losses[9:], rtol=1e-5)
    start = recorder.of("begin_fit")[0]
    assert (start.epochs_done, start.steps_done) == (1, 9) and len(start.earlier) == 1
    assert [one["epoch"] for one in td.train.RunFolder.epochs_in(run)] == [1, 2, 3, 4]
    assert result.saved and 'model = "Net"\n' in (run / "config.toml").read_text()
    with pytest.raises(ValueError, match="holds a run already"):
        quick(Net(), points(), out=run)
    with pytest.raises(ValueError, match="Net, not Sequential"):
        quick(td.nn.Sequential(Net()), points(), out=run, resume=True)
    with pytest.raises(td.FileError, match="no last.safetensors"):
        quick(Net(), points(), out=tmp_path / "none", resume=True)
    with pytest.raises(ValueError, match="out="):
        quick(Net(), points(), resume=True)


def test_a_run_goes_on_with_what_it_had(tmp_path):
    run, milestones = tmp_path / "run", td.lr_scheduler.MultiStepSchedule(milestones=[1], gamma=0.5)
    options = {"batch_size": 30, "lr": 0.1, "optimizer": "sgd", "schedule": milestones, "normalize": True, "seed": 4}
    whole = td.train.fit(perceptron(), "moons", epochs=3, verbose=False, **options)
    td.train.fit(perceptron(), "moons", epochs=2, verbose=False, out=run, **options)
    result = td.train.fit(perceptron(), epochs=3, verbose=False, out=run, resume=True)
    np.testing.assert_allclose(result.losses, whole.losses[-len(result.losses):], rtol=1e-5)
    assert result.epochs_done == 3
    with pytest.raises(ValueError, match="batch_size 20 differs from the run to resume, which has 30"):
        td.train.fit(perceptron(), batch_size=20, out=run, resume=True)
    with pytest.raises(td.FormatError, match="not those that the run"):
        td.train.fit(perceptron(), "xor", out=run, resume=True, verbose=False)


def test_the_folder_is_free_while_the_exception_is_held(tmp_path):
    class Broken(td.train.Callback):
        def begin_fit(self, start):
            raise LookupError

    with pytest.raises(LookupError) as held:
        quick(Net(), points(), out=tmp_path / "run", callbacks=[Broken()])
    assert not (tmp_path / "run").exists() and held.tb is not None
    td.train.RunFolder(tmp_path / "run").close()


def test_a_seed_that_is_given_is_that_of_dropout_too():
    def losses(seed):
        model = td.nn.Sequential(td.nn.Linear(2, 32, generator=td.Generator(0)), td.nn.Dropout(0.5), td.nn.Linear(32, 2, generator=td.Generator(1)))
        return quick(model, points(), epochs=1, batch_size=120, seed=seed).losses

    assert losses(5) == losses(5) != losses(6)


def test_the_line_of_progress_goes_with_an_exception(monkeypatch, capsys):
    class Drawn(td.train.Progress):
        def begin_fit(self, start):
            self._drawn = True
            raise LookupError

    monkeypatch.setattr(td.train._fit, "Progress", Drawn)
    with pytest.raises(LookupError):
        td.train.fit(Net(), points())
    assert capsys.readouterr().err == "\r\033[K"


def test_config_is_a_recipe_of_the_program(tmp_path):
    schedule = td.lr_scheduler.LinearSchedule(warm_up_steps=3)
    td.train.fit(perceptron(), "moons", epochs=1, lr=0.25, schedule=schedule, out=tmp_path / "run", verbose=False)
    run_program("train", "perceptron", "--config", tmp_path / "run" / "config.toml", "--out", tmp_path / "again", "--quiet", "--no-plots")
    one, other = (td.models.load_checkpoint(tmp_path / name / "last.safetensors") for name in ("run", "again"))
    assert other.training["--lr"] == "0.25" and other.training["--warm-up-steps"] == "3" and one.step == other.step
    for name, tensor in one.parameters.items():
        np.testing.assert_allclose(other.parameters[name].numpy(), tensor.numpy(), rtol=1e-5, atol=1e-7)


def perceptron():
    return td.models.make("perceptron", input=(2,), classes=2)


def run_program(*arguments):
    from treadle.__main__ import program

    subprocess.run([program(), *map(str, arguments)], check=True, timeout=120, capture_output=True, text=True)


def test_the_program_goes_on_with_runs_of_python(tmp_path):
    whole, run = perceptron(), tmp_path / "run"
    td.train.fit(whole, "moons", epochs=3, optimizer="momentum", schedule="linear", steps=30, verbose=False)
    td.train.fit(perceptron(), "moons", epochs=1, optimizer="momentum", schedule="linear", steps=30, verbose=False, out=run)
    run_program("train", "perceptron", "--resume", "--epochs", 3, "--out", run, "--quiet", "--no-plots")
    for name, tensor in whole.state_dict().items():
        np.testing.assert_allclose(td.load(run / "last.safetensors")[name].numpy(), tensor.numpy(), rtol=1e-5, atol=1e-7)


def test_python_goes_on_with_runs_of_the_program(tmp_path):
    run, other = tmp_path / "run", tmp_path / "other"
    options = ["--optimizer", "adamw", "--schedule", "one-cycle", "--steps", 30, "--batch-size", 40, "--quiet", "--no-plots"]
    run_program("train", "perceptron", "--data", "moons", "--epochs", 3, "--out", other, *options)
    run_program("train", "perceptron", "--data", "moons", "--epochs", 1, "--out", run, *options)
    model = perceptron()
    td.train.fit(model, epochs=3, out=run, resume=True, verbose=False)
    for name, tensor in model.state_dict().items():
        np.testing.assert_allclose(td.load(other / "last.safetensors")[name].numpy(), tensor.detach().numpy(), rtol=1e-5, atol=1e-7)


def test_run_folders(tmp_path):
    folder = td.train.RunFolder(tmp_path / "run")
    assert folder.path == tmp_path / "run" and folder.last_file.name == "last.safetensors"
    assert folder.best_file.name == "best.safetensors" and not td.train.RunFolder.holds_run(tmp_path / "run")
    folder.set_config("a = 1\n")
    folder.close()
    assert not (tmp_path / "run").exists()
    (tmp_path / "new").mkdir()
    assert td.train.RunFolder.make_new(tmp_path / "new").path.name == "new-2"


def test_losses_that_are_not_finite_end_the_run():
    with pytest.raises(td.TrainingError, match="the loss is"):
        quick(Net(), points(), "sgd", lr=1e30, epochs=9)


def test_data_that_are_none():
    with pytest.raises(TypeError, match="data"):
        td.train.fit(Net())
    with pytest.raises(TypeError, match="type int"):
        quick(Net(), 3)


def test_exceptions_of_forward_and_data_reach_the_caller():
    class Broken(Net):
        def forward(self, x):
            raise LookupError("lost in forward")

    with pytest.raises(LookupError, match="lost in forward"):
        quick(Broken(), points())

    class Gone(Points):
        def __getitem__(self, index):
            raise LookupError("lost in data")

    with pytest.raises(LookupError, match="lost in data"):
        quick(Net(), Gone())


def test_a_learning_rate_is_found():
    model = Net()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    curve = td.train.find_learning_rate(model, points(), steps=40, batch_size=20)
    assert isinstance(curve, td.train.LearningRateCurve)
    assert len(curve.rates) == len(curve.losses) <= 40 and curve.rates[0] == pytest.approx(1e-7)
    assert curve.suggestion == 0 or curve.rates[0] <= curve.suggestion <= 10
    for name, tensor in model.state_dict().items():
        np.testing.assert_array_equal(tensor.numpy(), before[name].numpy())


@pytest.fixture
def text(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("round and round the ragged rock the ragged rascal ran\n" * 40, encoding="utf-8")
    return td.data.load_text(file, block=8)


def writer(text):
    return td.models.make(
        "char_gpt", input=(text.block,), classes=len(text.characters), layers=1, heads=1, features=8, dropout=0.0
    )


def test_texts(text):
    assert text.decode(text.encode("rock\n")) == "rock\n" and "".join(text.characters) == "".join(sorted(text.characters))
    assert isinstance(text, td.data.TextDataset)
    assert len(text) == (len(text.train) - text.block - 1) // text.block and len(text.test) > 0 and not text.validation and "training" in repr(text)
    with pytest.raises(td.ValueError, match="j"):
        text.encode("jazz")
    with pytest.raises(ValueError, match="99"):
        text.decode([99])
    with pytest.raises(td.DatasetAbsent):
        td.data.load_text("nowhere.txt")
    again = td.data.load_text(text.name, block=4, characters=text.characters)
    assert again.block == 4 and again.fingerprint() != ""


def test_a_model_of_texts_learns_and_writes(text, tmp_path):
    model, run = writer(text), tmp_path / "run"
    before = td.train.evaluate(model, text)
    result = td.train.fit(model, text, lr=0.02, epochs=3, validation=0.2, out=run, verbose=False, seed=1)
    found = td.train.evaluate(model, text)
    assert isinstance(found, td.train.TextEvaluation) and td.models.learns_texts(model) and not td.models.learns_texts(Net())
    assert found.loss < before.loss and found.characters > 0 and found.perplexity == pytest.approx(np.exp(found.loss))
    assert found.bits_per_character == pytest.approx(found.loss / np.log(2)) and "perplexity" in repr(found)
    assert result.test["loss"] == pytest.approx(found.loss, rel=1e-5) and result.best_epoch > 0
    written = td.train.generate(model, "the ", length=12, temperature=0.5, seed=3)
    assert written.startswith("the ") and len(written) == 16
    assert td.train.generate(td.models.load(run), "the ", length=12, temperature=0.5, seed=3) == written
    assert td.train.evaluate(model, text.name).loss == pytest.approx(found.loss, rel=1e-6)
    curve = td.train.find_learning_rate(model, text, steps=12)
    assert len(curve.losses) <= 12


def test_what_a_model_of_texts_does_not_take(text):
    small = td.models.make("char_gpt", input=(8,), classes=3)
    with pytest.raises(ValueError, match="knows 3 characters, the text has"):
        quick(small, text)
    with pytest.raises(TypeError, match="next character"):
        quick(writer(text), text, label_smoothing=0.1)
    with pytest.raises(TypeError, match="parts of a text"):
        quick(writer(text), text, test=text)
    with pytest.raises(ValueError, match="has not been trained on a text"):
        td.train.generate(Net())


# Epochs that no processor trains before a signal ends the run: minutes of the smallest steps. If the signal is lost, the
# test still ends, and fails.
ENDLESS = 10_000_000


def interrupt(call, after=0.3):
    """Sends this process ^C once while it calls."""
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        timer.cancel()
        timer.join()


def test_ctrl_c_ends_a_run_with_its_state(tmp_path):
    run, before = tmp_path / "run", signal.getsignal(signal.SIGINT)
    started = threading.Event()

    class Started(td.train.Callback):
        def end_step(self, report):
            if not started.is_set():
                started.set()
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        quick(Net(), points(), epochs=ENDLESS, out=run, callbacks=[Started()])
    steps = td.models.load_checkpoint(run / "last.safetensors").step
    assert steps > 0 and signal.getsignal(signal.SIGINT) is before
    assert quick(Net(), points(), epochs=1, out=run, resume=True).steps_done >= 6


def test_ctrl_c_ends_calls_that_call_nothing_of_python():
    interrupt(lambda: quick(Net(), points(), epochs=ENDLESS))
    many = td.data.dataset(np.zeros((2_000_000, 2), "f"), np.zeros(2_000_000, "i8"), ["a", "b"])
    interrupt(lambda: [td.train.evaluate(Net(), many, batch_size=8) for _ in range(1000)])


def test_ctrl_c_in_python_data(tmp_path):
    class Pressed(Points):
        calls = 0

        def __getitem__(self, index):
            self.calls += 1
            if self.calls == 70:
                raise KeyboardInterrupt
            return super().__getitem__(index)

    with pytest.raises(KeyboardInterrupt):
        quick(Net(), Pressed(), out=tmp_path / "run")
    assert td.models.load_checkpoint(tmp_path / "run" / "last.safetensors").step == 4


def test_handlers_of_other_signals_run_during_a_run():
    def handler(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError):
            quick(Net(), points(), epochs=ENDLESS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_threads_train_models_of_their_own():
    expected = [quick(Net(), points(), seed=seed).losses for seed in range(3)]
    found = [None] * 3

    def train(seed):
        found[seed] = td.train.fit(Net(), points(), epochs=3, batch_size=20, lr=0.05, verbose=False, seed=seed).losses

    threads = [threading.Thread(target=train, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-4)


def test_the_short_script():
    model = td.models.make("fashion_cnn", seed=0)
    if not next(one for one in td.data.known_datasets() if one.name == "fashion-mnist").found:
        pytest.skip("Fashion-MNIST is not on this machine")
    result = td.train.fit(model, recipe="fast", steps=12, limit_batches=20, verbose=False)
    assert result.steps_done == 12 and result.test["accuracy"] > 0.2
