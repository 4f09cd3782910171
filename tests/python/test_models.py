"""Known models, their recipes, and checkpoints that the program reads and writes."""

import json
import subprocess

import numpy as np
import pytest
import treadle as td
from treadle.__main__ import program


def run_program(*arguments):
    return subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=True, timeout=120).stdout


def last_json(text):
    return json.loads(text.strip().splitlines()[-1])


def test_models_by_name():
    assert {"mlp", "lenet5", "fashion_cnn", "mnist_resnet"} <= set(td.models.names())
    assert [info.name for info in td.models.known_models()] == td.models.names()
    info = td.models.info("fashion_cnn")
    assert info.input == (1, 28, 28) and info.classes == 10 and info.task == "classification" and not info.follows_data
    assert {"fast", "accuracy", "best"} <= info.recipes.keys() and "convolutions" in info.description
    with pytest.raises(td.ValueError, match="fashion_cnn"):
        td.models.info("fashion_cn")


def test_every_model_can_be_made():
    for info in td.models.known_models():
        model = td.models.make(info.name, seed=0)
        assert model.parameter_count() > 0 and td.models.about(model).model == info.name


def test_equal_seeds_give_equal_models():
    one, other, third = (td.models.make("lenet5", seed=seed) for seed in (3, 3, 4))
    name = "conv1.weight"
    np.testing.assert_array_equal(one.state_dict()[name].numpy(), other.state_dict()[name].numpy())
    assert not np.array_equal(one.state_dict()[name].numpy(), third.state_dict()[name].numpy())


def test_models_that_follow_the_data():
    model = td.models.make("perceptron", input=(2,), classes=3)
    assert model(td.tensor(np.zeros((5, 2), "f"))).shape == (5, 3)
    with pytest.raises(td.ShapeError, match=r"\[1, 28, 28\]"):
        td.models.make("lenet5", input=(3, 32, 32))
    with pytest.raises(td.ValueError, match="no options"):
        td.models.make("lenet5", width=3)


def test_recipes_are_arguments_of_fit():
    recipe = td.models.recipe("fashion_cnn", "fast")
    assert recipe["data"] == "fashion-mnist" and recipe["lr"] == 0.0015 and recipe["normalize"] is True
    assert recipe["schedule"].kind == "one-cycle" and recipe["schedule"].options == {"warm_up": 0.2}
    assert recipe["steps"] == 3500 and recipe["test"] == "last"
    assert td.models.recipe("char_gpt", "text")["schedule"].warm_up_steps == 100
    with pytest.raises(ValueError, match="fast, accuracy, best"):
        td.models.recipe("fashion_cnn", "quick")


def test_every_recipe_is_understood():
    import inspect

    known = inspect.signature(td.train.fit).parameters
    for info in td.models.known_models():
        for recipe in info.recipes.values():
            assert recipe.keys() <= known.keys(), (info.name, recipe)


def test_checkpoints_of_python_are_read_by_the_program(tmp_path):
    model = td.models.make("perceptron", input=(2,), classes=2)
    data = td.data.load("moons")
    td.train.fit(model, data, epochs=2, lr=0.05, normalize=True, verbose=False)
    file = tmp_path / "model.safetensors"
    td.models.save(file, model)
    found = td.train.evaluate(model, data)
    said = last_json(run_program("eval", file, "--data", "moons", "--json"))
    assert said["test_accuracy"] == found.accuracy and said["test_loss"] == pytest.approx(found.loss, rel=1e-6)
    again = td.models.load(file)
    assert td.models.about(again).classes == data.train.classes and not again.training
    assert td.train.evaluate(again, data).loss == pytest.approx(found.loss, rel=1e-6)


def test_checkpoints_of_the_program_are_read_by_python(tmp_path):
    run = tmp_path / "run"
    said = last_json(run_program(
        "train", "perceptron", "--data", "moons", "--epochs", 2, "--normalize", "--out", run, "--quiet", "--no-plots", "--json"
    ))
    model = td.models.load(run)
    about = td.models.about(model)
    assert about.model == "perceptron" and about.dataset == "moons" and about.normalization[0]
    found = td.train.evaluate(model, "moons")
    assert found.accuracy == said["test_accuracy"] and found.loss == pytest.approx(said["test_loss"], rel=1e-6)
    checkpoint = td.models.load_checkpoint(td.train.RunFolder.model_file(run))
    assert checkpoint.epoch == 2 and checkpoint.seed == 0 and checkpoint.step > 0 and checkpoint.optimizer_state
    assert checkpoint.training["--optimizer"] == "adam" and checkpoint.input == (2,)
    assert checkpoint.parameters.keys() == model.state_dict().keys()
    optimizer = td.optim.Adam(model.named_parameters())
    optimizer.load_state_dict(checkpoint.optimizer_state)
    assert optimizer.step_count == checkpoint.step
    td.models.save_checkpoint(tmp_path / "copy.safetensors", checkpoint)
    assert td.models.load_checkpoint(tmp_path / "copy.safetensors").step == checkpoint.step


def test_files_that_are_no_checkpoints(tmp_path):
    td.save(tmp_path / "state.safetensors", {"x": td.tensor([1.0])})
    with pytest.raises(td.FormatError):
        td.models.load(tmp_path / "state.safetensors")
    with pytest.raises(td.FileError):
        td.models.load(tmp_path / "nothing.safetensors")


def test_models_of_python_are_called_by_their_class(tmp_path):
    class Net(td.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = td.nn.Linear(2, 2)

        def forward(self, x):
            return self.fc(x)

    assert td.models.about(Net()).model == "Net"
    td.models.save(tmp_path / "net.safetensors", Net(), classes=["a", "b"])
    assert td.models.load_checkpoint(tmp_path / "net.safetensors").classes == ["a", "b"]
    with pytest.raises(td.FormatError, match="Net"):
        td.models.load(tmp_path / "net.safetensors")
