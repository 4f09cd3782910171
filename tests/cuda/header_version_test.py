#!/usr/bin/env python3
"""cmake/header_version.cmake: the number that a device's plugin and its host must share changes with the headers and the compiler.

usage: header_version_test.py CMAKE
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CMAKE = sys.argv.pop(1)
SCRIPT = Path(__file__).resolve().parents[2] / "cmake" / "header_version.cmake"


class HeaderVersion(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.output = self.folder / "version.cpp"
        for name in ("graph", "ops/matrix"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "graph/variant.h").write_text("struct Variant { int preference; };\n")
        (self.folder / "ops/matrix/options.h").write_text("struct Options { bool transposed; };\n")

    def version(self, compiler="GNU 12.2.0"):
        folders = ";".join(str(self.folder / name) for name in ("graph", "ops"))
        words = ["-D", f"OUTPUT={self.output}", "-D", f"FOLDERS={folders}", "-D", f"COMPILER={compiler}"]
        subprocess.run([CMAKE, *words, "-P", SCRIPT], check=True)
        number = re.search(r"return (0x[0-9a-f]+);", self.output.read_text())[1]
        self.assertLess(int(number, 16), 2**31)  # an int
        return number

    def test_follows_every_header_and_the_compiler(self):
        versions = [self.version(), self.version("GNU 13.1.0")]
        (self.folder / "ops/matrix/options.h").write_text("struct Options { bool a_transposed, b_transposed; };\n")
        versions.append(self.version())
        (self.folder / "ops/matrix/more.h").write_text("struct More {};\n")
        versions.append(self.version())
        self.assertEqual(len(set(versions)), 4, versions)

    def test_what_is_no_header_does_not_matter_and_nothing_is_compiled_again(self):
        before = self.version()
        written = self.output.stat().st_mtime_ns
        (self.folder / "graph/variant.cpp").write_text("int f() { return 1; }\n")
        self.assertEqual(self.version(), before)
        self.assertEqual(self.output.stat().st_mtime_ns, written)


if __name__ == "__main__":
    unittest.main(verbosity=1)
