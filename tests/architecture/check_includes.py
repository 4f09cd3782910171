#!/usr/bin/env python3
"""Checks that the dependencies between the folders point one way, and what lies where in ops/.

Reads the #include lines of every C++ and CUDA source and compares each edge with the tables below.

usage: check_includes.py [--self-test] [ROOT]

Exit codes: 0 no violation, 1 violations (one per line: file:line: edge, and what is allowed), 2 usage.
"""

import functools
import pathlib
import re
import sys

import rule

# Folder → the library folders that its files may include, beside itself. A folder that is not here is refused.
FOUNDATION = {"core"}
TENSORS = FOUNDATION | {"graph", "ops"}
NETWORKS = TENSORS | {"nn"}
APPLICATION = NETWORKS | {"simt", "compile", "optim", "data", "train", "formats", "models", "plots"}
ALLOWED = {
    "core": set(),
    "simt": FOUNDATION,
    "kernels": {"simt"},
    "graph": FOUNDATION,
    "simd": FOUNDATION,
    "cuda": TENSORS,
    "ops": FOUNDATION | {"graph", "simt", "kernels", "simd"},
    "engines": TENSORS,
    "compile": TENSORS | {"formats"},
    "nn": TENSORS,
    "optim": NETWORKS,
    "models": NETWORKS,
    "data": FOUNDATION | {"formats", "simd"},
    "formats": FOUNDATION,
    "plots": FOUNDATION | {"data", "formats"},
    "train": NETWORKS | {"compile", "data", "formats", "models", "optim"},
    "distributed": NETWORKS | {"optim", "train"},
    "serve": APPLICATION,
    "cli": APPLICATION | {"serve", "distributed"},
    "python": APPLICATION | {"serve", "distributed"},
    "examples": APPLICATION | {"serve", "distributed"},
    "lab": APPLICATION | {"kernels"},
    "bench": APPLICATION | {"kernels", "serve", "distributed"},
    "tests": APPLICATION | {"kernels", "simd", "serve", "distributed", "cli"},
}

# Single headers that a folder may include although it may not include the rest of that folder.
ALLOWED_FILES = {
    "data": {"graph/options.h"},
    "kernels": {"core/half.h"},
}

# What a family's folder below ops/ and the folders in it hold. Directly in ops/ lie headers of several families.
# `functions` are structs for both sides, each of which is an op; `declaration` is what declarations share and registers nothing.
ROOMS = {
    "": {".h", ".cpp"},
    "declaration": {".h", ".cpp"},
    "cpu": {".h", ".cpp"},
    "cuda": {".h", ".cu", ".cuh"},
    "functions": {".h"},
}
VARIANTS = {"cpu", "cuda"}
SHARED_SUFFIXES = {".h", ".cuh"}
# Who may include what lies in the cpu/ or cuda/ of a family. The loops of simd/ and Highway are for cpu/ alone.
ROOM_USERS = {"ops", "engines", "cuda", "tests"}
CPU_ONLY = ("treadle/simd/", "hwy/")
# A variant sees calls, not the declarations of ops: a change of what ops declare compiles no variant again.
DECLARATIONS = {"treadle/graph/op.h", "treadle/graph/registry.h"}
REGISTERS = re.compile(r"^void register_\w+\(Registry", re.MULTILINE)

# The one device header for .cu files. A header of kernels/ or ops/ that reaches it is device code, which only a family's
# cuda/ and kernels/ may include; the others hold functions for both sides.
DEVICE_HEADER = "treadle/simt/device.h"

# The umbrella header, which installation makes of the public ones, is for users of the library.
UMBRELLA = "treadle.h"
UMBRELLA_USERS = {"serve", "cli", "python", "examples", "lab", "bench", "tests"}

# Prefix of an external header → the folders that may include it. core, simt, kernels, graph and ops need only the
# standard library, {fmt} and CUDA. Tests and benchmarks may include anything.
EXTERNAL = {
    "CLI/": {"cli"},
    "toml++/": {"train", "cli"},
    "nlohmann/": {"formats", "train", "serve", "cli", "compile", "simt"},
    "zlib.h": {"data", "formats"},
    "jpeglib.h": {"data", "formats"},
    "curl/": {"data"},
    "png.h": {"data", "formats"},
    "hwy/": {"simd", "ops", "engines", "cli"},
    "dnnl": {"engines"},
    "oneapi/": {"engines"},
    "cublas": {"cuda"},
    "cudnn": {"cuda"},
    "nanobind/": {"python"},
    "boost/": {"serve", "simt"},
    "gtest/": set(),
}
EXTERNAL_ANY = {"tests", "bench"}

FORBIDDEN_NAMES = {"util", "utils", "common", "helper", "helpers", "misc"}
TOP_FOLDERS = ["treadle", "cli", "python", "examples", "lab", "bench", "tests"]
SOURCES_ROOT = "treadle/"

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path):
    """The folder of the table that a file belongs to: `ops` for treadle/ops/x.h, `cli` for cli/x.cpp, "" for treadle/x.h."""
    parts = path.split("/")
    if parts[0] != "treadle":
        return parts[0]
    return parts[1] if len(parts) > 2 else ""


def family_of(path):
    """`conv2d` for what lies below treadle/ops/conv2d, "" for anything else."""
    parts = path.split("/")
    return parts[2] if parts[:2] == ["treadle", "ops"] and len(parts) > 3 else ""


def room_of(path):
    """`cpu` for treadle/ops/conv2d/cpu/loop.cpp, "" for what is no deeper than a family."""
    return path.split("/")[3] if family_of(path) and path.count("/") > 3 else ""


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


@functools.lru_cache(maxsize=None)
def is_device_code(root, header, seen=frozenset()):
    """Whether a header includes the device header, itself or through others of kernels/ and ops/."""
    if header == DEVICE_HEADER:
        return True
    if header in seen or folder_of(header) not in ("kernels", "ops") or not (root / header).exists():
        return False
    return any(is_device_code(root, included, seen | {header}) for _, _, included in includes_of(root / header))


def check_place(path):
    """What is wrong with where a file of ops/ lies, or None."""
    family, room, suffix = family_of(path), room_of(path), pathlib.Path(path).suffix
    if not family:
        return None if suffix in SHARED_SUFFIXES else "ops/ itself holds only headers; ops belong in a family's folder"
    if room not in ROOMS or path.count("/") > (4 if room else 3):
        return f"a family has the folders {' and '.join(filter(None, ROOMS))}, and these have none"
    if suffix not in ROOMS[room]:
        return f"ops/{family}/{room} holds {' '.join(sorted(ROOMS[room]))}, not {suffix}"
    return None


def check_room(root, path, header):
    """What is wrong with a file of ops/, or one that includes a header of a family's cpu/ or cuda/; or None."""
    source, own = folder_of(path), room_of(path)
    other = room_of(header) if room_of(header) in VARIANTS else ""
    if other and source not in ROOM_USERS:
        return f"{source} → {header}: what lies in a family's {other}/ is for {', '.join(sorted(ROOM_USERS))}"
    if source != "ops":
        return None
    if other and not own:
        return f"ops → {header}: a declaration knows no variant"
    if other and own != other:
        return f"{own} → {header}: a family's cpu/ and cuda/ do not know each other"
    if header.startswith(CPU_ONLY) and own != "cpu":
        return f"ops → {header}: loops in SIMD instructions are for a family's cpu/"
    if own not in ("", "declaration") and header in DECLARATIONS:
        return f"ops → {header}: a variant sees calls, not declarations; treadle/graph/variant.h has what it needs"
    if family_of(path) and own != "cuda" and is_device_code(root, header):
        return f"ops → {header}: it includes {DEVICE_HEADER}, and device code is for a family's cuda/"
    return None


def check_registration(root, path):
    """A file of cpu/ or declaration/ with a header of its own is taken for what others call; see cmake/registration.cmake."""
    file = root / path
    if room_of(path) not in ("cpu", "declaration") or file.suffix != ".cpp" or not file.with_suffix(".h").exists():
        return None
    if not REGISTERS.search(file.read_text(encoding="utf-8")):
        return None
    return f"variants register in a file without a header; {file.stem}.h keeps the build from calling this one"


def check_families(root, files):
    """Yields (path, line, message) for families without a declaration, and shared headers of fewer than two families."""
    declared = {family_of(path) for path in files if not room_of(path) and path.endswith(".cpp")}
    for path in files:
        if family_of(path) and family_of(path) not in declared:
            yield path, 1, f"ops/{family_of(path)} declares no op: a family begins with NAME.h and NAME.cpp"
    users = {path: set() for path in files if folder_of(path) == "ops" and not family_of(path)}
    for path in filter(family_of, files):
        for _, _, header in includes_of(root / path):
            users.get(header, set()).add(family_of(path))
    for path, families in users.items():
        if len(families) < 2:
            yield path, 1, f"is included by {', '.join(families) or 'no family'}: what one family needs lies in its folder"


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
    if message := check_room(root, path, header):
        return message
    if header.startswith(SOURCES_ROOT):
        return check_own_header(root, path, source, header)
    if quote == '"' and source != "lab" and (root / path).parent.joinpath(header).exists():
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
    if folder_of(path) == "ops" and (message := check_place(path)):
        yield 1, message
        return
    if message := check_registration(root, path):
        yield 1, message
    for number, quote, header in includes_of(root / path):
        if message := check_include(root, path, quote, header):
            yield number, message


def is_misplaced(path):
    return folder_of(path) == "ops" and check_place(path) is not None


def check_tree(root):
    """All violations as (path, line, message), and the number of files read."""
    files = list(rule.source_files(root, TOP_FOLDERS))
    violations = [(path, line, message) for path in files for line, message in check_file(root, path)]
    return violations + list(check_families(root, [path for path in files if not is_misplaced(path)])), len(files)


def violations(root):
    found, count = check_tree(root)
    return [f"{path}:{line}: {message}" for path, line, message in found], f"{count} files"


# Each file with one include, and the text that its violation must contain; None where it is allowed.
SELF_TEST = [
    ("treadle/core/shape.h", "#include <vector>", None),
    ("treadle/core/shape.cpp", '#include "treadle/core/shape.h"', None),
    ("treadle/core/tensor.h", '#include "treadle/graph/node.h"', "core → graph"),
    ("treadle/core/log.cpp", "#include <nlohmann/json.hpp>", "core → <nlohmann/json.hpp>"),
    ("treadle/core/local.cpp", '#include "shape.h"', "path from the repository root"),
    ("lab/01-first/first.cu", '#include "../lab.h"', None),  # lessons are built without include paths of ours
    ("treadle/simt/launch.h", '#include "treadle/ops/op.h"', "simt → ops"),
    ("treadle/kernels/reduce.h", '#include "treadle/simt/device.h"', None),
    ("treadle/kernels/half.h", '#include "treadle/core/half.h"', None),
    ("treadle/kernels/shape.h", '#include "treadle/core/shape.h"', "kernels → core"),
    ("treadle/graph/node.h", '#include "treadle/ops/op.h"', "graph → ops"),
    ("treadle/ops/conv2d/cuda/naive.cu", '#include "treadle/kernels/tile.h"', None),
    ("treadle/kernels/tile.h", '#include "treadle/kernels/reduce.h"', None),
    ("treadle/kernels/math.h", '#include "treadle/simt/function_qualifiers.h"', None),
    ("treadle/ops/conv2d/conv2d.cpp", '#include "treadle/kernels/tile.h"', "device code is for a family's cuda/"),
    ("treadle/ops/pointwise/exp.cpp", '#include "treadle/kernels/math.h"', None),
    ("treadle/ops/matrix/cuda/tiled.cu", '#include "treadle/simt/fiber.h"', "the only device header"),
    ("treadle/ops/matrix/matmul.cpp", '#include "treadle/nn/linear.h"', "ops → nn"),
    ("treadle/ops/pointwise/relu.cpp", '  #  include <treadle/engines/onednn/conv2d.h>', "nothing includes engines"),
    ("treadle/ops/pointwise/pool.h", '#include "treadle/treadle.h"', "umbrella"),
    ("treadle/cuda/cublas/matmul.cpp", "#include <cublas_v2.h>", None),
    ("treadle/cuda/plugin.cpp", '#include "treadle/graph/device_plugin.h"', None),
    ("treadle/compile/graphs.cpp", '#include "treadle/cuda/cublas/cublas.h"', "compile → cuda"),
    ("tests/cuda/graphs_test.cpp", '#include "treadle/cuda/cublas/cublas.h"', "tests → cuda"),
    ("treadle/engines/onednn/conv2d.cpp", '#include "treadle/ops/conv2d/conv2d.h"', None),
    ("treadle/engines/onednn/pool.cpp", '#include "treadle/engines/highway/simd.h"', "engines do not know"),
    ("treadle/engines/highway/relu.cpp", '#include "treadle/nn/linear.h"', "engines → nn"),
    ("treadle/compile/plan.h", '#include "treadle/nn/module.h"', "compile → nn"),
    ("treadle/nn/linear.h", '#include "treadle/optim/sgd/sgd.h"', "nn → optim"),
    ("treadle/data/idx.cpp", '#include "treadle/formats/npy.h"', None),
    ("treadle/formats/npy.cpp", '#include "treadle/data/idx.h"', "formats → data"),
    ("treadle/models/mlp.cpp", '#include "treadle/train/fit.h"', "models → train"),
    ("treadle/train/fit.cpp", '#include "treadle/data/batches.h"', None),
    ("treadle/train/checkpoint.cpp", '#include "treadle/version.h"', None),
    ("treadle/train/loop.cpp", '#include "cli/train.h"', "train → cli"),
    ("treadle/new_folder/x.h", "", "is not in the table"),
    ("treadle/ops/pointwise/utils.h", "", "named after what it holds"),
    ("cli/common/x.h", "", "named after what it holds"),
    ("cli/train.cpp", '#include "treadle/train/fit.h"', None),
    ("tests/ops/conv2d_test.cpp", "#include <gtest/gtest.h>", None),
    ("treadle/ops/add.cpp", "", "belong in a family's folder"),
    ("treadle/ops/conv2d/direct.cu", "", "ops/conv2d/ holds .cpp .h, not .cu"),
    ("treadle/ops/conv2d/cpu/naive.cu", "", "ops/conv2d/cpu holds .cpp .h, not .cu"),
    ("treadle/ops/conv2d/cuda/naive.cpp", "", "ops/conv2d/cuda holds .cu .cuh .h, not .cpp"),
    ("treadle/ops/conv2d/vulkan/naive.cpp", "", "has the folders declaration and cpu and cuda and functions"),
    ("treadle/ops/conv2d/declaration/cases.h", '#include "treadle/graph/op.h"', None),
    ("treadle/ops/conv2d/cpu/cases.h", '#include "treadle/graph/op.h"', "a variant sees calls"),
    ("treadle/ops/pointwise/functions/tanh.h", '#include "treadle/kernels/math.h"', None),
    ("treadle/ops/pointwise/functions/tanh.cpp", "", "ops/pointwise/functions holds .h, not .cpp"),
    ("treadle/ops/pointwise/functions/sine.h", '#include "treadle/ops/device.h"', "device code is for a family's cuda/"),
    ("treadle/ops/pointwise/tanh.cpp", '#include "treadle/ops/pointwise/functions/tanh.h"', None),
    ("treadle/ops/conv2d/cpu/loops/plain.cpp", "", "and these have none"),
    ("treadle/ops/conv2d/cpu/loop.cpp", '#include "treadle/simd/gemm.h"', None),
    ("treadle/ops/conv2d/cpu/planes.h", "#include <hwy/highway.h>", None),
    ("treadle/ops/conv2d/cpu/im2col.cpp", '#include "treadle/ops/conv2d/cuda/bias.h"', "do not know each other"),
    ("treadle/ops/conv2d/cuda/bias.h", '#include "treadle/ops/conv2d/cpu/planes.h"', "do not know each other"),
    ("treadle/ops/conv2d/cpu/tiles.h", '#include "treadle/ops/device.h"', "device code is for a family's cuda/"),
    ("treadle/ops/conv2d/cuda/tiles.cuh", '#include "treadle/ops/device.h"', None),
    ("treadle/ops/matrix/cuda/tiles.cuh", '#include "treadle/ops/device.h"', None),
    ("treadle/ops/device.h", '#include "treadle/simt/device.h"', None),
    ("treadle/ops/geometry.h", "", "is included by conv2d: what one family needs"),
    ("treadle/ops/nobody.h", "", "is included by no family"),
    ("treadle/ops/conv2d/conv2d_geometry.h", '#include "treadle/ops/geometry.h"', None),
    ("treadle/ops/conv2d/conv2d_relu.cpp", '#include "treadle/ops/conv2d/cpu/planes.h"', "a declaration knows no variant"),
    ("treadle/ops/conv2d/conv2d_options.h", '#include "treadle/simd/gemm.h"', "are for a family's cpu/"),
    ("treadle/ops/conv2d/cuda/lanes.h", "#include <hwy/highway.h>", "are for a family's cpu/"),
    ("treadle/ops/conv2d/cpu/taps.cpp", '#include "treadle/graph/registry.h"', "a variant sees calls, not declarations"),
    ("treadle/ops/conv2d/cuda/taps.cu", '#include "treadle/graph/op.h"', "a variant sees calls, not declarations"),
    ("treadle/ops/conv2d/cpu/taps.h", '#include "treadle/graph/variant.h"', None),
    ("treadle/ops/conv2d/cpu/sums.h", "", None),
    ("treadle/ops/conv2d/cpu/sums.cpp", "void register_conv2d_cpu_sums(Registry& registry) {}", "sums.h keeps the build"),
    ("treadle/ops/conv2d/cpu/rows.cpp", "void register_conv2d_cpu_rows(Registry& registry) {}", None),
    ("treadle/ops/undeclared/cpu/loop.cpp", "", "ops/undeclared declares no op"),
    ("treadle/nn/conv2d.cpp", '#include "treadle/ops/conv2d/cpu/planes.h"', "family's cpu/ is for cuda, engines, ops, tests"),
    ("treadle/engines/onednn/matmul.cpp", '#include "treadle/ops/matrix/cpu/blocks.h"', None),
    ("tests/ops/planes_test.cpp", '#include "treadle/ops/conv2d/cpu/planes.h"', None),
    ("tests/ops/engine_test.cpp", '#include "treadle/engines/onednn/conv2d.h"', "nothing includes engines"),
]


def self_test():
    """Expects exactly the violations that SELF_TEST names, in a small tree with one include per file."""
    found = {}
    with rule.tree_of({path: f"#pragma once\n{line}\n" for path, line, _ in SELF_TEST}) as root:
        for path, _, message in check_tree(root)[0]:
            found.setdefault(path, []).append(message)
    wrong = []
    for path, line, expected in SELF_TEST:
        messages = found.get(path, [])
        right = not messages if expected is None else len(messages) == 1 and expected in messages[0]
        if not right:
            wrong.append(f"self-test: {path} with '{line}': expected {expected or 'no violation'}, got {messages}")
    return wrong, len(SELF_TEST)


if __name__ == "__main__":
    description = "Checks that dependencies between the folders point one way."
    sys.exit(rule.run("architecture", description, violations, self_test))
