#!/usr/bin/env python3
"""Checkpoints whose weights are NaN, infinite or too large: an error that names them, never a figure; or too small.

usage: non_finite_test.py PROGRAM
"""

import json
import math
import struct
import unittest

from program import TrainingTest, last_json, run, write_png


def set_weights(path, target, name, values):
    """Copies a safetensors file with the first elements of a tensor replaced."""
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    begin = 8 + length + json.loads(data[8 : 8 + length])[name]["data_offsets"][0]
    struct.pack_into(f"<{len(values)}f", data, begin, *values)
    target.write_bytes(data)


class NonFinite(TrainingTest):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.train("--epochs", 1).returncode, 0)
        self.good = self.folder / "run/last.safetensors"
        self.bad = self.folder / "bad.safetensors"
        self.image = self.folder / "band.png"
        write_png(self.image, [b"\xff" * 28] * 28)

    def commands(self):
        for form in ([], ["--json"]):
            yield ["eval", self.bad, *form]
            yield ["predict", self.bad, self.image, *form]

    def test_weights_that_are_no_numbers_are_named(self):
        for value, text in ((math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")):
            set_weights(self.good, self.bad, "fc2.bias", [0.5, value])
            for command in self.commands():
                result = run(*command)
                self.assert_fails(result, 1, str(self.bad), f"fc2.bias is {text} at element 1")
                self.assertNotIn("null", result.stdout)
                self.assertNotIn("%", result.stdout)

    def test_weights_that_overflow_are_reported(self):
        set_weights(self.good, self.bad, "fc1.weight", [3e38] * (784 * 128))
        for command in self.commands():
            result = run(*command)
            self.assert_fails(result, 1, str(self.bad), "too large")
            self.assertNotIn("null", result.stdout)

    def test_weights_below_the_smallest_normal_number_are_zeros_unless_kept(self):
        set_weights(self.good, self.bad, "fc2.weight", [0.0] * 1280)
        set_weights(self.bad, self.bad, "fc2.bias", [0.0] * 3 + [1e-40] + [0.0] * 6)
        # Of equal classes the first is taken. 32 images: four show a 0, three a 3.
        for words, correct in ([], 4), (["--keep-subnormals"], 3):
            report = last_json(run("eval", self.bad, *words, "--json"))
            self.assertEqual(report["test_accuracy"], correct / 32, words)

    def test_a_training_that_resumes_from_them_fails(self):
        set_weights(self.good, self.good, "fc2.bias", [math.nan])
        before = self.good.read_bytes()
        self.assert_fails(self.train("--resume", "--epochs", 2), 1, "nan")
        self.assertEqual(self.good.read_bytes(), before)


if __name__ == "__main__":
    unittest.main(verbosity=1)
