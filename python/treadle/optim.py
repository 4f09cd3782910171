"""Optimizers, a class for each rule that the library has, and what stands beside them.

    optimizer = td.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for x, labels in loader:
        optimizer.zero_grad()
        loss = td.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()

Parameters are tensors, pairs of name and tensor as model.named_parameters() gives them, or groups as PyTorch writes them: a
list of dicts, each with "params" and options of its own. Names are those of state_dict(), so that it fits the checkpoints
of treadle.train.fit() and of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from treadle import _core
from treadle._core import Tensor
from treadle._core._optim import LossScaler, WeightAverage, clip_grad_norm_, clip_grad_value_
from treadle._options import NAMES, documented, initializer

# Other spellings that PyTorch has for options of the library.
_SPELLINGS = {
    "betas": ("beta1", "beta2"),
    "lr_decay": ("learning_rate_decay",),
    "initial_accumulator_value": ("initial_accumulator",),
    "ns_steps": ("iterations",),
    "adjust_lr_fn": ("scale",),
}
_OWN_NAMES = {theirs: own for own, theirs in NAMES.items()}


class ParameterGroup(dict):
    """A group's parameters, learning rate and options. Its "lr" can be set, for the steps to come."""

    def __init__(self, optimizer: "Optimizer", index: int, contents: dict) -> None:
        super().__init__(contents)
        self._optimizer, self._index = optimizer, index

    def __getitem__(self, key: str) -> Any:
        return self._optimizer._group_rate(self._index) if key == "lr" else super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        if key != "lr":
            raise TypeError(f"{key} of a group of parameters is fixed; make a new optimizer")
        self._optimizer._set_group_rate(self._index, float(value))


class Optimizer(_core._optim.Optimizer):
    """Updates parameters from their gradients. Derived classes are the rules."""

    rule: str = ""
    """The name by which the library and its program know it."""

    def _begin(self, options: dict, params, lr: float, decay_vectors: bool, **spellings) -> None:
        options |= self._respelled(spellings)
        self._scaled, self._places, self._described = [], [], []
        groups = _groups_in(params)
        rates = [float(group.get("lr", lr)) for group in groups]
        # Groups have factors of one rate; where that is 0 they would have none.
        base = float(lr) if lr > 0 or not any(rates) else max(rates)
        made, number = [], 0
        for group, rate in zip(groups, rates):
            own = options | self._options_in(group)
            named = _named(group["params"], number)
            number += len(named)
            factor = rate / base if base > 0 else 1.0
            parts = _core._optim._groups(self.rule, named, own, decay_vectors, factor)
            self._places.append(range(len(made), len(made) + len(parts)))
            self._scaled.append(factor)
            self._described.append({"params": [tensor for _, tensor in named], "lr": rate, **own})
            made += parts
        super().__init__(made, base)

    def _respelled(self, spellings: dict) -> dict:
        known = {name for name, _, _ in self._option_list}
        found = {}
        for spelling, value in spellings.items():
            names = _SPELLINGS.get(spelling, ())
            if not names or not known.issuperset(names):
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument '{spelling}'")
            found.update(zip(names, value) if len(names) > 1 else [(names[0], value)])
        return found

    def _options_in(self, group: dict) -> dict:
        known = {name for name, _, _ in self._option_list}
        own = {_OWN_NAMES.get(name, name): value for name, value in group.items() if name not in ("params", "lr")}
        return {name: own[name] for name in own if name in known} | self._respelled(
            {name: own[name] for name in own if name not in known}
        )

    @property
    def param_groups(self) -> list:
        """Dicts with "params", "lr" and the options; setting "lr" changes the rate of the steps to come."""
        return [ParameterGroup(self, index, contents) for index, contents in enumerate(self._described)]

    def _group_rate(self, index: int) -> float:
        return self.learning_rate * self._scaled[index]

    def _set_group_rate(self, index: int, rate: float) -> None:
        rates = [self._group_rate(one) for one in range(len(self._scaled))]
        rates[index] = rate
        base = self.learning_rate
        if len(rates) == 1 or base == 0:
            base = max(rates)
            self.learning_rate = base
        for one, value in enumerate(rates):
            self._scale(one, value / base if base > 0 else 1.0)

    def _scale(self, index: int, factor: float) -> None:
        self._scaled[index] = factor
        for place in self._places[index]:
            self._set_rate_factor(place, factor)

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """One update of every parameter that has a gradient. A closure is called first: it computes the loss and its
        gradients, and its result is returned."""
        loss = None
        if closure is not None:
            with _core.EnableGrad():
                loss = closure()
        self._step()
        return loss

    def state_dict(self) -> dict[str, Tensor]:
        """What the optimizer keeps, by name: "step", and "conv1.weight.momentum" and the like. Options and learning rates
        are no part of it."""
        return self._state()

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Restores what state_dict() gave. Raises ValueError, ShapeError, DTypeError naming both sides; then nothing was
        changed."""
        self._load_state(state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(lr={self.learning_rate:g}, {len(self.parameters())} parameters)"


def _groups_in(params) -> list[dict]:
    """Groups as dicts, whose "params" are lists."""
    if isinstance(params, Tensor):
        raise TypeError("the parameters of an optimizer are a list of tensors, not one")
    listed = list(params.items() if isinstance(params, dict) and "params" not in params else params)
    if not listed:
        raise ValueError("an optimizer got an empty list of parameters")
    if not isinstance(listed[0], dict):
        return [{"params": listed}]
    for group in listed:
        if not isinstance(group, dict) or "params" not in group:
            raise TypeError("groups of parameters are dicts with the key 'params'")
    return [
        {**group, "params": [group["params"]] if isinstance(group["params"], Tensor) else list(group["params"])}
        for group in listed
    ]


def _named(params: Iterable, first: int) -> list[tuple[str, Tensor]]:
    """Pairs of name and tensor; those without a name are called by their number."""
    pairs = []
    for number, entry in enumerate(params, first):
        name, tensor = entry if isinstance(entry, tuple) else (str(number), entry)
        if not isinstance(tensor, Tensor):
            raise TypeError(f"a parameter of an optimizer is a {type(tensor).__name__}, not a tensor")
        pairs.append((name, tensor))
    return pairs


def _class_of(rule: dict) -> type:
    names = {name for name, _, _ in rule["options"]}
    kind = type(rule["name"], (Optimizer,), {"rule": rule["rule"], "_option_list": rule["options"], "__module__": __name__})
    spelled = any(names.issuperset(theirs) for theirs in _SPELLINGS.values())
    tail = "decay_vectors=True" + (", **spellings" if spelled else "")
    initializer(kind, f"params, lr={rule['lr']!r}, *", rule["options"], tail)
    kind.__doc__ = (
        f"The rule {rule['rule']}.\n\n    params: tensors, pairs of name and tensor, or groups\n    lr: the learning rate\n"
        + documented(rule["options"])
        + "\n    decay_vectors: whether biases and other parameters of one axis decay, too"
    )
    return kind


_classes = {rule["name"]: _class_of(rule) for rule in _core._optim._rules() if rule["name"]}
globals().update(_classes)


def make(name: str, params, lr: float, **options) -> Optimizer:
    """An optimizer by a name that the program knows: "adam", "adamw", "momentum", … Raises ValueError listing all."""
    for rule in _core._optim._rules():
        if rule["rule"] == name:
            kind = _class_of({**rule, "name": rule["name"] or name})
            return kind(params, lr=lr, **options)
    raise ValueError(f"no optimizer is called '{name}'; there are {', '.join(known_optimizers())}")


def known_optimizers() -> list[str]:
    """The names that make() knows."""
    return [rule["rule"] for rule in _core._optim._rules()]


for _kind in (LossScaler, WeightAverage):
    _kind.__module__ = __name__


class _Averaged:
    def __init__(self, average: WeightAverage):
        self._average = average

    def __enter__(self):
        self._average.swap()
        return self._average

    def __exit__(self, *error):
        self._average.swap()


def _applied(self: WeightAverage) -> AbstractContextManager:
    """A context in which the model has its average weights."""
    return _Averaged(self)


WeightAverage.applied = _applied

__all__ = [
    *_classes, "LossScaler", "Optimizer", "ParameterGroup", "WeightAverage", "clip_grad_norm_", "clip_grad_value_",
    "known_optimizers", "make",
]
