"""Models that are known by name, their recipes, and checkpoints, which the program reads and writes, too.

    model = td.models.make("fashion_cnn", seed=0)
    td.train.fit(model, recipe="fast")
    td.models.save("cnn.safetensors", model)     # treadle eval cnn.safetensors
    model = td.models.load("runs/fashion_cnn")   # of `treadle train fashion_cnn`
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence

from treadle import _core
from treadle._core._checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from treadle._core._nn import Module

Checkpoint.__module__ = __name__

__all__ = [
    "About", "Checkpoint", "ModelInfo", "about", "info", "known_models", "learns_texts", "load", "load_checkpoint", "make", "names", "recipe", "save",
    "save_checkpoint",
]


class ModelInfo:
    """A model that is known by name.

    name, description: of the model
    input: the shape of one example, where no data set says another; classes: their number
    follows_data: whether it can be made for any input and number of classes
    task: what it learns: "classification", or "language", which character of a text follows
    options: of the model itself, with their defaults
    recipes: name → what recipe() gives
    """

    def __init__(self, found: dict) -> None:
        self.name: str = found["name"]
        self.description: str = found["description"]
        self.input: tuple = found["input"]
        self.classes: int = found["classes"]
        self.follows_data: bool = found["follows_data"]
        self.task: str = found["task"]
        self.options: dict = {name: default for name, default, _ in found["options"]}
        self.recipes: dict = {name: _recipe_of(texts) for name, texts in found["recipes"].items()}

    def __repr__(self) -> str:
        return f"ModelInfo({self.name}: {self.description})"


def known_models() -> list[ModelInfo]:
    """All of them."""
    return [ModelInfo(found) for found in _core._models._infos()]


def info(name: str) -> ModelInfo:
    """One of them. Raises ValueError listing the known ones."""
    return ModelInfo(_core._models._info(name))


def names() -> list[str]:
    """Their names."""
    return [found["name"] for found in _core._models._infos()]


def recipe(model: str, name: str) -> dict:
    """The named recipe of a model as keyword arguments of treadle.train.fit(), "data" among them. Raises ValueError listing
    what there is."""
    recipes = info(model).recipes
    if name not in recipes:
        known = ", ".join(recipes) or "none"
        raise ValueError(f"{model} has no recipe called '{name}'; there are: {known}")
    return dict(recipes[name])


def _recipe_of(texts: dict[str, str]) -> dict:
    """What the program has as texts."""
    found = {("lr" if name == "learning_rate" else name): _value(text) for name, text in texts.items()}
    if "schedule" in found:
        found["schedule"] = _schedule_of(found["schedule"], texts)
        for name in found["schedule"].options.keys() | {"warm_up_steps"}:
            found.pop(name, None)
    return found


def _schedule_of(name: str, texts: dict[str, str]):
    from treadle import lr_scheduler

    defaults = lr_scheduler.make(name).options
    options = {
        option: [int(part) for part in texts[option].split(",")] if isinstance(default, list) else _value(texts[option])
        for option, default in defaults.items() if option in texts
    }
    return lr_scheduler.make(name, **options, warm_up_steps=int(texts.get("warm_up_steps", 0)))


def _value(text: str):
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class About:
    """What is known of a model beside its weights, and what checkpoints say of it: its name, the shape of an example, the
    names of classes, options of the model, the (mean, deviation) that examples are normalised by, and the data set."""

    def __init__(
        self, model: str, input: tuple = (), classes: Sequence[str] = (), options: dict | None = None,
        normalization: tuple = ((), ()), dataset: str = "",
    ) -> None:
        self.model, self.input, self.classes, self.options = model, input, list(classes), options or {}
        self.normalization, self.dataset = normalization, dataset


_known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def about(model: Module) -> About:
    """What is known of the model: by make(), load() or fit()."""
    found = _known.get(model)
    if found is None:
        found = _known[model] = About(type(model).__name__)
    return found


def learns_texts(model: Module) -> bool:
    """Whether it is a known model whose task is "language"."""
    name = about(model).model
    return name in names() and info(name).task == "language"


def make(name: str, seed: int = 0, *, input: tuple | None = None, classes: int | None = None, **options) -> Module:
    """A fresh model on the cpu, initialised from the seed.

    name: one of names()
    input: the shape of one example, classes: their number, where the model follows the data; default: see info(name)
    options: of the model itself, see info(name).options

    Raises ValueError listing what there is for a name or an option, ShapeError for an input that the model does not take.
    """
    found = _core._models._info(name)
    texts = {key: str(value) for key, value in options.items()}
    model = _core._models._make(name, input, classes, texts, seed)
    count = found["classes"] if classes is None else classes
    _known[model] = About(
        name, tuple(found["input"] if input is None else input), [str(number) for number in range(count)], texts
    )
    return model


def load(path: str | os.PathLike) -> Module:
    """The model of a checkpoint, or of a run folder: its best one, else its last. It is in evaluation mode; about(model)
    says what it was trained on. Raises FileError, FormatError for what is no checkpoint of a known model."""
    model, checkpoint, _ = _core._checkpoints._load_model(os.fspath(path))
    _known[model] = About(
        checkpoint.model, tuple(checkpoint.input), checkpoint.classes, checkpoint.model_options, checkpoint.normalization,
        checkpoint.dataset,
    )
    return model


def save(path: str | os.PathLike, model: Module, *, classes: list[str] | None = None) -> None:
    """Writes the model as a checkpoint, which load() and the program read where the model is a known one. Files of tensors
    alone are treadle.save()'s. Raises FileError."""
    save_checkpoint(os.fspath(path), described(model, classes))


def described(model: Module, classes: list[str] | None = None) -> Checkpoint:
    """A checkpoint with the model's weights and what is known of it."""
    known = about(model)
    checkpoint = describe(known, Checkpoint())
    if classes is not None:
        checkpoint.classes = list(classes)
    checkpoint.parameters = model.state_dict()
    return checkpoint


def describe(known: About, checkpoint: Checkpoint) -> Checkpoint:
    """Writes into the checkpoint what is known of a model."""
    checkpoint.model, checkpoint.model_options = known.model, known.options
    checkpoint.input, checkpoint.classes = tuple(known.input), list(known.classes)
    checkpoint.normalization = tuple(list(part) for part in known.normalization)
    checkpoint.dataset = known.dataset
    return checkpoint
