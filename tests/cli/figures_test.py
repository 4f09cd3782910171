#!/usr/bin/env python3
"""The figures that documents quote are those of the table.

usage: figures_test.py [PROGRAM]
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "peers"))
import figures  # noqa: E402

TABLE = """before
<!-- table: cpu AVX2 -->
| cell | Treadle | ratio |
| --- | ---: | ---: |
| a/1 | 8,010 / 8,276 img/s | 4.80× / 4.78× |
| a/1, other | 90 MiB | 10.5× |
| b/2 | 79 / 80 img/s | 0.97× / 1.00× |
<!-- /table -->
between
<!-- table: cpu AVX-512 -->
| cell | Treadle | ratio |
| --- | ---: | ---: |
| a/1 | 9,000 / 9,100 img/s | 5.10× / 5.20× |
| c/4 | 7 img/s | 1.50× |
<!-- /table -->
"""


class Figures(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.root = Path(self.temporary.name)
        (self.root / "docs").mkdir()
        (self.root / "docs/performance.md").write_text(TABLE)

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, text):
        (self.root / "README.md").write_text(text)

    def test_figures_come_from_the_table(self):
        self.write(
            "A <!-- figure: ratio of a/1 -->5.3×<!-- /figure --> B <!-- figure: ratio p10 of a/1 -->?<!-- /figure -->\n"
            "C <!-- figure: ratio of b/2; a/1, other; a/1 --><!-- /figure --> D <!-- figure: Treadle of a/1 -->0<!-- /figure -->"
        )
        self.assertEqual(len(list(figures.differences(self.root))), 4)
        self.assertIn("the ratio of a/1 is 4.80× in docs/performance.md, not 5.3×", next(figures.differences(self.root)))
        figures.write(self.root)
        text = (self.root / "README.md").read_text()
        for part in ("-->4.80×<!--", "-->4.78×<!--", "-->0.97–10.5×<!--", "-->8,010<!--"):
            self.assertIn(part, text)
        self.assertEqual(list(figures.differences(self.root)), [])

    def test_cells_of_other_machines(self):
        self.write(
            "<!-- figure: ratio of a/1; a/1 (AVX-512) --><!-- /figure --> <!-- figure: ratio of c/4 --><!-- /figure -->"
            "<!-- figure: ratio of a/1 (AVX2) --><!-- /figure -->"
        )
        figures.write(self.root)
        self.assertEqual([match[4] for match in figures.FIGURE.finditer((self.root / "README.md").read_text())],
                         ["4.80–5.10×", "1.50×", "4.80×"])

    def test_cells_that_are_not_there(self):
        for figure in ("ratio of c/3", "speed of a/1", "ratio p10 of a/1, other"):
            self.write(f"<!-- figure: {figure} -->1×<!-- /figure -->")
            with self.assertRaises(figures.FigureError):
                figures.write(self.root)

    def test_ratios_of_the_readme_are_marked(self):
        self.write("3×3 filters of 28×28 pixels, 5.3× as fast, twice (2 ×)")
        self.assertEqual(len(list(figures.differences(self.root))), 2)

    def test_the_documents_are_up_to_date(self):
        self.assertEqual(list(figures.differences(figures.ROOT)), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
