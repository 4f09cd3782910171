"""Each name that the package exports is one that some test of it uses."""

import importlib
import pathlib
import pkgutil
import re

import pytest
import treadle

HERE = pathlib.Path(__file__).parent


def public_modules():
    yield "treadle"
    for found in pkgutil.walk_packages(treadle.__path__, "treadle."):
        if not any(part.startswith("_") for part in found.name.split(".")):
            yield found.name


USED = set(re.findall(r"\w+", "".join(path.read_text() for path in sorted(HERE.glob("test_*.py")) if path.name != "test_exports.py")))


@pytest.mark.parametrize("module", public_modules())
def test_exported_names_are_tested(module):
    names = importlib.import_module(module).__all__
    assert [name for name in names if name not in USED] == []
