#!/usr/bin/env python3
"""Checks that what ops, variants and fusions declare can be filled by what is not known when the library is compiled.

Members of the declarations in treadle/graph are std::functions or handles made of them, no function pointers: an op that is
written in another language declares the same.

usage: check_handles.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line), 2 usage.
"""

import re
import sys

import rule

DECLARATIONS = [f"treadle/graph/{name}.h" for name in ("op", "variant", "fusion", "composition", "cost")]
POINTER = re.compile(r"\(\*\s*\w*\)\s*\(")


def violations(root):
    lines = []
    for path in filter(lambda path: (root / path).exists(), DECLARATIONS):
        for number, line in enumerate(rule.text_of(root / path).splitlines(), start=1):
            if POINTER.search(line.split("//")[0]):
                lines.append(f"{path}:{number}: a function pointer; std::function takes what is made at run time, too")
    return lines, f"{len(DECLARATIONS)} headers"


SELF_TEST = {
    "treadle/graph/op.h": ("  ErrorModel (*error)(Specs inputs, const Attributes& attributes) = nullptr;", True),
    "treadle/graph/variant.h": ("  void (*run)(const Call&);", True),
    "treadle/graph/fusion.h": ("using OpHandle = const Op& (*)();", True),
    "treadle/graph/composition.h": ("using Compose = std::function<void(const Composition& call)>;", False),
    "treadle/graph/cost.h": ("  return (*this)[0];  // as void (*run)(const Call&) would", False),
    "treadle/graph/device_plugin.h": ("  void (*enter)(const PluginHost& host);", False),
}


def self_test():
    return rule.judge(SELF_TEST, violations)


if __name__ == "__main__":
    sys.exit(rule.run("handles", "Checks that declarations hold no function pointers.", violations, self_test))
