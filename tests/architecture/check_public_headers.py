#!/usr/bin/env python3
"""Checks that what users call is installed: headers that export functions say `#pragma once  // public`.

In the folders of ops, layers, optimisers, models, data and training every header with TREADLE_API is public; elsewhere the
mark is a choice. No public header lies among variants (cpu/, cuda/) or in an engine.

usage: check_public_headers.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file), 2 usage.
"""

import pathlib
import sys

import rule

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
    headers = [path for path in rule.source_files(root, ["treadle"]) if path.endswith(".h")]
    problems = ((path, problem_of(pathlib.PurePath(path).relative_to("treadle"), rule.text_of(root / path)))
                for path in headers)
    return [f"{path}: {problem}" for path, problem in problems if problem], f"{len(headers)} headers"


SELF_TEST = [
    ("ops/loss/mse.h", MARK + "TREADLE_API Tensor mse();", False),
    ("ops/loss/huber.h", "#pragma once\nTREADLE_API Tensor huber();", True),
    ("ops/loss/loss_shape.h", "#pragma once\nShape loss_shape();", False),
    ("ops/matrix/cpu/products.h", MARK, True),
    ("engines/onednn/onednn.h", MARK, True),
    ("formats/file.h", "#pragma once\nTREADLE_API void write();", False),
]


def self_test():
    with rule.tree_of({f"treadle/{name}": text for name, text, _ in SELF_TEST}) as root:
        found = {line.split(":")[0] for line in violations(root)[0]}
    wrong = [f"self-test: treadle/{name} was judged wrongly" for name, _, bad in SELF_TEST
             if (f"treadle/{name}" in found) != bad]
    return wrong, len(SELF_TEST)


if __name__ == "__main__":
    description = "Checks that headers which export functions are public."
    sys.exit(rule.run("public headers", description, violations, self_test))
