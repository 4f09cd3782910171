"""What a generated stub needs before type checkers take it: every type has a name that is known and means what it says."""

import ast
import builtins
import functools
import inspect
import sys

TYPES = {name for name in vars(builtins) if isinstance(getattr(builtins, name), type)}
PARTS = "treadle._core"
ALIASES = {"DTypeLike"}  # of types that Python has no class for
IMPORTS = {
    "AbstractContextManager": "from contextlib import AbstractContextManager",
    "Any": "from typing import Any",
    "Callable": "from collections.abc import Callable",
    "Iterable": "from collections.abc import Iterable",
    "Iterator": "from collections.abc import Iterator",
    "Mapping": "from collections.abc import Mapping",
    "NDArray": "from numpy.typing import NDArray",
    "None": "",
    "Self": "from typing_extensions import Self",
    "Sequence": "from collections.abc import Sequence",
    "TypeAlias": "from typing import TypeAlias",
    "builtins": "import builtins",
    "numpy": "import numpy",
}


def home_of_class(name):
    """The module of the package that defines it."""
    for place, module in sorted(sys.modules.items()):
        value = vars(module).get(name) if place.split(".")[0] == "treadle" else None
        if isinstance(value, type) and value.__module__ == place:
            return place
    return None


class Types(ast.NodeTransformer):
    """Goes through one type. `imports` gets what its names need, `unknown` names without a home."""

    def __init__(self, shadowed, here, module):
        self.shadowed, self.here, self.module = shadowed, here, module
        self.imports, self.unknown = set(), set()

    def visit_Name(self, node):
        if node.id.startswith("_"):
            return self.visit_Name(ast.Name("Any"))  # nobody else's matter
        if node.id in self.shadowed:
            self.imports.add("import builtins")
            return ast.Attribute(ast.Name("builtins"), node.id)
        if node.id in IMPORTS:
            self.imports.add(IMPORTS[node.id])
        elif node.id not in self.here and node.id not in TYPES:
            place = PARTS if node.id in ALIASES else home_of_class(node.id)
            if place:
                self.imports.add(f"from {place} import {node.id}")
            else:
                self.unknown.add(node.id)
        return node

    def visit_Attribute(self, node):
        text = ast.unparse(node)
        part = getattr(sys.modules.get(self.module), text.split(".")[0], None)
        if inspect.ismodule(part) and part.__name__.startswith(PARTS):
            text = ".".join([part.__name__, *text.split(".")[1:]])  # a part is called by its own name
            node = ast.parse(text, mode="eval").body
        module, _, name = text.rpartition(".")
        if name.startswith("_"):
            return self.visit_Name(ast.Name("Any"))
        if not text.startswith(PARTS + ".") or (name in self.here and module != self.module):
            self.imports.add(f"import {module}")
            return node
        if module != self.module:
            self.imports.add(f"from {module} import {name}")
        return ast.Name(name)

    def visit_Subscript(self, node):
        """`a | b` that was evaluated is written as what it is to Python."""
        if ast.unparse(node.value) != "types.UnionType":
            return self.generic_visit(node)
        return self.visit(functools.reduce(lambda a, b: ast.BinOp(a, ast.BitOr(), b), node.slice.elts))

    def visit_Constant(self, node):
        if not isinstance(node.value, str):
            return node
        try:
            return self.visit(ast.parse(node.value, mode="eval").body)
        except SyntaxError:
            self.unknown.add(node.value)  # a C++ class that is not bound
            return node


class Annotations(ast.NodeTransformer):
    """Visits the types in a stub; parameters and results without one get Any."""

    def __init__(self, body, module):
        self.here, self.module = defined(body), module
        self.shadowed = [self.here & TYPES]  # builtins that the module, then the class, has other things for
        self.imports, self.unknown = {IMPORTS["Any"], "from typing import overload"}, set()

    def type_in(self, node):
        if node is None:
            return None
        types = Types(set().union(*self.shadowed), self.here, self.module)
        node = types.visit(node)
        self.imports |= types.imports
        self.unknown |= types.unknown
        return node

    def visit_ClassDef(self, node):
        node.bases = [self.type_in(base) for base in node.bases]
        self.shadowed.append(defined(node.body) & TYPES)
        self.generic_visit(node)
        self.shadowed.pop()
        return node

    def visit_FunctionDef(self, node):
        arguments = node.args
        listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        listed = [one for one in listed if one is not None]
        if len(self.shadowed) > 1 and not is_static(node):
            listed.pop(0).annotation = None
        defaults = dict(zip(reversed([*arguments.posonlyargs, *arguments.args]), reversed(arguments.defaults)))
        defaults |= dict(zip(arguments.kwonlyargs, arguments.kw_defaults))
        for one in listed:
            one.annotation = self.type_in(one.annotation or type_of(defaults.get(one)))
        node.returns = self.result(node)
        documentation = ast.get_docstring(node, clean=False)
        node.body = [ast.Expr(ast.Constant(documentation or ...))]
        return node

    def result(self, node):
        if node.returns is None:
            return ast.Constant(None) if node.name == "__init__" else ast.Name("Any")
        if isinstance(node.returns, ast.Name) and node.returns.id == "object":
            return ast.Name("Any")  # whatever it is, not something of which nothing is known
        return self.type_in(node.returns)

    def visit_AnnAssign(self, node):
        node.annotation = self.type_in(node.annotation)
        if isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias":
            node.value = self.type_in(node.value)
        return node


def type_of(default):
    """The type of a parameter that has none, as its default has it."""
    value = default.value if isinstance(default, ast.Constant) else None
    return ast.Name(type(value).__name__ if isinstance(value, (bool, int, float, str)) else "Any")


def is_static(function):
    return any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in function.decorator_list)


def defined(body):
    """Names that statements define."""
    names = set()
    for one in body:
        if isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            names.add(one.name)
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            names.add(one.target.id)
    return names


def typed(tree, module):
    """The stub with all types named and imported. Ends the program where a type has no home: a class that is not bound."""
    tree.body = [one for one in tree.body if not isinstance(one, (ast.Import, ast.ImportFrom, ast.Expr))]
    annotations = Annotations(tree.body, module)
    tree = annotations.visit(tree)
    if annotations.unknown:
        raise SystemExit(f"stubs: {module} uses types that are not bound: {', '.join(sorted(annotations.unknown))}")
    tree.body = ast.parse("\n".join(sorted(annotations.imports))).body + tree.body
    return ast.fix_missing_locations(tree)
