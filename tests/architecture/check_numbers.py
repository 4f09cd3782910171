#!/usr/bin/env python3
"""Checks that the library and the program read and write numbers without the locale, which a host program may have set.

Calls whose result depends on the locale are refused in treadle/ and cli/: std::from_chars and {fmt} do their work.

usage: check_numbers.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line), 2 usage.
"""

import re
import sys

import rule

FOLDERS = ["treadle", "cli"]
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
    paths = list(rule.source_files(root, FOLDERS))
    lines = [f"{path}:{number}: the locale changes what this does: {line.strip()}" for path in paths
             for number, line in enumerate(rule.text_of(root / path).splitlines(), start=1) if is_wrong(line)]
    return lines, f"{len(paths)} files"


def self_test():
    wrong = [f"self-test: '{line}' was judged wrongly" for line, bad in SELF_TEST if is_wrong(line) != bad]
    return wrong, len(SELF_TEST)


if __name__ == "__main__":
    description = "Checks that numbers are read and written without the locale."
    sys.exit(rule.run("numbers", description, violations, self_test))
