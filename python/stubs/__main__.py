"""Writes stubs for type checkers and editors: of the compiled half, and of the modules that adopt its names.

usage: stubs --out FOLDER [--no-docstrings]

Writes FOLDER/_core/*.pyi and FOLDER/**/__init__.pyi for the package `treadle` that Python finds.
"""

import argparse
import pathlib

import compiled
import modules


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--no-docstrings", action="store_true", help="signatures alone, to compare")
    arguments = parser.parse_args()
    docstrings = not arguments.no_docstrings
    public = modules.public_modules()
    compiled.claim_classes()
    for name, text in {**modules.stubs(public, docstrings), **compiled.stubs(docstrings)}.items():
        path = arguments.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
