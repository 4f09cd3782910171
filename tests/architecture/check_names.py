#!/usr/bin/env python3
"""Checks the names in headers against the rules of .clang-tidy: types, functions, members, constants.

All headers are read as one source, with those that the build generates (build/release). Left out are those of treadle/simt,
whose names are CUDA's.

usage: check_names.py [--self-test] [ROOT]

Exit codes: 0 no violation or clang-tidy-14 is not there, which is said, 1 violations (one per line), 2 usage.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import rule

TIDY = "clang-tidy-14"
CONFIG = pathlib.Path(__file__).resolve().parents[2] / ".clang-tidy"
FOLDERS = ["treadle", "cli"]
GENERATED = "build/release/generated"
LEFT_OUT = ("treadle/simt/",)
# clang 14 has no std::source_location over the standard library of GCC 12.
PREFIX = """namespace std {
struct source_location {
  static constexpr source_location current() { return {}; }
  constexpr const char* file_name() const { return ""; }
  constexpr const char* function_name() const { return ""; }
  constexpr unsigned line() const { return 0; }
};
}
"""
MESSAGE = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):\d+: (?P<kind>warning|error): (?P<text>.*?)(?: \[.*)?$", re.MULTILINE)


def headers(root):
    return [path for path in rule.source_files(root, FOLDERS) if path.endswith(".h") and not path.startswith(LEFT_OUT)]


def violations(root):
    found = headers(root)
    if not shutil.which(TIDY):
        return [], f"skipped: {TIDY} was not found"
    with rule.tree_of({"prefix.h": PREFIX, "headers.cpp": "".join(f'#include "{path}"\n' for path in found)}) as tree:
        command = [TIDY, "--checks=-*,readability-identifier-naming", f"--config-file={CONFIG}", "--quiet", str(tree / "headers.cpp")]
        flags = ["-std=c++20", f"-I{root}", f"-I{root / GENERATED}", "-include", str(tree / "prefix.h"), "-ferror-limit=0"]
        done = subprocess.run([*command, "--", *flags], capture_output=True, text=True, cwd=root, check=False)
    lines = sorted({message_of(root, match) for match in MESSAGE.finditer(done.stdout)} - {None})
    if done.returncode and not lines:
        lines = [f"{TIDY} failed: {done.stdout}{done.stderr}"]
    return lines, f"{len(found)} headers"


def message_of(root, match):
    """`treadle/nn/linear.h:12: …`; None for names that belong to others."""
    path = pathlib.Path(root, match["file"]).resolve()
    left_out = path.is_relative_to(root.resolve()) and path.relative_to(root.resolve()).as_posix().startswith(LEFT_OUT)
    if match["kind"] == "warning" and (left_out or not path.is_relative_to(root.resolve())):
        return None
    name = path.relative_to(root.resolve()).as_posix() if path.is_relative_to(root.resolve()) else path
    return f"{name}:{match['line']}: {match['text']}"


# A header, and what is said of it; None where its names are right.
SELF_TEST = [
    ("treadle/nn/good.h", "struct Good { int in_features; };\nenum class Kind { direct, tiled };\nvoid fill_(Good&);", None),
    ("treadle/nn/type.h", "struct bad_type {};", "invalid case style for struct 'bad_type'"),
    ("treadle/nn/function.h", "void BadFunction();", "invalid case style for function 'BadFunction'"),
    ("treadle/nn/member.h", "class Member { int value; };", "invalid case style for private member 'value'"),
    ("cli/constant.h", "inline constexpr int most = 3;", "invalid case style for constexpr variable 'most'"),
    ("treadle/simt/warp.h", "void __syncwarp();", None),
]


def self_test():
    if not shutil.which(TIDY):
        return [], len(SELF_TEST)
    with rule.tree_of({path: f"#pragma once\n{text}\n" for path, text, _ in SELF_TEST}) as root:
        said = violations(root)[0]
    wrong = []
    for path, text, expected in SELF_TEST:
        own = [line for line in said if line.startswith(path + ":")]
        right = not own if expected is None else len(own) == 1 and expected in own[0]
        if not right:
            wrong.append(f"self-test: {path} with '{text}': expected {expected or 'no violation'}, got {own}")
    return wrong, len(SELF_TEST)


if __name__ == "__main__":
    sys.exit(rule.run("names", "Checks the names in headers against .clang-tidy.", violations, self_test))
