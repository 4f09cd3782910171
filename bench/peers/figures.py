#!/usr/bin/env python3
"""Keeps the figures that texts quote equal to the table of docs/performance.md.

usage: figures.py [--check]

In README.md and docs/*.md a quoted figure stands between two comments:

    <!-- figure: ratio of fashion_cnn/train/32 -->4.80×<!-- /figure -->
    <!-- figure: ratio of fashion_cnn/inference/8; fashion_cnn/inference/64 -->1.98–2.11×<!-- /figure -->

Before "of" is a column of the tables, which stand between `<!-- table: NAME VECTORS -->` and `<!-- /table -->`, with "p10" behind it for what stands behind a slash; then one cell, or several of
which the least and the greatest are taken. A cell that several tables have is that of the first; "CELL (AVX-512)" is that of
the table for such a machine. Without options the figures are written; `compare --write` does so too. With
--check nothing is written. Ratios of README.md (a number with ×) must be marked.

Exit status: 0 written or equal, 1 a figure differs, lacks its cell or is not marked, 2 usage.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path("docs", "performance.md")
FIGURE = re.compile(r"(<!-- figure: (.+?) of (.+?) -->)(.*?)(<!-- /figure -->)", re.DOTALL)
MARKED = re.compile(r"<!-- table: \w+ (\S+) -->(.*?)<!-- /table -->", re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
RATIO = re.compile(r"\d(?:\.\d+)?\s*×(?!\d)")


class FigureError(Exception):
    pass


def documents(root):
    return [root / "README.md", *sorted((root / "docs").glob("*.md"))]


def cells_of(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def table_of(text):
    """Cell → column → text, from the tables between their markers."""
    table = {}
    for vectors, inside in MARKED.findall(text):
        rows = [cells_of(line) for line in inside.splitlines() if line.startswith("|")]
        for row in rows[2:]:
            columns = dict(zip(rows[0], row))
            table.setdefault(row[0], columns)
            table.setdefault(f"{row[0]} ({vectors})", columns)
    if not table:
        raise FigureError(f"{TABLE} holds no table between <!-- table: NAME VECTORS --> and <!-- /table -->")
    return table


def entry(table, column, cell):
    """One figure; of "4.80× / 4.78×" the first part, or with the column "ratio p10" the second."""
    name, fast, _ = column.partition(" p10")
    if cell not in table or name not in table[cell]:
        raise FigureError(f"the table of {TABLE} has no {name} of {cell}")
    parts = table[cell][name].split(" / ")
    if fast and len(parts) < 2:
        raise FigureError(f"the table of {TABLE} has no p10 in the {name} of {cell}")
    return parts[1 if fast else 0]


def number(text):
    found = NUMBER.search(text)
    if not found:
        raise FigureError(f"'{text}' is not a figure")
    return float(found[0].replace(",", ""))


def figure(table, column, cells):
    """What stands between the markers: one figure, or "least–greatest" with the unit once."""
    figures = sorted((entry(table, column, cell.strip()) for cell in cells.split(";")), key=number)
    least, greatest = figures[0], figures[-1]
    return least if number(least) == number(greatest) else f"{NUMBER.search(least)[0]}–{greatest}"


def rewritten(text, table):
    return FIGURE.sub(lambda match: match[1] + figure(table, match[2], match[3]) + match[5], text)


def unmarked_ratios(text):
    return [match[0] for match in RATIO.finditer(FIGURE.sub("", text))]


def differences(root):
    """What --check finds, one sentence for each figure."""
    table = table_of((root / TABLE).read_text(encoding="utf-8"))
    for path in filter(Path.exists, documents(root)):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        for match in FIGURE.finditer(text):
            if match[4] != (expected := figure(table, match[2], match[3])):
                yield f"{name}: the {match[2]} of {match[3]} is {expected} in {TABLE}, not {match[4]}"
        if name == "README.md":
            yield from (f"{name}: '{ratio}' is not marked as a figure of the table" for ratio in unmarked_ratios(text))


def write(root=ROOT):
    """Puts the table's figures into all documents. Throws FigureError."""
    table = table_of((root / TABLE).read_text(encoding="utf-8"))
    for path in filter(Path.exists, documents(root)):
        text = path.read_text(encoding="utf-8")
        if (new := rewritten(text, table)) != text:
            path.write_text(new, encoding="utf-8")


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__)
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    try:
        if sys.argv[1:]:
            found = list(differences(ROOT))
            for difference in found:
                print(f"figures: {difference}", file=sys.stderr)
            if found:
                print("figures: run bench/peers/figures.py, or mark what is new", file=sys.stderr)
            return 1 if found else 0
        write()
    except FigureError as error:
        print(f"figures: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
