#!/usr/bin/env python3
"""Checks that the library and the program read and write numbers without the locale, which a host program may have set.

Calls whose result depends on the locale are refused in treadle/ and cli/: std::from_chars and {fmt} do their work.

usage: check_numbers.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line), 2 usage.
"""

import argparse
import pathlib
import re
import sys

FOLDERS = ["treadle", "cli"]
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".inc"}
CALL = re.compile(r"\b(sto[fd]|stold|strto[fd]|strtold|atof|v?f?scanf|v?sscanf|[sf]?printf)\b\s*\(?")
# What is allowed, with its reason: snprintf of an integer or a text is written alike in every locale.
ALLOWED = re.compile(r"snprintf\(.*\"[^\"%]*(%(s|d)[^\"%]*)*\"")

SELF_TEST = [
    ("double a = std::stod(text);", True),
    ("value = strtod(begin, &end);", True),
    ('std::printf("%g", x);', True),
    ('sscanf(text, "%lf", &x);', True),
    ("std::stoi(text)", False),
    ('fmt::print("{}", x);', False),
    ("fmt::sprintf_like(x)", False),
]


def is_wrong(line):
    code = line.split("//")[0]
    return bool(CALL.search(code)) and not ALLOWED.search(code)


def violations(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
                if is_wrong(line):
                    yield f"{path.relative_to(root)}:{number}: the locale changes what this does: {line.strip()}"


def self_test():
    failures = [line for line, wrong in SELF_TEST if is_wrong(line) != wrong]
    for line in failures:
        print(f"self-test: '{line}' was judged wrongly", file=sys.stderr)
    print(f"numbers self-test: {len(SELF_TEST) - len(failures)} of {len(SELF_TEST)} cases right")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description="Checks that numbers are read and written without the locale.")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true", help="show that violations are caught")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    found = list(violations(arguments.root))
    for line in found:
        print(line, file=sys.stderr)
    print(f"numbers: {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
