"""Copies and pickles of modules: a layer is made again with what it was made with, and gets the values."""

from __future__ import annotations

import copy

from treadle._core import Tensor
from treadle._core._nn import Module, Sequential, _is_python
from treadle.nn._module import Parameter

TYPE_CHECKING = False  # as of typing, whose import takes time
if TYPE_CHECKING:
    from typing import Any


def _empty(kind: type) -> Module:
    """A module of Python's class without what its __init__() makes."""
    module = kind.__new__(kind)
    Module.__init__(module)
    return module


def _layer(kind: type, arguments: dict) -> Module:
    return kind(**arguments)


def _sequence(children: dict) -> Module:
    return Sequential(children)


def _known_model(name: str, input: tuple, classes: int, options: dict) -> Module:
    from treadle import models

    return models.make(name, input=input, classes=classes, **options)


def _reduce(self: Module) -> tuple:
    """How copy.deepcopy() and pickle make the module anew."""
    state: dict[str, Any] = {"modes": {name: module.training for name, module in self.named_modules()}}
    if _is_python(self):
        return _empty, (type(self),), state | {"attributes": dict(self.__dict__)}
    if isinstance(self, Sequential):
        return _sequence, (dict(self.named_children()),), state
    state["tensors"] = self.state_dict()
    state["frozen"] = [name for name, parameter in self.named_parameters() if not parameter.requires_grad]
    arguments = self._arguments()
    if arguments is not None:
        return _layer, (type(self), arguments), state
    return *_maker_of(self), state


def _maker_of(self: Module) -> tuple:
    """Of a model that C++ made as a whole."""
    from treadle import models

    known = models.about(self)
    if known.model not in models.names():
        raise TypeError(f"{self.describe()} was made by the library as a part of another module, and is copied with that one alone")
    return _known_model, (known.model, known.input, len(known.classes), known.options)


def _setstate(self: Module, state: dict) -> None:
    for name, value in state.get("attributes", {}).items():
        if name in state["attributes"].get("_buffer_names", ()) and isinstance(value, Tensor):
            self.register_buffer(name, value)
        else:
            setattr(self, name, value)
    if "tensors" in state:
        _take(self, state["tensors"])
        parameters = dict(self.named_parameters())
        for name in state["frozen"]:
            parameters[name].requires_grad = False
    modes = state["modes"]
    for name, module in self.named_modules():  # parents first, as train() reaches children
        module.train(modes[name])


def _take(self: Module, tensors: dict) -> None:
    """Values, and with them dtype and device."""
    floating = [one for one in tensors.values() if one.dtype.is_floating_point]
    if floating and floating[0].dtype.name != "float32":
        self.to(floating[0].dtype)
    if tensors and next(iter(tensors.values())).device != "cpu":
        self.to(next(iter(tensors.values())).device)
    self.load_state_dict(tensors)


def _reduce_parameter(self: Parameter) -> tuple:
    return Parameter, (self.detach().clone(), self.requires_grad)


def _deepcopy_parameter(self: Parameter, memo: dict[int, Any]) -> Parameter:
    return memo.setdefault(id(self), Parameter(copy.deepcopy(self.detach(), memo), self.requires_grad))


Module.__reduce__ = _reduce
Module.__setstate__ = _setstate
Parameter.__reduce__ = _reduce_parameter
Parameter.__deepcopy__ = _deepcopy_parameter
