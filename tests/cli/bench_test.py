#!/usr/bin/env python3
"""Runs `treadle bench` as a user does: what it reports, and how it fails.

usage: bench_test.py PROGRAM
"""

import gzip
import json
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve()


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)


def bench(*words):
    result = run("bench", *words, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.strip().splitlines()[-1])


def write_dataset(folder, count=64):
    """Images whose bright rows tell the label."""
    for part in ("train", "t10k"):
        pixels = b"".join(bytes(255 if x // 56 == n % 10 else x % 7 for x in range(784)) for n in range(count))
        for name, shape, data in (
            ("images-idx3", (count, 28, 28), pixels),
            ("labels-idx1", (count,), bytes(n % 10 for n in range(count))),
        ):
            header = struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape)
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(gzip.compress(header + data, 1))


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.data = Path(cls.temporary.name, "data")
        cls.data.mkdir()
        write_dataset(cls.data)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_a_step_reports_times_loss_and_density(self):
        report = bench("step", "--model", "lenet5", "--data", self.data, "--batch", 8, "--steps", 20, "--bind")
        self.assertEqual((report["steps"], report["batch"], report["bound"]), (20, 8, True))
        times = [report[f"step_seconds_{name}"] for name in ("p10", "median", "p90")]
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(report["images_per_second_median"], 8 / report["step_seconds_median"], delta=1e-6 / times[0])
        rates = report["images_per_second_by_tenth"]
        self.assertEqual(len(rates), 10)
        self.assertGreater(min(rates), 0)
        self.assertEqual(len(report["pooled_gradient_density"]), 2)
        for share in report["pooled_gradient_density"]:
            self.assertTrue(0 < share <= 1, share)
        self.assertTrue(1 < report["loss"] < 4, report["loss"])  # ten classes: near log 10
        self.assertGreater(report["step_peak_bytes"], 8 * 784 * 4)  # at least its images

    def test_a_loader_is_compared_with_memory(self):
        words = ["loader", "--model", "mlp", "--data", self.data, "--seconds", 0.01, "--batch"]
        report = bench(*words, 8, "--augment", "crop:2,mixup", "--loader-threads", 2, "--normalize")
        self.assertEqual((report["augment"], report["loader_threads"]), ("crop:2,mixup", 2))
        self.assertEqual([way["batches"] for way in report["ways"]], ["from memory", "by the loader", "made by the step"])
        memory, loader, _ = report["ways"]
        self.assertEqual((memory["share_of_memory_median"], memory["share_of_memory_p10"]), (1, 1))
        share = memory["step_seconds_median"] / loader["step_seconds_median"]
        self.assertAlmostEqual(loader["share_of_memory_median"], share, delta=1e-5 * share)
        self.assertEqual(bench(*words, 8)["loader_threads"], 0)  # batches of microseconds are worth no thread
        refused = run("bench", *words, 65)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("has 64 training examples, fewer than a batch of 65", refused.stderr)

    def test_inference_has_neither_loss_nor_density(self):
        report = bench("step", "--model", "mlp", "--data", self.data, "--mode", "inference", "--steps", 3)
        self.assertFalse({"loss", "pooled_gradient_density"} & set(report))

    def test_a_step_starts_from_a_checkpoint(self):
        out = Path(self.temporary.name, "run")
        trained = run("train", "mlp", "--data", self.data, "--epochs", 40, "--optimizer", "adam", "--out", out, "--quiet")
        self.assertEqual(trained.returncode, 0, trained.stderr)
        words = ["step", "--data", self.data, "--steps", 1, "--lr", 0, "--optimizer", "adam"]
        fresh = bench(*words, "--model", "mlp")["loss"]
        self.assertLess(bench(*words, "--model", "mlp", "--checkpoint", out)["loss"], 0.9 * fresh)
        for optimizer, goes_on in ("adam", True), ("sgd", False):
            report = bench("step", "--data", self.data, "--steps", 1, "--optimizer", optimizer, "--model", "mlp", "--checkpoint", out / "last.safetensors")
            self.assertEqual(report["optimizer_state_from_checkpoint"], goes_on)
        other = run("bench", *words, "--model", "lenet5", "--checkpoint", out)
        self.assertEqual(other.returncode, 2, other.stderr)
        self.assertIn("holds the model mlp, not lenet5", other.stderr)

    def test_roofline_counts_operations_and_bytes(self):
        words = ["roofline", "--model", "mlp", "--data", self.data, "--batch", 16, "--runs", 3]
        report = bench(*words, "--eager")
        one, both = report["ceilings"]["one"], report["ceilings"]["all"]
        self.assertGreater(one["operations_per_second"], 0)
        self.assertGreaterEqual(both["threads"], one["threads"])
        linear = [step for step in report["steps"] if step["name"] == "linear"]
        self.assertEqual([step["flops"] for step in linear], [2 * 16 * 784 * 128, 2 * 16 * 128 * 10])
        self.assertEqual(linear[0]["bytes"], 4 * (16 * 784 + 784 * 128 + 128 + 16 * 128))
        products = [step["flops"] for step in report["steps"] if step["name"] in ("matmul", "linear_weight_gradient")]
        self.assertIn(2 * 16 * 784 * 128, products)  # the first layer's weight gradient
        for step in report["steps"]:
            self.assertGreater(step["seconds"], 0)

    def test_roofline_of_a_program_counts_what_its_fused_steps_do(self):
        words = ["roofline", "--model", "mlp", "--data", self.data, "--batch", 16, "--runs", 3]
        steps = [bench(*words, *more)["steps"] for more in ([], ["--eager"])]
        products = [[s["flops"] for s in each if s["name"].startswith(("linear", "matmul"))] for each in steps]
        self.assertEqual(sorted(products[0]), sorted(products[1]))
        self.assertLess(len(steps[0]), len(steps[1]))

    def test_steps_that_go_through_a_batch_in_pieces_are_told_whole(self):
        words = ["--model", "fashion_cnn", "--data", self.data, "--threads", 1, "--deterministic"]
        explained = bench("explain", *words, "--batch", 64, "--replays", 1)["steps"]
        pieces = [step["pieces"] for step in explained]
        self.assertEqual(set(pieces), {1, 2}, explained)
        text = run("bench", "explain", *words, "--batch", 64, "--replays", 1).stdout
        self.assertIn("2 × ", text)
        self.assertIn("once for each of n pieces of the batch", text)
        cut, whole = (bench("roofline", *words, "--batch", batch, "--runs", 1)["steps"] for batch in (64, 16))
        self.assertEqual([step["name"].split()[0] for step in cut], [step["op"] for step in explained])
        flops = {n: sum(step["flops"] for step in steps if "conv2d" in step["name"]) for n, steps in ((64, cut), (16, whole))}
        self.assertAlmostEqual(flops[64] / flops[16], 4)

    def test_a_compiled_step_reports_its_memory_and_threads(self):
        words = ["step", "--model", "lenet5", "--data", self.data, "--steps", 2]
        compiled = bench(*words)
        self.assertGreater(compiled["arena_bytes"], 0)
        self.assertTrue(1 <= compiled["threads_used"] <= compiled["threads"], compiled)
        eager = bench(*words, "--eager")
        self.assertNotIn("arena_bytes", eager)
        self.assertEqual(eager["eager"], True)

    def test_grid_compares_with_onednn_or_says_that_it_is_absent(self):
        words = ["grid", "--only", "6→16 5×5", "--batch", 2, "--seconds", 0.01]
        result = run("bench", *words, "--json")
        if result.returncode == 3:
            self.assertIn("oneDNN", result.stderr)
            return
        self.assertEqual(result.returncode, 0, result.stderr)
        shapes = json.loads(result.stdout)["shapes"]
        self.assertEqual(len(shapes), 2)
        for shape in shapes:
            for kind in ("own", "chosen"):
                ratio = shape["onednn_seconds_p10"] / shape[f"{kind}_seconds_p10"]
                self.assertAlmostEqual(shape[f"{kind}_ratio"], ratio)
            self.assertIn("onednn", shape["onednn"])
            self.assertNotIn("onednn", shape["own"])
        for gradient in ("input_gradient", "weight_gradient"):
            for density in (0.25, 1):
                report = bench(*words, "--pass", gradient, "--density", density)
                self.assertEqual(len(report["shapes"]), 2)
                self.assertEqual(report["density"], density)

    def test_wrong_usage_is_2(self):
        for words in ([], ["paint"], ["grid", "--only", "no such shape"], ["roofline", "--device", "simt"]):
            self.assertEqual(run("bench", *words).returncode, 2, words)


if __name__ == "__main__":
    unittest.main(verbosity=1)
