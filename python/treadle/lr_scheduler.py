"""Learning-rate schedules: a class for each kind that the library has, and PyTorch's names of those that mean the same.

    scheduler = td.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    for epoch in range(6):
        train(model, optimizer)
        scheduler.step()

Without an optimizer a schedule is for treadle.train.fit(), which knows the steps of the run and sets a rate before each:

    td.train.fit(model, data, schedule=td.lr_scheduler.OneCycleSchedule(warm_up=0.2))
"""

from __future__ import annotations

from treadle import _core
from treadle._core._lr_scheduler import Rates
from treadle._options import camel_case, documented, initializer

Rates.__module__ = __name__


class LRScheduler:
    """A learning rate for each call of step(). Derived classes are the kinds."""

    kind: str = ""
    """The name by which the library and its program know it."""
    _in_epochs = False

    def _begin(self, options: dict, optimizer, total_steps: int, steps_per_epoch: int, warm_up_steps: int) -> None:
        self.options = options
        self.optimizer = optimizer
        self.total_steps, self.steps_per_epoch, self.warm_up_steps = total_steps, steps_per_epoch, warm_up_steps
        self.last_epoch = 0
        self._rates(0.0)  # checks the options
        if optimizer is not None:
            self.base_lr = optimizer.learning_rate
            self._bound = self._rates(self.base_lr)
            optimizer.learning_rate = self._bound.at(0)

    def _rates(self, rate: float) -> Rates:
        return Rates(self.kind, rate, self.options, self.total_steps, self.steps_per_epoch, self.warm_up_steps)

    def _of_run(self, rate: float, steps: int, steps_per_epoch: int) -> Rates:
        """For a run of so many steps, before each of which the rate is set."""
        total = self.total_steps * (steps_per_epoch if self._in_epochs else 1) or steps
        return Rates(self.kind, rate, self.options, total, steps_per_epoch, self.warm_up_steps)

    @property
    def follows_figure(self) -> bool:
        """Whether rates depend on a figure of the validation part."""
        return self._rates(0.0).follows_figure

    def step(self, metrics: float | None = None) -> None:
        """Sets the optimizer's next rate. Schedules that follow a figure are told it."""
        if self.optimizer is None:
            raise ValueError(f"{type(self).__name__} has no optimizer: it is for fit()")
        if self._bound.follows_figure:
            if metrics is None:
                raise TypeError(f"{type(self).__name__}.step() takes the figure that it follows")
            self._bound.observe(float(metrics), self._higher_is_better)
        self.last_epoch += 1
        self.optimizer.learning_rate = self._bound.at(self.last_epoch)

    _higher_is_better = False

    def get_last_lr(self) -> list[float]:
        """The rate of each group of parameters."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def at(self, step: int, rate: float = 1.0) -> float:
        """The rate of a step, from 0, where that of the optimizer is `rate`."""
        return self._rates(rate).at(step)

    def state_dict(self) -> dict:
        """Where it stands: numbers that JSON can hold."""
        return {"last_epoch": self.last_epoch, "base_lr": self.base_lr, "kept": list(self._bound.kept)}

    def load_state_dict(self, state: dict) -> None:
        """Goes on where state_dict() was called, and sets the optimizer's rate."""
        self.base_lr = state["base_lr"]
        self._bound = self._rates(self.base_lr)
        self._bound.kept = state["kept"]
        self.last_epoch = state["last_epoch"]
        self.optimizer.learning_rate = self._bound.at(self.last_epoch)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({given})"


def _class_of(kind: dict) -> type:
    name = camel_case(kind["name"]) + "Schedule"
    made = type(name, (LRScheduler,), {"kind": kind["name"], "__module__": __name__})
    initializer(made, "optimizer=None, *", kind["options"], "total_steps=0, steps_per_epoch=1, warm_up_steps=0")
    made.__doc__ = (
        f"The learning rate: {kind['summary']}.\n\n    optimizer: whose rate step() sets; None: for fit()\n"
        + documented(kind["options"])
        + "\n    total_steps: calls of step() that it lies over, where the kind asks; fit() knows them\n"
        "    steps_per_epoch: calls of step() in an epoch, where the kind counts epochs\n"
        "    warm_up_steps: before the schedule begins, step t of N has the share (t + 1)/(N + 1) of the rate"
    )
    return made


_kinds = {kind["name"]: _class_of(kind) for kind in _core._lr_scheduler._kinds()}
_classes = {made.__name__: made for made in _kinds.values()}
globals().update(_classes)


def make(name: str, optimizer=None, **options) -> LRScheduler:
    """A schedule by the name that the program knows: "cosine", "one-cycle", … Raises ValueError listing all."""
    if name not in _kinds:
        raise ValueError(f"no schedule is called '{name}'; there are {', '.join(_kinds)}")
    return _kinds[name](optimizer, **options)


def known_schedules() -> list[str]:
    """The names that make() knows."""
    return list(_kinds)


# PyTorch's classes, whose step() is called once for each epoch, or for each batch with OneCycleLR.


class StepLR(_kinds["step"]):
    """The rate times `gamma` every `step_size` calls of step()."""

    def __init__(self, optimizer, step_size: int, gamma: float = 0.1) -> None:
        super().__init__(optimizer, step_size=step_size, gamma=gamma)


class MultiStepLR(_kinds["multi-step"]):
    """The rate times `gamma` after each of the milestones."""

    def __init__(self, optimizer, milestones: list[int], gamma: float = 0.1) -> None:
        super().__init__(optimizer, milestones=milestones, gamma=gamma)


class ExponentialLR(_kinds["exponential"]):
    """The rate times `gamma` at each call of step()."""

    def __init__(self, optimizer, gamma: float) -> None:
        super().__init__(optimizer, gamma=gamma)


class CosineAnnealingLR(_kinds["cosine"]):
    """Half a cosine from the rate to `eta_min` over `T_max` calls of step(); then `eta_min`."""

    _in_epochs = True

    def __init__(self, optimizer, T_max: int, eta_min: float = 0.0) -> None:
        super().__init__(optimizer, lowest_rate=eta_min, total_steps=T_max)


class CosineAnnealingWarmRestarts(_kinds["cosine-warm-restarts"]):
    """Cosines to `eta_min`, the first over `T_0` calls of step(), each next one over `T_mult` times as many."""

    def __init__(self, optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0) -> None:
        super().__init__(optimizer, restart_epochs=T_0, restart_factor=T_mult, lowest_rate=eta_min)


class OneCycleLR(_kinds["one-cycle-cosine"]):
    """Half a cosine from max_lr / div_factor up to `max_lr`, then one down to that / final_div_factor, over `total_steps`
    calls of step(), of which the share `pct_start` rises."""

    def __init__(self, optimizer, max_lr: float, total_steps: int = 0, pct_start: float = 0.3, div_factor: float = 25.0,
                 final_div_factor: float = 1e4) -> None:
        self.max_lr = max_lr
        if optimizer is not None:
            optimizer.learning_rate = max_lr
        super().__init__(optimizer, warm_up=pct_start, initial_divisor=div_factor, final_divisor=final_div_factor,
                         total_steps=total_steps)

    def _of_run(self, rate: float, steps: int, steps_per_epoch: int) -> Rates:
        return super()._of_run(self.max_lr, steps, steps_per_epoch)


class ReduceLROnPlateau(_kinds["reduce-on-plateau"]):
    """The rate times `factor` once the figure that step(figure) is told has not become better for more than `patience`
    calls. `mode`: whether the least ("min") or the largest ("max") figure is best."""

    def __init__(self, optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
                 cooldown: int = 0, min_lr: float = 0.0) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode is '{mode}'; it is min or max")
        self._higher_is_better = mode == "max"
        super().__init__(optimizer, gamma=factor, patience=patience, threshold=threshold, cooldown=cooldown,
                         lowest_rate=min_lr)


_torch = [
    CosineAnnealingLR, CosineAnnealingWarmRestarts, ExponentialLR, MultiStepLR, OneCycleLR, ReduceLROnPlateau, StepLR,
]

__all__ = [*_classes, *(one.__name__ for one in _torch), "LRScheduler", "Rates", "known_schedules", "make"]
