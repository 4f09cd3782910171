"""The settings of a run: what was given, what the run to resume had, what a recipe and a loader say, and the defaults.

Checkpoints keep them as texts under the names that the program has for its options, so that either goes on with a run of
the other.
"""

from __future__ import annotations

from treadle import models
from treadle._core import are_deterministic_algorithms_enabled
from treadle._core._nn import Module
from treadle.data import _loader
from treadle.data.augment import Augmentation, text_of
from treadle.lr_scheduler import LRScheduler

_DEFAULTS = {
    "optimizer": "adam", "epochs": 5, "batch_size": 32, "lr": 1e-3, "augment": "", "normalize": False,
    "label_smoothing": 0.0, "clip_norm": 0.0, "ema": 0.0, "precision": "f32", "accumulate": 1, "steps": 0,
    "limit_batches": 0, "decay_matrices_only": False, "seed": 0,
}
# Those that a run which goes on may have otherwise than it began.
_RENEWABLE = {"data", "epochs", "test", "loader_threads"}
_OF_LOADER = {"batch_size": "batch_size", "seed": "seed", "augment": "augment", "loader_threads": "threads"}


class Settings:
    """The settings of fit() by its keywords, as attributes; None where there is none."""

    def __init__(self, model: Module, given: dict, recipe: str | None = None, saved: dict[str, str] | None = None):
        self.given = {name: value for name, value in given.items() if value is not None}
        self._sources = [self.given]
        if saved is not None:
            self._sources.append(self._of_run(saved, given))
        if recipe:
            self._sources.append(models.recipe(models.about(model).model, recipe))
        if isinstance(self.given.get("data"), _loader.Loader):
            loader = self.given["data"]
            self._sources.append(
                {name: getattr(loader, of) for name, of in _OF_LOADER.items() if getattr(loader, of) is not None}
            )
        self._sources.append(_DEFAULTS)

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)
        return next((source[name] for source in self._sources if name in source), None)

    @property
    def schedule_or_default(self) -> LRScheduler | str:
        """An optimizer that is given as an object keeps its rate."""
        return self.schedule or ("cosine" if isinstance(self.optimizer, str) else "constant")

    def _of_run(self, saved: dict[str, str], keywords: dict) -> dict:
        """What a run had. Raises ValueError where something was given that a run cannot change."""
        texts = {keyword(name): text for name, text in saved.items() if name.startswith("--") and text not in ("", "auto")}
        had = models._recipe_of({name: text for name, text in texts.items() if name != "test" or text == "last"})
        if "validation" in had:
            had["validation"] = float(had["validation"])
        for name, value in self.given.items():
            text = _text(value)
            if name in texts and name not in _RENEWABLE and text is not None and models._value(text) != models._value(texts[name]):
                raise ValueError(f"{name} {text} differs from the run to resume, which has {texts[name]}")
        return {name: value for name, value in had.items() if name in keywords}

    def remembered(self, data: str, device: str) -> dict[str, str]:
        """The settings as checkpoints keep them: those that are texts and numbers."""
        kept = {"data": data, "device": device, "engine": "any", "variant": "", "threads": "0", "deterministic": _text(are_deterministic_algorithms_enabled())}
        schedule = self.schedule_or_default
        values = {name: getattr(self, name) for source in self._sources for name in source}
        for name, value in {**values, "schedule": schedule}.items():
            text = _text(value)
            if text is not None and name != "data":
                kept[name] = text
        if isinstance(schedule, LRScheduler):
            kept |= {name: _text(value) for name, value in schedule.options.items()}
            kept["warm_up_steps"] = str(schedule.warm_up_steps)
        return {_option(name): text for name, text in kept.items() if text is not None}


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def keyword(option: str) -> str:
    """--batch-size → batch_size."""
    return option[2:].replace("-", "_")


def _text(value) -> str | None:
    """None for what is neither a text nor a number: an object that only Python has."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return value
    if isinstance(value, LRScheduler):
        return value.kind
    listed = value if isinstance(value, (list, tuple)) else [value]
    if all(isinstance(one, Augmentation) for one in listed):
        return text_of(value)
    return ",".join(map(str, value)) if all(isinstance(one, int) for one in listed) else None
