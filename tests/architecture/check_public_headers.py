#!/usr/bin/env python3
"""Checks that what users call is installed: headers that export functions say `#pragma once  // public`.

In the folders of ops, layers, optimisers, models, data and training every header with TREADLE_API is public; elsewhere the
mark is a choice. No public header lies among variants (cpu/, cuda/) or in an engine.

usage: check_public_headers.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file), 2 usage.
"""

import argparse
import pathlib
import sys
import tempfile

EXPORTING = {"ops", "nn", "optim", "models", "data", "train"}
MARK = "#pragma once  // public\n"


def problem_of(path, text):
    """What is wrong with the header `path`, given from treadle/ on; or None."""
    folder, is_public = path.parts[0], MARK in text
    if is_public and (folder in {"engines", "cuda"} or {"cpu", "cuda"} & set(path.parts[1:-1])):
        return "public, though it belongs to variants"
    if folder in EXPORTING and "TREADLE_API" in text and not is_public:
        return "exports functions, but does not say `#pragma once  // public`: users would not find it"
    return None


def violations(root):
    for path in sorted((root / "treadle").rglob("*.h")):
        name = path.relative_to(root / "treadle")
        if message := problem_of(name, path.read_text(encoding="utf-8", errors="replace")):
            yield f"treadle/{name}: {message}"


SELF_TEST = [
    ("ops/loss/mse.h", MARK + "TREADLE_API Tensor mse();", False),
    ("ops/loss/huber.h", "#pragma once\nTREADLE_API Tensor huber();", True),
    ("ops/loss/loss_shape.h", "#pragma once\nShape loss_shape();", False),
    ("ops/matrix/cpu/products.h", MARK, True),
    ("engines/onednn/onednn.h", MARK, True),
    ("formats/file.h", "#pragma once\nTREADLE_API void write();", False),
]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text, _ in SELF_TEST:
            (root / "treadle" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "treadle" / name).write_text(text, encoding="utf-8")
        found = {line.split(":")[0] for line in violations(root)}
    wrong = [name for name, _, bad in SELF_TEST if (f"treadle/{name}" in found) != bad]
    for name in wrong:
        print(f"self-test: treadle/{name} was judged wrongly", file=sys.stderr)
    print(f"public headers self-test: {len(SELF_TEST) - len(wrong)} of {len(SELF_TEST)} cases right")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description="Checks that headers which export functions are public.")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true", help="show that violations are caught")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    found = list(violations(arguments.root))
    for line in found:
        print(line, file=sys.stderr)
    print(f"public headers: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
