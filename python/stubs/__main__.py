"""Writes stubs for type checkers and editors: of the compiled half, and of the modules that adopt its names.

usage: stubs --out FOLDER [--package-path FOLDER] [--no-docstrings]

Writes FOLDER/_core/*.pyi and FOLDER/**/__init__.pyi for the package `treadle` in the package path, else for the one that Python
finds.
"""

import argparse
import pathlib
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    # Not by PYTHONPATH, through which pip shows an isolated build what it has installed for it.
    parser.add_argument("--package-path", type=pathlib.Path, help="where the package lies")
    parser.add_argument("--no-docstrings", action="store_true", help="signatures alone, to compare")
    arguments = parser.parse_args()
    if arguments.package_path:
        sys.path.insert(0, str(arguments.package_path))
    import compiled
    import modules

    docstrings = not arguments.no_docstrings
    public = modules.public_modules()
    compiled.claim_classes()
    for name, text in {**modules.stubs(public, docstrings), **compiled.stubs(docstrings)}.items():
        path = arguments.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
