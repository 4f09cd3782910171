#!/usr/bin/env python3
"""Checks that only the folders of ops and engines know ops by name.

Op names are what treadle/ops declares: a string before its summary, or a constant kName. In compile/, cli/, train/ and bench/ no string
is an op's name: what must be known of an op is declared with it, and a call goes through its typed function. A string
that only reads like one says so in its line: `// not an op`.

usage: check_op_names.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line), 2 usage.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

DECLARING = ["treadle/ops", "treadle/kernels"]
CHECKED = ["treadle/compile", "treadle/train", "cli", "bench"]
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
# A name and its summary, which is an equation or named; or a constant.
DECLARATION = re.compile(r'"([a-z0-9_]+)",\s*(?:\.summary = |"\w+(?:\[\S*\])? = )|\bkName(?:OfAll)? = "([a-z0-9_]+)"')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
PARDON = "// not an op"


def sources(root, folders):
    """Hidden folders, such as virtual environments, are left out."""
    for top in folders:
        for folder, below, names in os.walk(root / top):
            below[:] = sorted(name for name in below if not name.startswith("."))
            yield from (pathlib.Path(folder, name) for name in sorted(names) if pathlib.Path(name).suffix in SUFFIXES)


def text_of(path):
    return path.read_text(encoding="utf-8", errors="replace")


def op_names(root):
    found = (DECLARATION.findall(text_of(path)) for path in sources(root, DECLARING))
    names = {first or second for pairs in found for first, second in pairs}
    return names | {f"{name}_gradient" for name in names}


def violations(root):
    names = op_names(root)
    for path in sources(root, CHECKED):
        for number, line in enumerate(text_of(path).splitlines(), start=1):
            if PARDON in line or line.lstrip().startswith(("//", "#include")):
                continue
            for word in STRING.findall(line):
                if word in names:
                    yield f'{path.relative_to(root)}:{number}: "{word}" is an op; say it where the op is declared'


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
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, (line, _) in SELF_TEST.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(line + "\n", encoding="utf-8")
        found = {message.split(":")[0] for message in violations(root)}
    wrong = [name for name, (_, bad) in SELF_TEST.items() if (name in found) != bad]
    for name in wrong:
        print(f"self-test: '{SELF_TEST[name][0]}' was judged wrongly", file=sys.stderr)
    print(f"op names self-test: {len(SELF_TEST) - len(wrong)} of {len(SELF_TEST)} cases right")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description="Checks that only ops and engines know ops by name.")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true", help="show that violations are caught")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    found = list(violations(arguments.root))
    for line in found:
        print(line, file=sys.stderr)
    print(f"op names: {len(op_names(arguments.root))} names, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
