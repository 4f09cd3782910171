"""Stubs of the compiled half, by nanobind's generator, with what Python adds to its classes."""

import ast
import inspect
import re
import types

import treadle._core
from nanobind.stubgen import StubGen

import typed

HEAD = "# Generated from the package: the compiled half, with what Python adds to its classes.\n"
# What signatures of bindings call types that Python has no class for, and what they are.
ALIASES = "DTypeLike: TypeAlias = DType | str | type | numpy.dtype[Any]\n"


class Stubs(StubGen):
    """Public names, also those that end with an underscore, as functions in place do."""

    def put(self, value, name=None, parent=None):
        if name and name.startswith("_") and not (name.startswith("__") and name.endswith("__")):
            return
        if isinstance(parent, type):
            self.claim(value.fget if isinstance(value, property) else value, name)
        super().put(value, name, parent)

    def claim(self, function, name):
        """A function of Python's that was made a method: it is written as one."""
        if isinstance(function, types.FunctionType):
            function.__module__, function.__name__ = self.module.__name__, name


def compiled_modules(module=treadle._core):
    """The module and its parts, whose names begin with an underscore."""
    yield module
    for value in vars(module).values():
        if inspect.ismodule(value) and value.__name__.startswith(module.__name__ + "."):
            yield from compiled_modules(value)


def claim_classes():
    """Classes say again where they are compiled: users see the modules that adopt them."""
    for module in compiled_modules():
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__.split(".")[0] == "treadle":
                value.__module__ = module.__name__


def written(generator, module, more=""):
    """What the generator has, with types that are known, one line for each that says no more."""
    tree = ast.parse(generator.get())
    tree.body += ast.parse(more).body
    text = ast.unparse(typed.typed(tree, module.__name__))
    return re.sub(r":\n\s+\.\.\.(\n\n(?= ))?", r": ...\n", text).replace("\n\n\n", "\n\n") + "\n"


def stub_of(module, docstrings):
    generator = Stubs(module=module, include_docstrings=docstrings, include_private=True, quiet=True)
    generator.put(module)
    return HEAD + "\n" + written(generator, module, ALIASES if module is treadle._core else "")


def path_of(module):
    return "/".join(module.__name__.split(".")[1:]) + "/__init__.pyi"


def stubs(docstrings=True):
    """Text by path in the package."""
    return {path_of(module): stub_of(module, docstrings) for module in compiled_modules()}
