#!/usr/bin/env python3
"""Checks that only the folders of ops and engines know ops by name.

Op names are what treadle/ops declares: a string before its summary, or a constant kName. In compile/, cli/, train/ and
bench/ no string is an op's name: what must be known of an op is declared with it, and a call goes through its typed
function. A string that only reads like one says so in its line: `// not an op`.

usage: check_op_names.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line), 2 usage.
"""

import re
import sys

import rule

DECLARING = ["treadle/ops", "treadle/kernels"]
CHECKED = ["treadle/compile", "treadle/train", "cli", "bench"]
# A name and its summary, which is an equation or named; or a constant.
DECLARATION = re.compile(r'"([a-z0-9_]+)",\s*(?:\.summary = |"\w+(?:\[\S*\])? = )|\bkName(?:OfAll)? = "([a-z0-9_]+)"')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
PARDON = "// not an op"


def op_names(root):
    found = (DECLARATION.findall(rule.text_of(root / path)) for path in rule.source_files(root, DECLARING))
    names = {first or second for pairs in found for first, second in pairs}
    return names | {f"{name}_gradient" for name in names}


def violations(root):
    names, lines = op_names(root), []
    for path in rule.source_files(root, CHECKED):
        for number, line in enumerate(rule.text_of(root / path).splitlines(), start=1):
            if PARDON in line or line.lstrip().startswith(("//", "#include")):
                continue
            lines += [f'{path}:{number}: "{word}" is an op; say it where the op is declared'
                      for word in STRING.findall(line) if word in names]
    return lines, f"{len(names)} names"


SELF_TEST = {
    "treadle/ops/matrix/matmul.cpp": ('registry.add({.name = "matmul", .summary = "product"', False),
    "treadle/ops/layout/views.cpp": ('reshape_op<reshaped>("reshape", "y = x under another shape"', False),
    "treadle/ops/matrix/onednn.cpp": ('add_variant("matmul", {.name = "library", .run = run})', False),
    "cli/engines.cpp": ('"library"', False),
    "cli/views.cpp": ('"reshape"', True),
    "treadle/kernels/functions.h": ('  static constexpr const char *kName = "relu",', False),
    "treadle/compile/fusions.cpp": ('if (step.op->name == "matmul") fuse();', True),
    "treadle/compile/gradients.cpp": ('op_named("relu_gradient")', True),
    "cli/bench_op.cpp": ('      {"relu", "4M", {{1 << 22}}, {}},', True),
    "cli/models.cpp": ('{"model", model.name}', False),
    "cli/matmul.cpp": ('// as "matmul" does', False),
    "bench/.venv/x.h": ('"relu"', False),
    "treadle/train/fit.cpp": ('{"relu", 1},  // not an op', False),
}


def self_test():
    with rule.tree_of({name: line + "\n" for name, (line, _) in SELF_TEST.items()}) as root:
        found = {message.split(":")[0] for message in violations(root)[0]}
    wrong = [f"self-test: '{line}' was judged wrongly" for name, (line, bad) in SELF_TEST.items()
             if (name in found) != bad]
    return wrong, len(SELF_TEST)


if __name__ == "__main__":
    sys.exit(rule.run("op names", "Checks that only ops and engines know ops by name.", violations, self_test))
