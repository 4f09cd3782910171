"""Classes and functions whose keyword arguments are options that the library describes."""

# What Python's users call what the library calls otherwise: names of PyTorch's that mean the same.
NAMES = {"epsilon": "eps"}


def camel_case(name: str) -> str:
    """cosine-warm-restarts → CosineWarmRestarts."""
    return "".join(part.capitalize() for part in name.replace("_", "-").split("-"))


def documented(options: list) -> str:
    """A line for each of (name, default, documentation)."""
    return "\n".join(f"    {NAMES.get(name, name)}: {text} (default {default!r})" for name, default, text in options)


def initializer(kind: type, head: str, options: list, tail: str = "", body: str = "self._begin") -> None:
    """Gives the class an __init__ with `head`, a keyword for each option, and `tail`: it calls self._begin with the
    options as a dict under the library's names, and with the others by their names."""
    declared, passed = [head] if head else [], []
    others = [text.partition("=")[0].partition(":")[0].strip() for part in (head, tail) for text in part.split(", ") if text]
    defaults = {}
    for index, (name, default, _) in enumerate(options):
        defaults[f"_default_{index}"] = default
        declared.append(f"{NAMES.get(name, name)}=_default_{index}")
        passed.append(f"{name!r}: {NAMES.get(name, name)}")
    if tail:
        declared.append(tail)
    given = ", ".join(f"{name}={name}" for name in others if name not in ("*", "/") and not name.startswith("**"))
    rest = "".join(f", **{name[2:]}" for name in others if name.startswith("**"))
    source = f"def __init__(self, {', '.join(declared)}) -> None:\n    {body}({{{', '.join(passed)}}}, {given}{rest})\n"
    scope = {}
    exec(source, defaults, scope)  # the options are known at run time alone
    scope["__init__"].__qualname__ = f"{kind.__name__}.__init__"
    scope["__init__"].__module__ = kind.__module__
    kind.__init__ = scope["__init__"]
