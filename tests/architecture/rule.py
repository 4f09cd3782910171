"""What the checks of this folder share: the files that they read, and how they are run."""

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile

SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".inc"}


def source_files(root, folders):
    """Paths of the C++ and CUDA sources below, from the root; hidden folders, such as virtual environments, are left out."""
    for top in folders:
        for folder, below, names in os.walk(root / top):
            below[:] = sorted(name for name in below if not name.startswith("."))
            for name in sorted(names):
                if pathlib.Path(name).suffix in SUFFIXES:
                    yield pathlib.Path(folder, name).relative_to(root).as_posix()


def text_of(path):
    return path.read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def tree_of(files):
    """The root of a small tree with these files, path → text, while it is looked at."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        yield root


def judge(cases, violations):
    """What a self-test returns: `cases` are path → (text of the file, whether it violates the rule)."""
    with tree_of({name: text + "\n" for name, (text, _) in cases.items()}) as root:
        found = {message.split(":")[0] for message in violations(root)[0]}
    wrong = [f"self-test: '{text}' was judged wrongly" for name, (text, bad) in cases.items() if (name in found) != bad]
    return wrong, len(cases)


def run(name, description, violations, self_test):
    """The exit status of a check called `name`. `violations(root)` gives a line for each, and what was read, such as
    "649 files"; `self_test()` a line for each case that was judged wrongly, and the number of cases."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true", help="show that violations are caught")
    arguments = parser.parse_args()
    if arguments.self_test:
        lines, count = self_test()
        summary = f"{name} self-test: {count - len(lines)} of {count} cases right"
    else:
        lines, read = violations(arguments.root)
        summary = f"{name}: {read}, {len(lines)} violations"
    for line in lines:
        print(line, file=sys.stderr)
    print(summary)
    return 1 if lines else 0
