#!/usr/bin/env python3
"""Users' own files as data sets, from training to prediction: folders of images, tables.

usage: files_test.py PROGRAM
"""

import unittest

from program import ProgramTest, last_json, run, write_png

RED, BLUE = [200, 10, 20], [10, 30, 220]


def picture(colour, shade, size=(8, 8)):
    return [[value - shade for value in colour] * size[1] for _ in range(size[0])]


class OwnFiles(ProgramTest):
    def train_on(self, data, *words, model="mlp"):
        return run("train", model, "--data", data, "--out", self.folder / "run", "--json", "--overwrite", "--lr", 0.01, *words)

    def write_pictures(self):
        folder = self.folder / "colours"
        for part, count in (("train", 12), ("test", 4)):
            for name, colour in (("red", RED), ("blue", BLUE)):
                (folder / part / name).mkdir(parents=True)
                for i in range(count):
                    write_png(folder / part / name / f"{i}.png", picture(colour, i % 8), color=2)
        return folder

    def test_coloured_images_are_learnt_evaluated_and_predicted(self):
        folder = self.write_pictures()
        trained = self.train_on(folder, "--epochs", 10, "--batch-size", 4, "--normalize")
        self.assertEqual(trained.returncode, 0, trained.stderr)
        report = last_json(trained)
        self.assertEqual(report["test_accuracy"], 1)
        self.assertEqual(report["parameters"], 192 * 128 + 128 + 128 * 2 + 2)
        self.assertEqual(last_json(run("eval", self.folder / "run", "--json"))["test_accuracy"], 1)
        write_png(self.folder / "large.png", picture(BLUE, 3, (20, 13)), color=2)
        predicted = last_json(run("predict", self.folder / "run", self.folder / "large.png", "--json"))
        self.assertEqual(predicted["results"][0]["predictions"][0]["class"], "blue")

    def test_sizes_are_given_or_the_models(self):
        folder = self.write_pictures()
        report = last_json(self.train_on(folder, "--epochs", 1, "--image-size", "4x6", "--colours", "grey"))
        self.assertEqual(report["parameters"], 24 * 128 + 128 + 128 * 2 + 2)
        self.assertEqual(run("eval", self.folder / "run").returncode, 0)
        self.assert_fails(self.train_on(folder, model="lenet5"), 1, "2 classes, lenet5 has 10")
        self.assert_fails(self.train_on(folder, "--image-size", "4y6"), 2, "'4y6' is no size of images")
        self.assert_fails(self.train_on(folder, "--colours", "gray"), 2, "did you mean 'grey'?")

    def test_a_broken_image_is_named(self):
        folder = self.write_pictures()
        (folder / "train/red/7.png").write_bytes(b"no picture")
        self.assert_fails(self.train_on(folder), 1, str(folder / "train/red/7.png"))

    def test_tables_are_learnt_and_evaluated(self):
        table = self.folder / "points.csv"
        rows = [f"{'above' if y > x else 'below'},{x / 10},{y / 10}" for x in range(12) for y in range(12) if x != y]
        table.write_text("\n".join(["side,x,y", *rows]), encoding="utf-8")
        words = ["--label-column", "side", "--epochs", 40, "--batch-size", 8, "--seed", 3]
        report = last_json(self.train_on(table, *words))
        self.assertGreater(report["test_accuracy"], 0.9)
        self.assertEqual(report["images_in_test_set"], round(0.2 * len(rows)))
        evaluated = last_json(run("eval", self.folder / "run", "--json"))
        self.assertEqual(evaluated["test_accuracy"], report["test_accuracy"])
        self.assert_fails(self.train_on(table), 1, "'above' in line 2, column 1 is no finite number")


if __name__ == "__main__":
    unittest.main()
