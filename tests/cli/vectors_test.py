#!/usr/bin/env python3
"""Data sets of points from training to evaluation: models that follow the data, and messages where one does not.

usage: vectors_test.py PROGRAM
"""

import json
import unittest

from program import ProgramTest, last_json, run


class Vectors(ProgramTest):
    def train_on(self, data, *words, model="mlp", out="run"):
        return run("train", model, "--data", data, "--out", self.folder / out, "--json", *words)

    def test_points_are_learnt_and_evaluated(self):
        report = last_json(self.train_on("moons", "--epochs", 20, "--lr", 0.01))
        self.assertGreater(report["test_accuracy"], 0.97)
        self.assertEqual(report["parameters"], 2 * 128 + 128 + 128 * 2 + 2)
        checkpoint = report["checkpoint"]
        self.assertEqual(last_json(run("eval", checkpoint, "--json"))["test_accuracy"], report["test_accuracy"])
        summary = json.loads(run("summary", checkpoint, "--json").stdout)
        self.assertEqual(summary["layers"][0]["input"], [1, 2])
        self.assertEqual(run("summary", checkpoint, "--program", "--batch-size", 4).returncode, 0)
        self.assert_fails(run("predict", checkpoint, "x.png"), 2, "shape [2], no images", "treadle eval")

    def test_the_seed_draws_the_points(self):
        words = ["spirals:4", "--epochs", 2, "--seed"]
        reports = {seed: last_json(self.train_on(*words, seed, out=f"run{seed}")) for seed in (1, 2)}
        self.assertNotEqual(reports[1]["losses"], reports[2]["losses"])
        evaluated = last_json(run("eval", self.folder / "run2", "--json"))
        self.assertAlmostEqual(evaluated["test_loss"], reports[2]["test_loss"], 5)
        self.assertEqual(len(evaluated["total"]), 4)
        self.assertEqual(last_json(self.train_on("spirals:4", "--resume", "--epochs", 3, out="run2"))["epochs"], 3)

    def test_normalization_is_kept(self):
        report = last_json(self.train_on("xor", "--normalize", "--epochs", 2))
        self.assertAlmostEqual(last_json(run("eval", report["checkpoint"], "--json"))["test_loss"], report["test_loss"], 5)

    def test_models_of_images_say_what_they_take(self):
        self.assert_fails(self.train_on("moons", model="lenet5"), 1, "moons have shape [2]", "lenet5 expects [1, 28, 28]")
        self.assert_fails(self.train_on("moons:3"), 2, "moons has 2 classes")
        self.assert_fails(self.train_on("spirals:11"), 2, "2 to 10 classes")

    def test_points_can_be_mixed_but_not_cropped(self):
        mixed = self.train_on("moons", "--augment", "mixup", "--epochs", 2)
        self.assertEqual(mixed.returncode, 0, mixed.stderr)
        result = self.train_on("moons", "--augment", "mixup,crop", out="cropped")
        self.assert_fails(result, 2, "the augmentation crop is for examples of shape [C, H, W]; the data set has numbers of shape [2]")

    def test_lists_say_that_they_are_made(self):
        sets = {entry["name"]: entry for entry in json.loads(run("datasets", "--json").stdout)["datasets"]}
        self.assertTrue(sets["moons"]["made"])
        self.assertFalse(sets["mnist"]["made"])
        self.assertIn("made from the seed", run("datasets").stdout)


if __name__ == "__main__":
    unittest.main()
