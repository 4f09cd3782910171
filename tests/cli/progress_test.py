#!/usr/bin/env python3
"""The progress line on terminals of many widths: it is drawn over itself and never wraps.

usage: progress_test.py PROGRAM
"""

import re
import tempfile
import unittest
from pathlib import Path

from program import ProgramTest, Terminal

ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def drawn_lines(text):
    """What was drawn over again. A finished line ends in "\\r\\n"; the ones before it on its place begin with "\\r"."""
    pieces = [piece for line in text.split("\r\n") for piece in line.split("\r")[:-1]]
    return [ESCAPE.sub("", piece) for piece in pieces if ESCAPE.sub("", piece)]


class Progress(ProgramTest):
    WORDS = ["train", "mlp", "--epochs", "10000", "--batch-size", "1", "--steps", "150", "--test", "last"]

    def lines(self, width, environment=None):
        """The first is drawn at the first step."""
        words = [*self.WORDS, "--data", self.data, "--out", Path(tempfile.mkdtemp(dir=self.folder), "run")]
        terminal = Terminal(words, width, environment)
        self.assertEqual(terminal.code, 0, terminal.text[-500:])
        return drawn_lines(terminal.text)

    def test_no_line_is_wider_than_the_terminal(self):
        for width in (200, 80, 40, 20, 7, 2, 0):
            with self.subTest(width=width):
                lines = self.lines(width)
                self.assertTrue(lines)
                for line in lines:
                    self.assertLess(len(line), width or 80)  # the last column stays free

    def test_the_most_important_parts_stay(self):
        def progress(width):
            return next(line for line in self.lines(width) if line.startswith("epoch"))

        self.assertRegex(progress(200), r"^epoch 1/10000  [━─]{24} +\d+ %  loss \d.*  [\d,]+ images/s  [\d:]+ left$")
        self.assertRegex(progress(40), r"^epoch 1/10000 +\d+ %  loss \d\.\d+$")
        self.assertRegex(progress(20), r"^epoch 1/10000$|^epoch 1/10000 +\d %$")
        self.assertEqual(progress(9), "epoch 1…")

    def test_columns_count_where_the_terminal_says_nothing(self):
        for columns, width in (("30", 30), ("many", 80), ("-4", 80)):
            for line in self.lines(0, {"COLUMNS": columns}):
                self.assertLess(len(line), width)

    def test_a_dumb_terminal_gets_plain_lines(self):
        words = [*self.WORDS, "--data", self.data, "--out", self.folder / "run"]
        self.assertNotIn("\x1b", Terminal(words, 80, {"TERM": "dumb"}).text)


if __name__ == "__main__":
    unittest.main(verbosity=1)
