"""The command-line program: `python -m treadle train …`, or `treadle` alone."""

import os
import pathlib
import sys

from treadle import _core


def program() -> pathlib.Path:
    """Where the program lies: beside the compiled half of the package, or in the build folder that it was made in."""
    package = pathlib.Path(_core.__file__).parent
    for candidate in (package / "bin" / "treadle", package.parent.parent / "treadle"):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    raise SystemExit(f"treadle: {package} holds no program: the package was installed in part")


def main() -> None:
    """Becomes the program, with the arguments of this process."""
    path = str(program())
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
