"""help() of whatever is public says something, and functions of Python's say what they return."""

import dataclasses
import inspect
import types

import treadle as td
from package import public_modules


def test_public_names_have_docstrings():
    """Functions, classes, and what classes have beside special methods."""
    missing = set()
    for module in public_modules():
        assert module.__doc__, module.__name__
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if not (inspect.isclass(value) or callable(value)):
                continue
            if not (value.__doc__ or "").strip():
                missing.add(f"{module.__name__}.{name}")
            if inspect.isclass(value) and value.__module__.split(".")[0] == "treadle":
                for member, what in vars(value).items():
                    what = getattr(what, "__func__", what)
                    if not member.startswith("_") and (callable(what) or hasattr(what, "fget")) and not says_something(what):
                        missing.add(f"{module.__name__}.{name}.{member}")
    assert not missing, ", ".join(sorted(missing))


def says_something(member):
    """Whether there is more than the signature, which bindings write themselves."""
    lines = [line for line in (member.__doc__ or "").splitlines() if line.strip()]
    return any("->" not in line for line in lines)


def public_functions():
    """Pairs of name and function, of modules and of classes."""
    for module in public_modules():
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            where = f"{module.__name__}.{name}"
            if inspect.isclass(value) and not dataclasses.is_dataclass(value):
                for member, what in vars(value).items():
                    what = what.fget if isinstance(what, property) else getattr(what, "__func__", what)
                    if not member.startswith("_") or member in ("__init__", "__call__", "__getitem__", "__iter__"):
                        yield f"{where}.{member}", what
            else:
                yield where, value


def test_functions_say_what_they_return():
    """Type checkers take a function without any annotation for one that nobody has looked at."""
    of_python = [pair for pair in public_functions() if isinstance(pair[1], types.FunctionType)]
    silent = {name for name, function in of_python if "return" not in function.__annotations__}
    assert len(of_python) > 200 and not silent, ", ".join(sorted(silent))


def test_help_of_a_layer_says_all_that_a_call_needs():
    text = td.nn.Conv2d.__doc__
    assert "x [N,C,H,W] → y [N,K,P,Q]" in text and "weight [K, C/groups, R, S]" in text
    for name in ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias", "generator"):
        assert f"    {name}: " in text, name
    assert "y = max(x, 0)" in td.relu.__doc__ and td.relu.__doc__.splitlines()[2:] == td.Tensor.relu.__doc__.splitlines()[2:]
