"""The treadle program under test, run as its users run it, and small data for it.

Every test program of this folder is called with the program's path as its first argument.
"""

import gzip
import json
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve()
CACHE = tempfile.TemporaryDirectory()  # measurements stay out of the user's own cache
os.environ["TREADLE_CACHE"] = CACHE.name


def run(*words, **options):
    environment = os.environ | options.pop("environment", {})
    words = [word if isinstance(word, bytes) else str(word) for word in words]
    return subprocess.run([PROGRAM, *words], capture_output=True, env=environment, encoding="utf-8", errors="surrogateescape", **options)


def last_json(result):
    return json.loads(result.stdout.strip().splitlines()[-1])


def write_idx(path, shape, data, pack=lambda data: gzip.compress(data, 1)):
    path.write_bytes(pack(struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape) + data))


def write_dataset(folder, train=64, test=32, labels=lambda n: n % 10, **options):
    """A small set in MNIST's layout: the rows that are bright tell the label."""
    folder.mkdir(exist_ok=True)
    for part, count in (("train", train), ("t10k", test)):
        pixels = bytearray(count * 784)
        for n in range(count):
            row = 2 * (n % 10)
            pixels[n * 784 + row * 28 : n * 784 + (row + 2) * 28] = b"\xff" * 56
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", (count, 28, 28), bytes(pixels), **options)
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", (count,), bytes(labels(n) for n in range(count)), **options)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def write_png(path, rows, color=0, extra=b""):
    """A PNG of 8 bits; a row holds the bytes of its pixels, `color` is PNG's colour type."""
    width = len(rows[0]) // {0: 1, 2: 3, 4: 2, 6: 4}[color]
    header = struct.pack(">IIBBBBB", width, len(rows), 8, color, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b""))


class Terminal:
    """The program on a pseudo-terminal; what it writes there is collected. Width 0 is one that the terminal does not say."""

    def __init__(self, words, width, environment=None, on_text=None):
        import fcntl
        import termios

        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        settings = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "TERM")}
        settings |= {"TERM": "xterm"} | (environment or {})
        self.process = subprocess.Popen([PROGRAM, *map(str, words)], stdin=theirs, stdout=theirs, stderr=theirs, env=settings)
        os.close(theirs)
        self.text = self.collect(ours, on_text)
        self.code = self.process.wait()

    def collect(self, source, on_text):
        text = b""
        while True:
            select.select([source], [], [])
            try:
                piece = os.read(source, 1 << 16)
            except OSError:  # the other end is closed
                piece = b""
            if not piece:
                os.close(source)
                return text.decode()
            text += piece
            if on_text:
                on_text(self.process, text.decode(errors="replace"))


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.data = self.folder / "data"
        write_dataset(self.data)

    def tearDown(self):
        self.temporary.cleanup()

    def train(self, *words, model="mlp", out="run", **options):
        return run("train", model, "--data", self.data, "--out", self.folder / out, *words, **options)

    def assert_fails(self, result, code, *phrases):
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for phrase in phrases:
            self.assertIn(phrase, result.stderr)
        # One or two sentences, not a page.
        self.assertLess(len(result.stderr), 600 + 4 * len(str(self.folder)))
        self.assertLessEqual(result.stderr.count("\n"), 2, result.stderr)


class TrainingTest(ProgramTest):
    def train(self, *words, **options):
        """Trains into a folder below the test's, where a new run replaces the one that is there; reports as JSON."""
        replace = [] if "--resume" in words else ["--overwrite"]
        return super().train("--json", *replace, *words, **options)
