#!/usr/bin/env python3
"""A training that is killed at any moment and resumed ends with the bits of one that nobody disturbed.

usage: kill_resume_test.py PROGRAM

TREADLE_KILLS sets how often each run is killed (4), TREADLE_KILL_SEED when: the seed of a run is printed.
"""

import json
import os
import random
import subprocess
import time
import unittest

from program import PROGRAM, TrainingTest, last_json, run
from safetensors_file import read_safetensors

KILLS = int(os.environ.get("TREADLE_KILLS", 4))
SEED = int(os.environ.get("TREADLE_KILL_SEED", random.SystemRandom().randrange(1 << 32)))


class KillAndResume(TrainingTest):
    def command(self, out, words):
        """Goes on with the run in `out`, if it has a state, and otherwise begins it."""
        how = "--resume" if (out / "last.safetensors").exists() else "--overwrite"
        return ["train", words[0], "--data", self.data, "--out", out, "--deterministic", "--quiet", how, *words[1:]]

    def finish(self, out, words):
        """Its report."""
        result = run(*self.command(out, words), "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return last_json(result)

    def kill(self, out, words, seconds):
        """Whether the process was still running after so many seconds."""
        process = subprocess.Popen([PROGRAM, *map(str, self.command(out, words))], stderr=subprocess.PIPE)
        time.sleep(seconds)
        running = process.poll() is None
        process.kill()
        errors = process.communicate()[1]
        self.assertTrue(running or process.returncode == 0, errors)
        return running

    def assert_readable(self, out):
        for file in out.glob("*.safetensors"):
            read_safetensors(file)
        lines = out / "metrics.jsonl"
        if lines.exists():
            for line in lines.read_text().splitlines():
                json.loads(line)
        if (out / "last.safetensors").exists():
            evaluated = run("eval", out, "--limit-batches", 1)
            self.assertEqual(evaluated.returncode, 0, evaluated.stderr)

    def metrics(self, out):
        lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]

    def check(self, *words):
        whole, killed = self.folder / "whole", self.folder / "killed"
        wanted, moments = self.finish(whole, words), random.Random(SEED)
        kills = 0
        for _ in range(KILLS):
            kills += self.kill(killed, words, moments.uniform(0, wanted["total_seconds"]))
            self.assert_readable(killed)
        report = self.finish(killed, words)
        for figure in ("validation_accuracy", "test_accuracy", "test_loss"):
            self.assertEqual(report[figure], wanted[figure])
        self.assertEqual(self.metrics(killed), self.metrics(whole))
        self.assertEqual(sorted(file.name for file in killed.iterdir()), sorted(file.name for file in whole.iterdir()))
        for file in whole.glob("*.safetensors"):
            self.assertEqual(read_safetensors(killed / file.name), read_safetensors(file), f"seed {SEED}, {kills} kills")

    def test_while_it_saves_all_the_time(self):
        self.check("mlp", "--epochs", 8, "--batch-size", 7, "--optimizer", "adam", "--checkpoint-every", 1)

    def test_within_epochs(self):
        self.check("lenet5", "--epochs", 6, "--batch-size", 4, "--optimizer", "momentum", "--checkpoint-every", 5)

    def test_with_a_validation_part(self):
        words = ["--schedule", "one-cycle", "--lr", 0.03, "--validation", 0.25, "--checkpoint-every", "0.05s"]
        self.check("mlp", "--epochs", 20, "--batch-size", 5, *words)

    def test_with_augmented_images(self):
        words = ["--augment", "crop:2,flip,rotate:10,mixup:0.4", "--label-smoothing", 0.1, "--checkpoint-every", 3]
        self.check("mlp", "--epochs", 8, "--batch-size", 7, "--loader-threads", 2, *words)


if __name__ == "__main__":
    print(f"TREADLE_KILL_SEED={SEED}", flush=True)
    unittest.main(verbosity=1)
