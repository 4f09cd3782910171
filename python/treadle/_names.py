"""What the compiled half defines shows the module in which users find it."""


def adopt(module: str, source) -> list:
    """The public names of a part of the compiled half, whose classes from now on say that they are of `module`."""
    names = [name for name in dir(source) if not name.startswith("_")]
    for name in names:
        if isinstance(getattr(source, name), type):
            getattr(source, name).__module__ = module
    return names
