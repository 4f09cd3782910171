#!/usr/bin/env python3
"""`treadle train --precision`: half types learn, are resumed to the bit, and leave checkpoints of f32.

usage: precision_test.py PROGRAM
"""

import unittest

from program import TrainingTest, last_json, run
from safetensors_file import read_safetensors


class Precision(TrainingTest):
    def weights(self, out):
        return read_safetensors(self.folder / out / "last.safetensors")

    def test_half_types_learn_what_f32_learns(self):
        losses = {}
        for precision in ("f32", "bf16", "f16"):
            report = last_json(self.train("--precision", precision, "--epochs", 12, out=precision))
            self.assertEqual(report["precision"], precision)
            self.assertEqual(report["test_accuracy"], 1)
            losses[precision] = report["losses"]
        # The first step's loss: roundings of 2^-9 and 2^-12 in an input, two layers and their weights.
        for precision, unit in (("bf16", 2**-8), ("f16", 2**-11)):
            self.assertNotEqual(losses[precision][0], losses["f32"][0])
            self.assertAlmostEqual(losses[precision][0], losses["f32"][0], delta=4 * unit * losses["f32"][0])

    def test_a_run_in_f16_is_resumed_to_the_bit(self):
        words = ["--precision", "f16", "--batch-size", 16, "--clip-norm", 0.5, "--deterministic", "--schedule", "constant"]
        self.assertEqual(self.train(*words, "--epochs", 4, out="whole").returncode, 0)
        self.assertEqual(self.train(*words, "--epochs", 2, out="cut").returncode, 0)
        resumed = self.train("--resume", "--epochs", 4, out="cut")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(last_json(resumed)["precision"], "f16")
        whole, cut = self.weights("whole"), self.weights("cut")
        self.assertEqual(whole, cut)
        self.assertIn("treadle.optimizer.loss_scaler.factor", cut)
        self.assertEqual({kind for name, (kind, *_) in cut.items() if name.startswith("fc")}, {"F32"})
        evaluated = run("eval", self.folder / "cut", "--json")
        self.assertEqual(evaluated.returncode, 0, evaluated.stderr)

    def test_other_names_are_refused(self):
        self.assert_fails(self.train("--precision", "fp8"), 2, "--precision", "fp8", "bf16")
        self.assert_fails(self.train("--set", "precision=half"), 2, "precision", "half", "bf16")

    def test_a_resumed_run_keeps_its_precision(self):
        self.assertEqual(self.train("--precision", "bf16", "--epochs", 1).returncode, 0)
        self.assert_fails(self.train("--resume", "--precision", "f16"), 2, "--precision", "bf16")


if __name__ == "__main__":
    unittest.main()
