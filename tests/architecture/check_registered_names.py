#!/usr/bin/env python3
"""Checks that data sets and models are known by name in their own files alone.

Names of data sets and models are what the files of treadle/data/sets and treadle/models declare. In treadle/ and cli/ no
string holds one as a word; but a command line that --help shows as an example, and a model's own file, whose presets name the
data set that they are for. A string that only reads like one says so in its line: `// not a model`, `// not a data set`.

usage: check_registered_names.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line), 2 usage.
"""

import re
import sys

import rule

CHECKED = ["treadle", "cli"]
# Where names are declared → what bears them.
DECLARING = {"treadle/data/sets": "data set", "treadle/models": "model"}
DECLARATION = re.compile(r'(?:\.name|\bkName) = "([a-z0-9_-]+)"')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
WORD = re.compile(r"[A-Za-z0-9_-]+")
PARDON = ("// not a model", "// not a data set")
EXAMPLE = re.compile(r'\.example = |"\s*treadle |Example: ')


def registered_names(root):
    """Name → (what it is, the file that declares it)."""
    return {name: (kind, path) for folder, kind in DECLARING.items() for path in rule.source_files(root, [folder])
            for name in DECLARATION.findall(rule.text_of(root / path))}


def may_name(path, kind, home):
    return path == home or kind == "data set" and path.startswith("treadle/models/")


def violations(root):
    names, lines = registered_names(root), []
    for path in rule.source_files(root, CHECKED):
        for number, line in enumerate(rule.text_of(root / path).splitlines(), start=1):
            if line.lstrip().startswith(("//", "#include")) or EXAMPLE.search(line) or any(word in line for word in PARDON):
                continue
            for word in (word for string in STRING.findall(line) for word in WORD.findall(string)):
                kind, home = names.get(word, (None, None))
                if kind and not may_name(path, kind, home):
                    lines.append(f'{path}:{number}: "{word}" is a {kind}; only {home} may name it')
    return lines, f"{len(names)} names"


SETS = 'registry.add({.place = 1, .name = "mnist", .classes = {"shirt"}});'
SELF_TEST = {
    "treadle/data/sets/mnist.cpp": (SETS, False),
    "treadle/data/sets/cifar10.cpp": ('constexpr const char* kName = "cifar-10";', False),
    "treadle/data/sets/other.cpp": ('if (name == "mnist") return;', True),
    "treadle/models/mlp.cpp": ('registry.add<Mlp>({.name = "mlp", .presets = {{"fast", {{"data", "mnist"}}}}});', False),
    "treadle/models/lenet.cpp": ('{"mlp"}', True),
    "treadle/data/dataset.cpp": ('return "cifar-10";', True),
    "treadle/train/fit.cpp": ("// like mlp on mnist", False),
    "cli/options.h": ('std::string data = "mnist";', True),
    "cli/help.cpp": ('"fashion-mnist, mnist or a folder"', True),
    "cli/eval.cpp": ('.example = "treadle train mlp"', False),
    "cli/main.cpp": ('app.footer("Example: treadle train mlp");', False),
    "cli/predict.cpp": ('"a mlpx"', False),
    "cli/summary.cpp": ('"mlp"  // not a model', False),
}


def self_test():
    return rule.judge(SELF_TEST, violations)


if __name__ == "__main__":
    sys.exit(rule.run("registered names", "Checks that data sets and models register themselves.", violations, self_test))
