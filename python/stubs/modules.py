"""Stubs of the Python modules whose source does not tell their public names, as they adopt them from the compiled half or make
classes of what the library has registered."""

import ast
import importlib
import inspect
import pathlib

import treadle
from treadle import _core

import compiled
import typed

HEAD = "# Generated from the package: the public names, and where they come from.\n"


def public_modules():
    """The package and its public modules, by path. All are imported, as that is when they adopt names; but for those that need
    what is not there while the package is built."""
    root = pathlib.Path(treadle.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if any(part.startswith("_") for part in parts):
            continue
        try:
            found[path] = importlib.import_module(".".join(["treadle", *parts]))
        except ModuleNotFoundError as error:
            if str(error.name).startswith("treadle"):
                raise
    return found


def tells_its_names(source):
    """Whether `__all__` is a list of strings, each defined or imported in the source: type checkers see all of it."""
    found, names = set(), []
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(one.asname or one.name).split(".")[0] for one in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
            found |= targets
            if "__all__" in targets:
                try:
                    names = ast.literal_eval(node.value)
                except ValueError:
                    return False
    return set(names) <= found


def compiled_home(value, name, module=_core):
    """The compiled module that has the value under the name, or None."""
    if name in vars(module) and vars(module)[name] is value:
        return module.__name__
    for part in vars(module).values():
        if inspect.ismodule(part) and part.__name__.startswith(module.__name__ + "."):
            found = compiled_home(value, name, part)
            if found:
                return found
    return None


def home(module, name):
    """The module that the name is imported from."""
    value = getattr(module, name)
    return compiled_home(value, name) or getattr(value, "__module__", None) or module.__name__


def own_names(module, names, docstrings):
    """What the module defines itself."""
    generator = compiled.Stubs(module=module, include_docstrings=docstrings, include_private=True, quiet=True)
    for name in names:
        generator.put(getattr(module, name), name)
    return compiled.written(generator, module)


def names_of(module):
    """The public names, and those that its __getattr__() finds."""
    return sorted(set(module.__all__) | {name for name in set(dir(module)) - vars(module).keys() if not name.startswith("_")})


def line_for(module, name, place):
    """How the name comes into the module."""
    value = getattr(module, name)
    if inspect.ismodule(value):
        return f"from {value.__name__.rpartition('.')[0]} import {name} as {name}"
    if place == module.__name__:
        return f"{name}: {'None' if value is None else type(value).__name__}"
    return f"from {place} import {name} as {name}"


def stub_of(module, docstrings):
    homes = {name: home(module, name) for name in names_of(module)}
    own = [name for name, value in vars(module).items() if homes.get(name) == module.__name__ and not inspect.ismodule(value)]
    lines = [line_for(module, name, place) for name, place in homes.items() if name not in own]
    text = HEAD + "\n" + "\n".join(lines) + "\n"
    if own:
        text += "\n" + own_names(module, own, docstrings)
    if hasattr(module, "__version__"):
        text += "\n__version__: str\n"
    return text


def path_of(module):
    parts = module.__name__.split(".")[1:]
    return "/".join([*parts, "__init__.pyi"]) if hasattr(module, "__path__") else "/".join(parts) + ".pyi"


def stubs(modules, docstrings=True):
    """Text by path in the package."""
    silent = [module for path, module in modules.items() if not tells_its_names(path.read_text(encoding="utf-8"))]
    return {path_of(module): stub_of(module, docstrings) for module in silent}
