"""What tests go through that are about all of the package."""

import importlib
import pkgutil

import treadle


def public_modules():
    """Those whose names have no underscore in front, at any depth."""
    yield treadle
    for found in pkgutil.walk_packages(treadle.__path__, "treadle."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield importlib.import_module(found.name)
