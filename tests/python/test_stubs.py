"""What type checkers and editors know of the package: signatures, and types in programs."""

import ast
import os
import pathlib
import subprocess
import sys

import pytest
import treadle as td

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(td.__file__).parent
GOLDEN = ROOT / "tests" / "python" / "stubs"
RENEW = "if that is meant: tests/python/renew-stubs"


def stubs_in(folder):
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.pyi"))}


def test_signatures_change_knowingly(tmp_path):
    """Signatures are what programs rely on: a change of one is a change of a file of this repository."""
    command = [sys.executable, ROOT / "python" / "stubs", "--out", tmp_path, "--no-docstrings"]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)})
    found, expected = stubs_in(tmp_path), stubs_in(GOLDEN)
    assert sorted(found) == sorted(expected), RENEW
    for name, text in found.items():
        lines, known = text.splitlines(), expected[name].splitlines()
        assert [one for one in lines if one not in known] == [], f"{name} has new lines; {RENEW}"
        assert [one for one in known if one not in lines] == [], f"{name} lacks lines; {RENEW}"
        assert text == expected[name], f"{name} has another order; {RENEW}"


class WithoutDocstrings(ast.NodeTransformer):
    def visit(self, node):
        self.generic_visit(node)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Expr(ast.Constant(...)) if isinstance(node, ast.FunctionDef) else ast.Pass()]
        return node


def test_the_package_has_these_stubs_with_docstrings():
    built = stubs_in(PACKAGE)
    assert (PACKAGE / "py.typed").exists()
    for name, text in stubs_in(GOLDEN).items():
        tree = ast.parse(built[name])
        assert ast.unparse(WithoutDocstrings().visit(tree)) == ast.unparse(ast.parse(text)), name
    conv2d = built["_core/_nn/__init__.pyi"].split("class Conv2d(")[1].split("\nclass ")[0]
    assert "in_channels: channels of the input" in conv2d and "[N,C,H,W]" in conv2d


def mypy(*arguments, text=None):
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    options = ["--strict", "--follow-imports=silent", "--cache-dir", str(ROOT / "build" / "python" / "mypy")]
    command = [sys.executable, "-m", "mypy", *options, *arguments, *(["-c", text] if text else [])]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)


def test_examples_are_typed():
    pytest.importorskip("mypy")
    examples = sorted(str(path) for path in (ROOT / "examples" / "python").glob("*.py"))
    assert examples
    checked = mypy(*examples)
    assert checked.returncode == 0, checked.stdout


def test_modules_over_the_compiled_half_are_typed():
    """Those that are no more than a surface of it."""
    pytest.importorskip("mypy")
    package = ROOT / "python" / "treadle"
    checked = mypy(str(package / "autograd.py"), str(package / "compat"))
    assert checked.returncode == 0, checked.stdout


PROGRAM = """
import treadle as td

x = td.tensor([[1.0, 2.0]], requires_grad=True)
reveal_type(x @ x.T)
reveal_type(td.nn.Linear(2, 3).train())
reveal_type(x.dtype)
reveal_type(td.log1p(x).square())
reveal_type(td.grad(x.sum(), x))
reveal_type(td.nn.Conv2d(1, 8, kernel_size=3).state_dict())
td.nn.Conv2d("one", 8, kernel_size=3)
td.relu(1)
td.nn.Linear(2, 3, generator=7)
td.optim.Adam([x], lr="fast")
x.no_such_method()


class Net(td.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = td.nn.Linear(2, 1)

    def forward(self, x: td.Tensor) -> td.Tensor:
        return td.relu(x)


reveal_type(Net().eval())


class Scaled(td.autograd.Function):
    @staticmethod
    def forward(ctx: td.autograd.FunctionContext, x: td.Tensor, factor: float) -> td.Tensor:
        ctx.factor = factor
        return x * factor
"""


def test_programs_are_checked():
    """Types are the package's, not Any."""
    pytest.importorskip("mypy")
    lines = mypy(text=PROGRAM.strip()).stdout.splitlines()
    revealed = [line.split('"')[1].replace("treadle._core.", "") for line in lines if "Revealed" in line]
    assert revealed == ["Tensor", "_nn.Linear", "DType", "Tensor", "list[Tensor]", "dict[str, Tensor]", "__main__.Net"], lines
    errors = [line for line in lines if "error:" in line]
    for error, name in zip(errors, ["Conv2d", "relu", "Linear", "Adam", "no_such_method"], strict=True):
        assert name in error, lines
