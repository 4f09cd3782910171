"""fit(): training as the library does it, of models, losses, data and callbacks of whoever calls."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Sequence

from treadle import _core, lr_scheduler, models, optim
from treadle._core._callbacks import Callback, EarlyStopping, FitResult
from treadle._core._checkpoints import Checkpoint, RunFolder, load_checkpoint
from treadle._core._data import ImageDataset
from treadle._core._nn import Module
from treadle._core._optim import LossScaler, WeightAverage
from treadle._core._text import TextDataset
from treadle._core._train import LearningRateCurve
from treadle.data import _loader, load_text
from treadle.data.augment import text_of
from treadle.random import manual_seed
from treadle.train._parts import Parts, device_of, examples_of, parts_of
from treadle.train._progress import Progress
from treadle.train._settings import Settings, keyword


def fit(
    model: Module, data=None, optimizer: optim.Optimizer | str | None = None, *, recipe: str | None = None,
    loss: Callable | None = None, metrics: dict[str, Callable] | None = None, epochs: int | None = None,
    batch_size: int | None = None, lr: float | None = None, weight_decay: float | None = None,
    schedule: lr_scheduler.LRScheduler | str | None = None, validation=None, test=None, seed: int | None = None,
    augment=None, normalize: bool | None = None, label_smoothing: float | None = None, clip_norm: float | None = None,
    ema: float | None = None, precision: str | None = None, accumulate: int | None = None, steps: int | None = None,
    limit_batches: int | None = None, decay_matrices_only: bool | None = None, loader_threads: int | None = None,
    out: str | os.PathLike | None = None, resume: bool = False, overwrite: bool = False,
    checkpoint_every: str | int = "300s", early_stop: int = 0, best_by: str = "loss", higher_is_better: bool = False,
    callbacks: Sequence[Callback] = (), verbose: bool = True,
) -> FitResult:
    """Trains the model: compiled steps on shuffled batches, an evaluation after each epoch, checkpoints, and a clean stop.

    model: any Module, of the library or of Python. It learns where it is: model.to("cuda") before
    data: the name of a data set or a path (see treadle.data.load), DatasetSplits, an ImageDataset, a tuple of arrays
        (inputs, targets), a Loader, any object with __len__ and __getitem__, or a TextDataset for a model of texts
    optimizer: one, or the name of a rule; default "adam"
    recipe: the name of one that the model has, see treadle.models.recipe; what is given here goes before
    loss: a function of prediction and target that gives the mean over the batch; default: the cross-entropy of logits
    metrics: further functions of that kind, by name, measured on the validation and the test part
    epochs: passes over the training examples (5); batch_size: examples in a step (32)
    lr, weight_decay: of an optimizer that is given by name (1e-3, and the rule's own)
    schedule: of the learning rate, which the optimizer's is the peak of; default "cosine" where the optimizer is given by
        name, else the rate stays
    validation: a part that chooses the best epoch, whose weights the model gets, or the share of the training examples to
        hold out, as 0.1
    test: a part that chooses nothing; or "last" to test after the last epoch alone
    seed: of the order of the examples, the augmentations and the share held out (0), and where given of dropout
    augment, normalize, label_smoothing, loader_threads: of an ImageDataset's training images, see treadle.data.Loader;
        normalize subtracts the mean of the training pixels and divides by their deviation
    clip_norm: bound of the norm of all gradients together; ema: share of a moving average of the weights that each step
        keeps; the model ends with the average; precision: "bf16" or "f16" of products; accumulate: batches whose gradients
        are added up for one step; steps: end after so many; limit_batches: end each epoch after so many
    decay_matrices_only: no weight decay for parameters of one axis
    out: a run folder for checkpoints and figures, which the program reads; resume: go on with the run there, overwrite:
        replace it; checkpoint_every: so many steps, or seconds as "300s", between saves within an epoch
    early_stop: end after so many epochs without a better one on the validation part
    best_by, higher_is_better: the figure that chooses, where loss or metrics are given
    callbacks: told of the run, see Callback
    verbose: print progress

    Raises TrainingError when a loss, a figure or a weight is not finite, and what loss, data and callbacks raise. ^C ends
    the run behind the step with its state saved, and raises KeyboardInterrupt; `resume` goes on.
    """
    given = {
        "data": data, "optimizer": optimizer, "epochs": epochs, "batch_size": batch_size, "lr": lr,
        "weight_decay": weight_decay, "schedule": schedule, "validation": validation, "test": test, "augment": augment,
        "normalize": normalize, "label_smoothing": label_smoothing, "clip_norm": clip_norm, "ema": ema,
        "precision": precision, "accumulate": accumulate, "steps": steps, "limit_batches": limit_batches,
        "decay_matrices_only": decay_matrices_only, "loader_threads": loader_threads, "seed": seed,
    }
    with contextlib.ExitStack() as stack:
        folder, resumed = stack.enter_context(_folder_of_run(model, out, resume, overwrite))
        run = _Run(model, Settings(model, given, recipe, resumed and resumed.training), loss)
        run.take_folder(folder, resumed)
        run.options.set_save_every(*_interval(checkpoint_every))
        told = list(callbacks)
        if early_stop:
            best = ("accuracy", True) if run.is_plain(metrics) and not run.is_text else (best_by, higher_is_better)
            told.append(EarlyStopping(f"validation_{best[0]}", best[1], early_stop))
        tick = None
        if verbose:
            progress = Progress("images" if run.of_images else "examples")
            stack.callback(progress.clear)
            told.insert(0, progress)
            tick = progress.tick
        return run.fit(metrics, best_by, higher_is_better, told, tick)


def find_learning_rate(
    model: Module, data, optimizer: optim.Optimizer | str | None = None, *, loss: Callable | None = None,
    lowest: float = 1e-7, highest: float = 10.0, steps: int = 300, batch_size: int = 32, seed: int = 0, augment=None,
    normalize: bool = False,
) -> LearningRateCurve:
    """Trains for some steps with a rising rate, and suggests one: where the loss falls fastest by the logarithm of the rate.
    Model and optimizer are as before afterwards. Smith, Cyclical Learning Rates, 2017. Raises ValueError unless
    0 < lowest < highest and steps is at least 10."""
    given = {
        "data": data, "optimizer": optimizer, "lr": lowest, "batch_size": batch_size, "seed": seed, "augment": augment,
        "normalize": normalize,
    }
    run = _Run(model, Settings(model, given), loss)
    return _core._train._find_rate(
        model, run.optimizer, examples_of(run.parts.train, run.options.device), loss, run.options, lowest, highest, steps
    )


@contextlib.contextmanager
def _folder_of_run(model: Module, out, resume: bool, overwrite: bool):
    """While entered, the run has its folder, and the checkpoint to go on from; None for what there is none of."""
    if out is None:
        if resume or overwrite:
            raise ValueError("resume and overwrite need the run folder: out=…")
        yield None, None
        return
    out = os.fspath(out)
    last = os.path.join(out, "last.safetensors")
    if resume and not os.path.exists(last):
        raise _core.FileError(f"{out} holds no last.safetensors to resume; leave out resume to start a new run")
    folder = RunFolder(out)
    try:
        if not resume and not overwrite and RunFolder.holds_run(out):
            raise ValueError(f"{out} holds a run already: go on with it by resume, replace it by overwrite, or choose another")
        resumed = load_checkpoint(last) if resume else None
        name = models.about(model).model
        if resumed and resumed.model != name:
            raise ValueError(f"{last} holds the model {resumed.model}, not {name}")
        yield folder, resumed
    finally:
        folder.close()


class _Run:
    """One call of fit(): everything that the library is given, kept alive until it is done."""

    def __init__(self, model: Module, settings: Settings, loss: Callable | None):
        if settings.data is None:
            raise TypeError("fit() needs data: the name of a data set, a data set, arrays, or a recipe that names one")
        self.model, self.settings, self.loss = model, settings, loss
        self.seed = settings.seed
        if "seed" in settings.given:
            manual_seed(self.seed)
        self.test_last = settings.test == "last"
        self.parts = self._load()
        self.is_text = isinstance(self.parts.train, TextDataset)
        self.of_images = isinstance(self.parts.train, ImageDataset) and self.parts.train.is_images
        self.options = self._options()
        self.optimizer = self._optimizer()

    def is_plain(self, metrics) -> bool:
        """Whether it is a classifier without functions of the caller's."""
        return self.loss is None and not metrics

    def _load(self) -> Parts:
        test = None if isinstance(self.settings.test, str) else self.settings.test
        known, data = models.about(self.model), self.settings.data
        if isinstance(data, (str, os.PathLike)) and models.learns_texts(self.model):
            data = load_text(os.fspath(data), *known.input)
        follows = known.model not in models.names() or models.info(known.model).follows_data
        return parts_of(data, self.settings.validation, test, self.seed, None if follows else known.input)

    def _options(self):
        s, options = self.settings, _core._train._Options()
        options.device = device_of(self.model)
        options.epochs, options.batch_size, options.seed = s.epochs, s.batch_size * s.accumulate, self.seed
        options.limit_batches, options.steps, options.test_last_only = s.limit_batches, s.steps, self.test_last
        options.label_smoothing, options.loader_threads = s.label_smoothing, s.loader_threads
        options.set_augment(text_of(s.augment))
        options.set_step(s.accumulate, s.clip_norm, s.precision)
        self._average = WeightAverage(self.model, s.ema) if s.ema > 0 else None
        self._scaler = LossScaler(device=options.device) if _core.dtype(s.precision) == _core.float16 else None
        options.description = self._description()
        if not isinstance(self.parts.train, ImageDataset) and (text_of(s.augment) or s.normalize):
            raise TypeError("augment and normalize are for the library's data sets: let __getitem__() do both")
        if self.is_text and (self.loss is not None or s.label_smoothing):
            raise TypeError("a model of texts is trained by the cross-entropy of the next character")
        if self.loss is not None and s.label_smoothing:
            raise TypeError("label_smoothing is of the cross-entropy, and a loss is given")
        return options

    def _description(self) -> Checkpoint:
        known, train = models.about(self.model), self.parts.train
        if isinstance(train, ImageDataset):
            known.classes, known.input = train.classes, train.shape
            known.normalization = self._normalization(train)
        elif self.is_text:
            if known.classes and len(known.classes) != len(train.characters):
                raise ValueError(
                    f"{known.model} knows {len(known.classes)} characters, the text has {len(train.characters)}: make it with "
                    f"classes={len(train.characters)}"
                )
            known.classes, known.input = train.characters, (train.block,)
        known.dataset = self.parts.name
        return models.describe(known, Checkpoint())

    def _normalization(self, train: ImageDataset) -> tuple:
        data = self.settings.data
        if isinstance(data, _loader.Loader) and "normalize" not in self.settings.given:
            return data.normalization
        return _core._data.measure_normalization(train) if self.settings.normalize else ((), ())

    def _optimizer(self) -> optim.Optimizer:
        s = self.settings
        if not isinstance(s.optimizer, str):
            for name in ("lr", "weight_decay", "decay_matrices_only"):
                if name in s.given:
                    raise TypeError(f"{name} is of an optimizer that is given by its name; the one that is given has its own")
            return s.optimizer
        own = {} if s.weight_decay is None else {"weight_decay": s.weight_decay}
        named = self.model.named_parameters()
        return optim.make(s.optimizer, named, s.lr, decay_vectors=not s.decay_matrices_only, **own)

    def _schedule(self) -> lr_scheduler.Rates:
        s = self.settings
        schedule = s.schedule_or_default
        if isinstance(schedule, str):
            schedule = lr_scheduler.make(schedule)
        in_epoch = math.ceil(len(self.parts.train) / (s.batch_size * s.accumulate))
        if s.limit_batches:
            in_epoch = min(in_epoch, s.limit_batches)
        total = in_epoch * s.epochs
        rate = schedule.base_lr if schedule.optimizer is not None else self.optimizer.learning_rate
        return schedule._of_run(rate, min(total, s.steps) if s.steps else total, in_epoch)

    def take_folder(self, folder: RunFolder | None, resumed: Checkpoint | None) -> None:
        """Where the run is saved, and what it goes on from. Raises FormatError for other data than it began with."""
        self._folder, self._resumed = folder, resumed
        if folder is None:
            return
        description = self.options.description
        description.training = self.settings.remembered(self.parts.name, self.options.device)
        if self.parts.whole is not None:
            found = self.parts.whole.fingerprint()
            before = resumed.training.get("fingerprint", found) if resumed else found
            if before != found:
                raise _core.FormatError(f"the data are not those that the run to resume has: {found}; the run has {before}")
            description.training = description.training | {"fingerprint": found}
        self.options.description = description
        folder.set_config(self._config(description.training))

    def _config(self, training: dict[str, str]) -> str:
        lines = {"model": models.about(self.model).model} | {
            keyword(name): text for name, text in training.items() if name.startswith("--")
        }
        lines["learning_rate"] = lines.pop("lr")
        return "".join(f"{name} = {_toml(text)}\n" for name, text in sorted(lines.items()))

    def fit(self, metrics, best_by: str, higher_is_better: bool, callbacks: list, tick) -> FitResult:
        """The library's fit()."""
        options, device = self.options, self.options.device
        options.set_parts(self._average, self._scaler, self._folder, self._resumed)
        train, validation, test = (examples_of(part, device) for part in (self.parts.train, self.parts.validation, self.parts.test))
        schedule = self._schedule()
        if self.is_text and self.is_plain(metrics):
            return _core._text._fit(self.model, self.optimizer, schedule, train, options, callbacks, tick)
        if self.is_plain(metrics):
            classes = len(self.parts.train.classes) if isinstance(self.parts.train, ImageDataset) else 0
            return _core._train._fit_classes(
                self.model, self.optimizer, schedule, train, validation, test, classes, options, callbacks, tick
            )
        return _core._train._fit_by(
            self.model, self.optimizer, schedule, train, validation, test, self.loss, list((metrics or {}).items()), best_by,
            higher_is_better, options, callbacks, tick,
        )


def _interval(text: str | int) -> tuple[int, float]:
    """Steps and seconds of "300s" or 500."""
    if isinstance(text, str) and text.endswith("s"):
        return 0, float(text[:-1])
    return int(text), 0.0


def _toml(text: str) -> str:
    if isinstance(models._value(text), (bool, int, float)):
        return text
    import json

    return json.dumps(text, ensure_ascii=False)
