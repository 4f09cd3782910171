#!/usr/bin/env python3
"""Figures by class: eval's table and JSON, and test_figures.json of a run, follow from one confusion matrix.

usage: class_figures_test.py PROGRAM
"""

import json
import statistics
import unittest

from program import TrainingTest, last_json, run


def figures_of(confusion):
    """Precision, recall and F1 of each class, from their definitions."""
    for i, row in enumerate(confusion):
        answered, labelled = sum(other[i] for other in confusion), sum(row)
        precision, recall = row[i] / answered if answered else 0.0, row[i] / labelled if labelled else 0.0
        yield precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


class ClassFigures(TrainingTest):
    def setUp(self):
        super().setUp()
        trained = self.train("--epochs", 1, "--batch-size", 8)  # far from right on all images
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.report = last_json(run("eval", self.folder / "run", "--json"))

    def test_they_follow_from_the_confusion_matrix(self):
        confusion = self.report["confusion"]
        self.assertEqual([sum(row) for row in confusion], self.report["total"])
        self.assertEqual([confusion[i][i] for i in range(10)], self.report["correct"])
        self.assertLess(sum(self.report["correct"]), 32)
        for name, wanted in zip(("precision", "recall", "f1"), zip(*figures_of(confusion))):
            for ours, theirs in zip(self.report[name], wanted):
                self.assertAlmostEqual(ours, theirs, delta=1e-12)
            self.assertAlmostEqual(self.report[f"macro_{name}"], statistics.mean(wanted), delta=1e-12)

    def test_a_finished_run_has_them(self):
        kept = json.loads((self.folder / "run" / "test_figures.json").read_text())
        for name in ("confusion", "precision", "recall", "f1", "macro_f1"):
            self.assertEqual(kept[name], self.report[name])
        self.assertEqual((kept["accuracy"], kept["images"]), (self.report["test_accuracy"], self.report["total"]))
        self.assertEqual(len(kept["classes"]), 10)

    def test_the_tables(self):
        table = run("eval", self.folder / "run").stdout
        self.assertRegex(table, r"class +images +precision +recall +F1\n")
        self.assertIn(f"{100 * self.report['macro_f1']:.2f} %", table)
        self.assertNotIn("label \\ answer", table)
        confusion = run("eval", self.folder / "run", "--confusion").stdout
        rows = confusion[confusion.index("label \\ answer") :].splitlines()[1:11]
        self.assertEqual([[int(count) for count in row.split()[-10:]] for row in rows], self.report["confusion"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
