"""What Python adds to Module: parts of a module are its attributes, as in PyTorch."""

from __future__ import annotations

from treadle._core import Tensor
from treadle._core._nn import Module, _is_python

TYPE_CHECKING = False  # as of typing, whose import takes time
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any


class Parameter(Tensor):
    """A tensor that a module trains, once it is an attribute of one. It shares the elements of `data`."""

    def __init__(self, data: Tensor, requires_grad: bool = True) -> None:
        super().__init__(data.detach())
        self.requires_grad = requires_grad


def _setattr(self: Module, name: str, value: Any) -> None:
    """Parameters and modules become parts of the module; a buffer that is there takes another tensor."""
    if not _is_python(self):
        if isinstance(value, (Parameter, Module)) or name in self._own_tensors():
            raise TypeError(f"{self.describe()} is a layer of the library: copy into {name} with copy_() instead")
    elif isinstance(value, Parameter):
        self._set_parameter(name, value)
    elif isinstance(value, Module):
        self._set_module(name, value)
    elif name in _buffers_of(self):
        if isinstance(value, Tensor):
            self._set_buffer(name, value)
        else:
            self._remove(name)
            _buffers_of(self).discard(name)
    else:
        before = self.__dict__.get(name)  # of the instance: properties and methods are no parts
        if isinstance(before, Parameter) and isinstance(value, Tensor):
            raise TypeError(f"{name} is a parameter, in whose place only a Parameter or None can be put")
        if isinstance(before, (Parameter, Module)):
            self._remove(name)
    object.__setattr__(self, name, value)


def _delattr(self: Module, name: str) -> None:
    object.__delattr__(self, name)
    if _is_python(self):
        self._remove(name)
        _buffers_of(self).discard(name)


def _getattr(self: Module, name: str) -> Any:
    """Parts of modules that the library made."""
    if not name.startswith("__"):
        for child, module in self.named_children():
            if child == name:
                return module
        found = self._own_tensors().get(name)
        if found is not None:
            return found
    raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")


def _buffers_of(self: Module) -> set[str]:
    return self.__dict__.setdefault("_buffer_names", set())


def register_buffer(self: Module, name: str, tensor: Tensor) -> None:
    """Makes the tensor an attribute that is saved with the module and not trained."""
    self._set_buffer(name, tensor)
    _buffers_of(self).add(name)
    object.__setattr__(self, name, tensor)


def register_parameter(self: Module, name: str, parameter: Parameter | None) -> None:
    """Makes the tensor, or None, an attribute; a tensor is trained."""
    if parameter is not None and not isinstance(parameter, Parameter):
        raise TypeError(f"register_parameter: {name} is a {type(parameter).__name__}, no Parameter")
    setattr(self, name, parameter)


def named_modules(self: Module, prefix: str = "") -> Iterator[tuple[str, Module]]:
    """Pairs of name and module: this one, then all below it."""
    yield prefix, self
    for name, child in self.named_children():
        yield from named_modules(child, f"{prefix}.{name}" if prefix else name)


def modules(self: Module) -> Iterator[Module]:
    """This module and all below it."""
    return (module for _, module in named_modules(self))


def children(self: Module) -> Iterator[Module]:
    """The modules that this one has as parts."""
    return (module for _, module in self.named_children())


def apply(self: Module, function: Callable[[Module], Any]) -> Module:
    """Calls the function with each module, children first; returns the module."""
    for child in children(self):
        apply(child, function)
    function(self)
    return self


def _extra_repr(self: Module) -> str:
    """What the module's line in a printed network says; classes may define it."""
    return type(self).__name__


def _repr(self: Module) -> str:
    lines = [self.describe()]
    for name, child in self.named_children():
        lines += [f"  ({name}): " + repr(child).replace("\n", "\n  ")]
    return "\n".join(lines)


class ModuleList(Module):
    """Modules in a list: parts of the module that has it."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> "ModuleList":
        """Adds one at the end; returns the list."""
        setattr(self, str(len(self)), module)
        return self

    def __len__(self) -> int:
        return len(self.named_children())

    def __iter__(self) -> Iterator[Module]:
        return (module for _, module in self.named_children())

    def __getitem__(self, index: int) -> Module:
        return [module for _, module in self.named_children()][index]


Module.__setattr__ = _setattr
Module.__delattr__ = _delattr
Module.__getattr__ = _getattr
Module.__repr__ = _repr
Module.extra_repr = _extra_repr
for _method in (register_buffer, register_parameter, named_modules, modules, children, apply):
    setattr(Module, _method.__name__, _method)
