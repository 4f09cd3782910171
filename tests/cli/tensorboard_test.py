#!/usr/bin/env python3
"""Event files of `treadle train --tensorboard`, read with TensorBoard itself.

usage: tensorboard_test.py PROGRAM

Needs a Python that has the package tensorboard: the one that tests/cli/tensorboard_setup makes, or the one that
TREADLE_TENSORBOARD_PYTHON names. Without it the reading is skipped.
"""

import json
import os
import signal
import subprocess
import unittest
from pathlib import Path

from program import PROGRAM, TrainingTest, last_json

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(os.environ.get("TREADLE_TENSORBOARD_PYTHON", ROOT / "build/tensorboard/bin/python"))


class TensorBoard(TrainingTest):
    WORDS = ["--tensorboard", "--batch-size", 16, "--epochs"]

    def setUp(self):
        super().setUp()
        self.run_folder = self.folder / "run"

    def files(self):
        return list(self.run_folder.glob("events.out.tfevents.*"))

    def read(self):
        if not PYTHON.exists():
            self.skipTest(f"TensorBoard: {PYTHON} is not there; tests/cli/tensorboard_setup makes it")
        result = subprocess.run([PYTHON, ROOT / "tests/cli/read_events.py", self.run_folder], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout.splitlines()[-1])

    def test_it_reads_what_the_run_did(self):
        report = last_json(self.train(*self.WORDS, 3))
        events = self.read()
        losses = events["scalars"]["train/loss"]
        self.assertEqual([step for step, _ in losses], list(range(1, 13)))
        for (_, ours), theirs in zip(losses, report["losses"]):
            self.assertAlmostEqual(ours, theirs, delta=1e-6 * theirs)
        self.assertEqual([step for step, _ in events["scalars"]["test/accuracy"]], [4, 8, 12])
        self.assertAlmostEqual(events["scalars"]["test/accuracy"][-1][1], report["test_accuracy"], delta=1e-6)
        self.assertEqual(events["histograms"]["parameters/fc1.weight"], [[step, 100352, 100352] for step in (4, 8, 12)])
        self.assertEqual(events["images"], {"train/images": [[8 * 28 + 7 * 2, 4 * 28 + 3 * 2]]})
        hparams = events["hparams"]
        self.assertEqual((hparams["model"], hparams["batch_size"], hparams["normalize"]), ("mlp", 16, False))

    def test_a_resumed_run_takes_steps_back(self):
        self.assertEqual(self.train(*self.WORDS, 2).returncode, 0)
        state = (self.run_folder / "last.safetensors").read_bytes()
        self.assertEqual(self.train("--resume", "--epochs", 3).returncode, 0)
        (self.run_folder / "last.safetensors").write_bytes(state)  # as if killed before the third epoch was saved
        report = last_json(self.train("--resume", "--epochs", 4))
        self.assertEqual(len(report["losses"]), 8)
        self.assertEqual(len(self.files()), 3)
        scalars = self.read()["scalars"]
        self.assertEqual([step for step, _ in scalars["train/loss"]], list(range(1, 17)))
        self.assertEqual([step for step, _ in scalars["test/loss"]], [4, 8, 12, 16])

    def test_a_new_run_replaces_the_files_once_it_has_something(self):
        self.assertEqual(self.train(*self.WORDS, 3).returncode, 0)
        before = self.files()
        self.assertEqual(self.train(*self.WORDS, 3, "--optimizer", "sgd", "--lr", "1e30").returncode, 1)
        self.assertEqual(self.files(), before)
        self.assertEqual(self.train(*self.WORDS, 3).returncode, 0)
        self.assertEqual(len(self.files()), 1)
        self.assertNotEqual(self.files(), before)

    def test_an_interrupted_run_has_its_steps(self):
        words = ["train", "mlp", "--data", self.data, "--out", self.run_folder, "--tensorboard", "--epochs", 100000]
        process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            if line.startswith("epoch 1/"):
                break
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        steps = [step for step, _ in self.read()["scalars"]["train/loss"]]
        self.assertEqual(steps, list(range(1, len(steps) + 1)))


if __name__ == "__main__":
    unittest.main(verbosity=1)
