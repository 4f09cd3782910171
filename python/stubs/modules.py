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


def stub_of(module, docstrings):
    homes = {name: home(module, name) for name in sorted(module.__all__) if not inspect.ismodule(getattr(module, name))}
    lines = [f"from {place} import {name} as {name}" for name, place in homes.items() if place != module.__name__]
    lines += [f"from {module.__name__} import {name} as {name}" for name in sorted(set(module.__all__) - homes.keys())]
    text = HEAD + "\n" + "\n".join(lines) + "\n"
    own = [name for name in vars(module) if homes.get(name) == module.__name__]
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
