#!/usr/bin/env python3
"""Checks that the dependencies between the folders point one way.

Reads the #include lines of every C++ and CUDA source and compares each edge with the tables below.

usage: check_includes.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line: edge, and what is allowed), 2 usage.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

# Folder → the library folders that its files may include, beside itself. A folder that is not here is refused.
FOUNDATION = {"core"}
TENSORS = FOUNDATION | {"graph", "ops"}
NETWORKS = TENSORS | {"nn"}
APPLICATION = NETWORKS | {"simt", "compile", "optim", "data", "train", "formats", "models"}
ALLOWED = {
    "core": set(),
    "simt": FOUNDATION,
    "kernels": {"simt"},
    "graph": FOUNDATION,
    "simd": FOUNDATION,
    "cuda": FOUNDATION,
    "ops": FOUNDATION | {"graph", "simt", "kernels", "simd"},
    "engines": TENSORS,
    "compile": TENSORS | {"formats"},
    "nn": TENSORS,
    "optim": NETWORKS,
    "models": NETWORKS,
    "data": FOUNDATION,
    "formats": FOUNDATION,
    "train": NETWORKS | {"compile", "data", "formats", "optim"},
    "distributed": NETWORKS | {"optim", "train"},
    "serve": APPLICATION,
    "cli": APPLICATION | {"serve", "distributed"},
    "python": APPLICATION | {"serve", "distributed"},
    "examples": APPLICATION | {"serve", "distributed"},
    "lab": APPLICATION | {"kernels"},
    "bench": APPLICATION | {"kernels", "serve", "distributed"},
    "tests": APPLICATION | {"kernels", "simd", "cuda", "serve", "distributed", "cli"},
}

# Single headers that a folder may include although it may not include the rest of that folder.
ALLOWED_FILES = {
    "kernels": {"core/half.h"},
}

# The one device header for .cu files. A header of kernels/ that reaches it is device code, which only .cu files and
# kernels/ may include; the others hold functions for both sides.
DEVICE_HEADER = "treadle/simt/device.h"

# Headers directly in treadle/: the umbrella header is for users of the library, the others for everybody.
UMBRELLA = "treadle.h"
UMBRELLA_USERS = {"serve", "cli", "python", "examples", "lab", "bench", "tests"}

# Prefix of an external header → the folders that may include it. core, simt, kernels, graph and ops need only the
# standard library, {fmt} and CUDA. Tests and benchmarks may include anything.
EXTERNAL = {
    "spdlog/": {"train", "serve", "cli"},
    "CLI/": {"cli"},
    "toml++/": {"train", "cli"},
    "nlohmann/": {"formats", "train", "serve", "cli", "compile"},
    "zlib.h": {"data", "formats"},
    "jpeglib.h": {"data", "formats"},
    "png.h": {"data", "formats"},
    "hwy/": {"simd", "ops", "engines", "cli"},
    "dnnl": {"engines"},
    "oneapi/": {"engines"},
    "cublas": {"engines"},
    "cudnn": {"engines"},
    "nanobind/": {"python"},
    "boost/": {"serve", "simt"},
    "gtest/": set(),
    "benchmark/": set(),
}
EXTERNAL_ANY = {"tests", "bench"}

FORBIDDEN_NAMES = {"util", "utils", "common", "helper", "helpers", "misc"}
TOP_FOLDERS = ["treadle", "cli", "python", "examples", "lab", "bench", "tests"]
SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".inc"}
SOURCES_ROOT = "treadle/"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """The folder of the table that a file belongs to: `ops` for treadle/ops/x.h, `cli` for cli/x.cpp, "" for treadle/x.h."""
    parts = path.split("/")
    if parts[0] != "treadle":
        return parts[0]
    return parts[1] if len(parts) > 2 else ""


def engine_of(path):
    """`onednn` for treadle/engines/onednn/x.cpp."""
    return path.split("/")[2]


def allowed_text(source):
    folders = sorted(ALLOWED[source] | {source})
    return ", ".join(folders + sorted(ALLOWED_FILES.get(source, ())))


def includes_of(file):
    """(line number, quote, header) of every #include line."""
    text = file.read_text(encoding="utf-8", errors="replace")
    matches = ((number, INCLUDE.match(line)) for number, line in enumerate(text.splitlines(), start=1))
    return [(number, *match.groups()) for number, match in matches if match]


def is_device_code(root, header, seen=frozenset()):
    """Whether a header of kernels/ includes the device header, itself or through another of kernels/."""
    if header == DEVICE_HEADER:
        return True
    if header in seen or folder_of(header) != "kernels" or not (root / header).exists():
        return False
    return any(is_device_code(root, included, seen | {header}) for _, _, included in includes_of(root / header))


def check_own_header(root, path, source, header):
    """What is wrong with `path` including the Treadle header `header`, or None."""
    target = folder_of(header)
    if target == "":
        if header == SOURCES_ROOT + UMBRELLA and source not in UMBRELLA_USERS | {""}:
            return f"{source} → {header}: the umbrella header is for programs, not for the library"
        return None
    if source == "":
        return f"treadle/ → {target}: the public headers include no engine" if target == "engines" else None
    if source == "engines" and target == "engines" and engine_of(path) != engine_of(header):
        return f"engines/{engine_of(path)} → engines/{engine_of(header)}: engines do not know each other"
    if path.startswith("tests/engines/") and target == "engines":
        return None
    if target == "engines" and source != "engines":
        return f"{source} → engines: nothing includes engines, they register themselves with ops"
    if target == "simt" and path.endswith(".cu") and path.startswith("treadle/") and header != DEVICE_HEADER:
        return f"{source} → {header}: the only device header for a .cu file is {DEVICE_HEADER}"
    if target == "kernels" and source == "ops" and not path.endswith((".cu", ".cuh")) and is_device_code(root, header):
        return f"ops → {header}: it includes {DEVICE_HEADER}, and device code is for .cu files"
    if target == source or target in ALLOWED[source] or header[len(SOURCES_ROOT):] in ALLOWED_FILES.get(source, ()):
        return None
    return f"{source} → {target} ({header}): {source} may include only {allowed_text(source)}"


def check_external_header(source, header):
    if source in EXTERNAL_ANY:
        return None
    for prefix, folders in EXTERNAL.items():
        if header.startswith(prefix) and source not in folders:
            return f"{source or 'treadle/'} → <{header}>: may be included by {', '.join(sorted(folders)) or 'tests only'}"
    return None


def check_include(root, path, quote, header):
    source = folder_of(path)
    if header.startswith(SOURCES_ROOT):
        return check_own_header(root, path, source, header)
    if quote == '"' and (root / path).parent.joinpath(header).exists():
        return f'"{header}": include by the path from the repository root'
    top = header.split("/")[0]
    if quote == '"' and top in TOP_FOLDERS and top != source and top not in ALLOWED.get(source, ()):
        return f"{source or 'treadle/'} → {top} ({header}): programs are included by nothing else"
    return check_external_header(source, header)


def check_name(path):
    for part in path.split("/"):
        if part.split(".")[0] in FORBIDDEN_NAMES:
            return f"a file is named after what it holds, not '{part}'"
    return None


def check_file(root, path):
    """Yields (line, message) for each violation in one file."""
    if message := check_name(path):
        yield 1, message
    if folder_of(path) not in ALLOWED and folder_of(path) != "":
        yield 1, f"treadle/{folder_of(path)} is not in the table of tests/architecture/check_includes.py"
        return
    for number, quote, header in includes_of(root / path):
        if message := check_include(root, path, quote, header):
            yield number, message


def source_files(root):
    """Paths of all sources, from the root; hidden folders, such as virtual environments, are left out."""
    for top in TOP_FOLDERS:
        for folder, folders, files in os.walk(root / top):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                if pathlib.Path(name).suffix in SUFFIXES:
                    yield pathlib.Path(folder, name).relative_to(root).as_posix()


def check_tree(root):
    """All violations as (path, line, message), and the number of files read."""
    files = list(source_files(root))
    return [(path, line, message) for path in files for line, message in check_file(root, path)], len(files)


# Each file with one include, and the text that its violation must contain; None where it is allowed.
SELF_TEST = [
    ("treadle/core/shape.h", "#include <vector>", None),
    ("treadle/core/shape.cpp", '#include "treadle/core/shape.h"', None),
    ("treadle/core/tensor.h", '#include "treadle/graph/node.h"', "core → graph"),
    ("treadle/core/log.cpp", "#include <spdlog/spdlog.h>", "core → <spdlog/spdlog.h>"),
    ("treadle/core/local.cpp", '#include "shape.h"', "path from the repository root"),
    ("treadle/simt/launch.h", '#include "treadle/ops/op.h"', "simt → ops"),
    ("treadle/kernels/reduce.h", '#include "treadle/simt/device.h"', None),
    ("treadle/kernels/half.h", '#include "treadle/core/half.h"', None),
    ("treadle/kernels/shape.h", '#include "treadle/core/shape.h"', "kernels → core"),
    ("treadle/graph/node.h", '#include "treadle/ops/op.h"', "graph → ops"),
    ("treadle/ops/conv2d.cu", '#include "treadle/kernels/tile.h"', None),
    ("treadle/kernels/tile.h", '#include "treadle/kernels/reduce.h"', None),
    ("treadle/kernels/math.h", '#include "treadle/simt/function_qualifiers.h"', None),
    ("treadle/ops/conv2d.cpp", '#include "treadle/kernels/tile.h"', "device code is for .cu files"),
    ("treadle/ops/exp.cpp", '#include "treadle/kernels/math.h"', None),
    ("treadle/ops/matmul.cu", '#include "treadle/simt/fiber.h"', "the only device header"),
    ("treadle/ops/matmul.cpp", '#include "treadle/nn/linear.h"', "ops → nn"),
    ("treadle/ops/relu.cpp", '  #  include <treadle/engines/onednn/conv2d.h>', "nothing includes engines"),
    ("treadle/ops/pool.h", '#include "treadle/treadle.h"', "umbrella"),
    ("treadle/engines/onednn/conv2d.cpp", '#include "treadle/ops/conv2d.h"', None),
    ("treadle/engines/onednn/pool.cpp", '#include "treadle/engines/highway/simd.h"', "engines do not know"),
    ("treadle/engines/highway/relu.cpp", '#include "treadle/nn/linear.h"', "engines → nn"),
    ("treadle/compile/plan.h", '#include "treadle/nn/module.h"', "compile → nn"),
    ("treadle/nn/linear.h", '#include "treadle/optim/sgd.h"', "nn → optim"),
    ("treadle/data/idx.cpp", '#include "treadle/formats/npy.h"', "data → formats"),
    ("treadle/formats/npy.cpp", '#include "treadle/data/idx.h"', "formats → data"),
    ("treadle/models/mlp.cpp", '#include "treadle/train/fit.h"', "models → train"),
    ("treadle/train/fit.cpp", '#include "treadle/data/batches.h"', None),
    ("treadle/train/checkpoint.cpp", '#include "treadle/version.h"', None),
    ("treadle/train/loop.cpp", '#include "cli/train.h"', "train → cli"),
    ("treadle/new_folder/x.h", "", "is not in the table"),
    ("treadle/ops/utils.h", "", "named after what it holds"),
    ("cli/common/x.h", "", "named after what it holds"),
    ("cli/train.cpp", '#include "treadle/train/fit.h"', None),
    ("tests/ops/conv2d_test.cpp", "#include <gtest/gtest.h>", None),
    ("tests/ops/engine_test.cpp", '#include "treadle/engines/onednn/conv2d.h"', "nothing includes engines"),
]


def self_test():
    """Writes a small tree with one include per file and expects exactly the violations that SELF_TEST names."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, line, _ in SELF_TEST:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(f"#pragma once\n{line}\n", encoding="utf-8")
        found = {}
        for path, _, message in check_tree(root)[0]:
            found.setdefault(path, []).append(message)
    failures = 0
    for path, line, expected in SELF_TEST:
        messages = found.get(path, [])
        right = not messages if expected is None else len(messages) == 1 and expected in messages[0]
        if not right:
            failures += 1
            print(f"self-test: {path} with '{line}': expected {expected or 'no violation'}, got {messages}", file=sys.stderr)
    print(f"architecture self-test: {len(SELF_TEST) - failures} of {len(SELF_TEST)} cases right")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description="Checks that dependencies between the folders point one way.")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true", help="show that violations are caught")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    violations, count = check_tree(arguments.root)
    for path, line, message in violations:
        print(f"{path}:{line}: {message}", file=sys.stderr)
    print(f"architecture: {count} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
