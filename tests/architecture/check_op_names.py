#!/usr/bin/env python3
"""Checks that only an op's family and the engines know it by name.

Op names are what treadle/ops declares: a string before its summary, or a constant kName. In compile/, cli/, train/ and
bench/ no string is an op's name: what must be known of an op is declared with it, and a call goes through its typed
function or its handle. A string that only reads like one says so in its line: `// not an op`. In ops/, where "mean" may be
an option, no op of another family is looked up by its name, given a variant, or compared with it.

usage: check_op_names.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line), 2 usage.
"""

import re
import sys

import rule

DECLARING = ["treadle/ops", "treadle/kernels", "treadle/optim"]
CHECKED = ["treadle/compile", "treadle/train", "cli", "bench"]
FAMILIES = ["treadle/ops"]
# A name and its summary, which is an equation or named; or a constant.
DECLARATION = re.compile(r'"([a-z0-9_]+)",\s*(?:\.summary = |"\w+(?:\[\S*\])? = )|\bkName(?:OfAll)? = "([a-z0-9_]+)"')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
LOOKED_UP = re.compile(r'(?:op_named|find|contains|run_preferred|add_variant)\((?:registry, )?"(\w+)"|name [=!]= "(\w+)"')
PARDON = "// not an op"


def family_of(path):
    """The folder of ops/ that a file belongs to: kernels/random_functions.h to ops/random. Empty for what is no family's."""
    library, folder, *below = path.split("/")[:3]
    if library != "treadle" or not below or folder not in ("ops", "kernels"):
        return ""
    return re.split(r"_functions|[.]", below[0])[0]


def op_names(root):
    """Name → the families that declare it."""
    names = {}
    for path in rule.source_files(root, DECLARING):
        for pair in DECLARATION.findall(rule.text_of(root / path)):
            for name in pair:
                for declared in filter(None, (name, f"{name}_gradient" if name else "")):
                    names.setdefault(declared, set()).add(family_of(path))
    return names


def lines_of(root, folders):
    for path in rule.source_files(root, folders):
        for number, line in enumerate(rule.text_of(root / path).splitlines(), start=1):
            if PARDON not in line and not line.lstrip().startswith(("//", "#include")):
                yield path, number, line


def violations(root):
    names = op_names(root)
    found = [(path, number, word) for path, number, line in lines_of(root, CHECKED)
             for word in STRING.findall(line) if word in names]
    found += [(path, number, word) for path, number, line in lines_of(root, FAMILIES)
              for pair in LOOKED_UP.findall(line) for word in pair if family_of(path) not in names.get(word, {family_of(path)})]
    lines = [f'{path}:{number}: "{word}" is an op; say it where the op is declared' for path, number, word in found]
    return lines, f"{len(names)} names"


SELF_TEST = {
    "treadle/ops/matrix/matmul.cpp": ('registry.add({.name = "matmul", .summary = "product"', False),
    "treadle/ops/layout/views.cpp": ('reshape_op<reshaped>("reshape", "y = x under another shape"', False),
    "treadle/ops/matrix/onednn.cpp": ('add_variant("matmul", {.name = "library", .run = run})', False),
    "treadle/ops/layout/rows.cpp": ('op_named("matmul")', True),
    "treadle/ops/pointwise/chain.cpp": ('op_named("relu")', False),
    "treadle/ops/matrix/with_relu.cpp": ('select(op_named("relu"))', True),
    "treadle/ops/shape.h": ('if (op.name == "matmul")', True),
    "treadle/ops/loss/relu.h": ('field("relu", &Options::relu, "ReLU at the end")', False),
    "treadle/ops/layout/variant.cpp": ('add_variant(registry, "relu", {.name = "loop"})', True),
    "cli/engines.cpp": ('"library"', False),
    "cli/views.cpp": ('"reshape"', True),
    "treadle/kernels/pointwise_functions.h": ('  static constexpr const char *kName = "relu",', False),
    "treadle/compile/declared_fusions.cpp": ('if (step.op->name == "matmul") fuse();', True),
    "treadle/compile/gradients.cpp": ('op_named("relu_gradient")', True),
    "cli/bench_op.cpp": ('      {"relu", "4M", {{1 << 22}}, {}},', True),
    "cli/models.cpp": ('{"model", model.name}', False),
    "cli/matmul.cpp": ('// as "matmul" does', False),
    "bench/.venv/x.h": ('"relu"', False),
    "treadle/train/fit.cpp": ('{"relu", 1},  // not an op', False),
}


def self_test():
    return rule.judge(SELF_TEST, violations)


if __name__ == "__main__":
    sys.exit(rule.run("op names", "Checks that only an op's family and engines know it by name.", violations, self_test))
