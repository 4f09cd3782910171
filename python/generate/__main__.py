"""Writes bindings from the public headers: functions of ops and layers, with their docstrings.

A header that is added brings its functions and layers to Python; nothing names them here.

usage: generate --out FOLDER --parts N --root FOLDER… HEADER…
"""

import argparse
import pathlib

import functions
import headers as reader
import layers

HEAD = """// Generated from the public headers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include <optional>

#include "python/bindings/arguments.h"
#include "python/bindings/modules.h"
#include "python/bindings/rooms.h"
"""


def source(includes, name, parameters, body):
    lines = "".join(f'#include "{include}"\n' for include in sorted(set(includes)))
    return f"{HEAD}{lines}\nnamespace treadle::python {{\n\nvoid {name}({parameters}) {{\n{body}}}\n\n}}  // namespace treadle::python\n"


def write(path, text):
    """Leaves a file alone that would stay the same, so that nothing is compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--parts", type=int, default=4, help="files of functions")
    parser.add_argument("--root", type=pathlib.Path, action="append", default=[], help="what includes are relative to")
    parser.add_argument("--report", action="store_true", help="prints what has no place in Python")
    parser.add_argument("headers", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    report = print if arguments.report else lambda _: None

    def include(path):
        root = next(root for root in arguments.root if path.is_relative_to(root))
        return str(path.relative_to(root))

    structs, headers = reader.read(arguments.headers)
    arguments.out.mkdir(parents=True, exist_ok=True)
    of_ops = [one for one in headers if "/ops/" in str(one.path)]
    of_layers = [one for one in headers if "/nn/" in str(one.path)]
    found = functions.definitions(of_ops, structs, report)
    signature = "nb::module_& m, nb::class_<Tensor>& tensor"
    shares = [found[part :: arguments.parts] for part in range(arguments.parts)]
    for part, share in enumerate(shares):
        text = source(
            [include(path) for path, _ in share], f"bind_functions_{part}", signature, "".join(text for _, text in share)
        )
        write(arguments.out / f"functions_{part}.cpp", text)
    calls = "".join(f"  bind_functions_{part}(m, tensor);\n" for part in range(arguments.parts))
    declared = "".join(f"void bind_functions_{part}({signature});\n" for part in range(arguments.parts))
    text = source([], "bind_functions", signature, calls)
    write(arguments.out / "functions.cpp", text.replace("python {\n\n", "python {\n\n" + declared + "\n", 1))
    of_classes = layers.definitions(of_layers, structs, report)
    text = source([include(path) for path, _ in of_classes], "bind_layers", "nb::module_& m", "".join(t for _, t in of_classes))
    write(arguments.out / "layers.cpp", text)
    starts = functions.definitions(of_layers, structs, report, prefix="init_")
    text = source(
        [include(path) for path, _ in starts], "bind_initializers", "nb::module_& m", "".join(t for _, t in starts)
    )
    write(arguments.out / "initializers.cpp", text)


if __name__ == "__main__":
    main()
