"""Each name that the package exports is one that some test of it uses."""

import pathlib
import re
import threading

import numpy as np
import pytest
import treadle as td
from package import public_modules

HERE = pathlib.Path(__file__).parent
TESTS = "".join(path.read_text() for path in sorted(HERE.glob("test_*.py")))
USED = set(re.findall(r"\w+", TESTS))
# Modules whose names a test goes through, whatever they are.
WHOLE = {
    "treadle.array_api": "test_function_of_the_standard",
    "treadle.array_api.linalg": "test_function_of_the_standard",
    "treadle.data.augment": "test_augmentations_are_those_of_the_library",
    "treadle.lr_scheduler": "test_a_class_for_each_kind",
}


@pytest.mark.parametrize("module", list(public_modules()), ids=lambda module: module.__name__)
def test_exported_names_are_tested(module):
    if module.__name__ in WHOLE:
        assert f"def {WHOLE[module.__name__]}" in TESTS
        return
    assert [name for name in getattr(module, "__all__", []) if name not in USED] == []


def test_what_calls_return_has_the_types_that_are_exported(tmp_path):
    images = td.tensor(np.zeros((8, 1, 28, 28), "f")), td.tensor(np.arange(8) % 10)
    seen = {}

    class Watch(td.train.Callback):
        def begin_fit(self, start):
            seen["start"] = start

        def end_step(self, report):
            seen["step"] = report

        def end_epoch(self, report):
            seen["epoch"] = report

    model = td.models.make("mlp", seed=0)
    result = td.train.fit(model, images, epochs=1, test=images, callbacks=[Watch()], verbose=False)
    assert isinstance(result, td.train.FitResult)
    assert isinstance(seen["start"], td.train.FitStart)
    assert isinstance(seen["step"], td.train.StepReport)
    assert isinstance(seen["epoch"], td.train.EpochReport)
    evaluation = td.train.evaluate(model, images)
    assert isinstance(evaluation, td.train.Evaluation)
    assert all(isinstance(one, td.train.ClassFigures) for one in evaluation.classes)
    optimizer = td.optim.SGD(model.parameters(), lr=0.1)
    assert isinstance(optimizer.param_groups[0], td.optim.ParameterGroup)
    assert isinstance(td.models.about(model), td.models.About)
    compiled = td.compile(lambda x: x + 1)
    compiled(td.tensor([1.0]))
    assert isinstance(compiled, td.CompiledFunction) and isinstance(compiled.programs()[0], td.ProgramReport)
    assert isinstance(td.models.info("mlp"), td.models.ModelInfo)
    td.models.save(tmp_path / "m.safetensors", model)
    assert isinstance(td.models.load_checkpoint(tmp_path / "m.safetensors"), td.models.Checkpoint)


def test_what_data_come_as(tmp_path):
    assert isinstance(td.data.load("xor"), td.data.DatasetSplits)
    with pytest.raises(td.Error):  # it is made of points, and nothing is downloaded
        assert isinstance(td.data.download("xor"), td.data.DownloadResult)


def test_modes_are_entered_within_each_other():
    with td.no_grad(), td.autograd.enable_grad():
        assert td.is_grad_enabled()
    with td.enable_grad():
        with td.NoGrad():
            assert not td.is_grad_enabled()
            with td.EnableGrad():
                assert td.is_grad_enabled()
    assert td.nn.functional.mse_loss(td.tensor([1.0]), td.tensor([3.0])).item() == 4


def test_a_mode_as_a_decorator_is_of_each_call():
    """Two threads are in one decorated function, and the first to enter is the first to leave."""
    entered, left = threading.Event(), threading.Event()

    @td.no_grad()
    def call(function):
        assert not td.is_grad_enabled()
        function()

    def on_another_thread():
        with td.no_grad():
            call(lambda: entered.set() or left.wait(10))

    thread = threading.Thread(target=on_another_thread)
    call(lambda: thread.start() or entered.wait(10))
    assert entered.is_set() and td.is_grad_enabled()
    left.set()
    thread.join()


def test_functions_of_ones_own_get_a_context():
    class Twice(td.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert isinstance(ctx, td.autograd.FunctionContext)
            return x * 2

    assert Twice.apply(td.tensor([1.0])).item() == 2
