#!/usr/bin/env python3
"""Run folders of `treadle train`: nothing is lost by a mistake, a kill, a full disk or a second process.

usage: run_folder_test.py PROGRAM
"""

import contextlib
import json
import os
import pty
import random
import resource
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from program import PROGRAM, TrainingTest, last_json, run, write_dataset

FILES = ["config.toml", "last.safetensors", "metrics.csv", "metrics.jsonl", "test_figures.json"]


def contents(folder):
    """Every file of a folder, but of those in it, with its bytes and the time of its last change."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}


class RunFolderTest(TrainingTest):
    def setUp(self):
        super().setUp()
        self.run_folder = self.folder / "run"
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.communicate()
        super().tearDown()

    def command(self, *words, model="mlp", out=None):
        return [PROGRAM, "train", model, "--data", self.data, "--out", out or self.run_folder, *map(str, words)]

    def start(self, *words, **options):
        """Starts a long training and waits for its first epoch."""
        command = self.command("--epochs", 100000, "--batch-size", 8, *words)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.processes.append(process)
        for line in process.stdout:
            if line.startswith("epoch 1/"):
                return process
        self.fail(process.stderr.read())

    def metrics(self, folder=None):
        lines = (folder or self.run_folder) / "metrics.jsonl"
        return [json.loads(line) for line in lines.read_text().splitlines()]

    def assert_untouched(self, before):
        after = contents(self.run_folder)
        self.assertEqual(set(after), set(before))
        self.assertEqual([name for name in before if after[name] != before[name]], [])


class UsedFolders(RunFolderTest):
    def test_a_used_folder_needs_resume_or_overwrite(self):
        self.assertEqual(self.train("--epochs", 2).returncode, 0)
        before = contents(self.run_folder)
        result = run(*self.command("--epochs", 1)[1:])
        self.assert_fails(result, 2, str(self.run_folder), "--resume", "--overwrite")
        self.assert_untouched(before)
        self.assert_fails(run(*self.command("--resume", "--overwrite")[1:]), 2, "--overwrite", "--resume")
        self.assert_fails(run("train", "mlp", "--overwrite", cwd=self.folder), 2, "--overwrite needs --out")
        self.assert_untouched(before)
        self.assertEqual(run(*self.command("--epochs", 1, "--overwrite")[1:]).returncode, 0)
        self.assertEqual(len(self.metrics()), 1)

    def test_what_is_wrong_is_found_before_anything_is_written(self):
        self.assertEqual(self.train("--epochs", 2).returncode, 0)
        before = contents(self.run_folder)
        wrong = [
            (2, "--schedule", "cosin"), (2, "--optimizer", "lion"), (2, "--lr", "nan"), (2, "--device", "tpu"),
            (2, "--variant", "conv2d=fft"), (2, "--preset", "slow"), (2, "--validation", "0.001"),
            (2, "--validation", "nan"), (2, "--warm-up", "nan", "--schedule", "one-cycle"), (2, "--batch-size", "0"),
            (3, "--data", self.folder / "none"), (2, "--data", "no-such-set"), (1, "--data", "cifar-10"),
        ]  # fmt: skip
        (self.folder / "cifar-10").mkdir()
        write_dataset(self.folder / "cifar-10", labels=lambda n: n % 12)  # twelve classes
        for code, *words in wrong:
            for how in ("--overwrite", "--resume"):
                data = [] if "--data" in words else ["--data", self.data]
                result = run("train", "mlp", *data, "--out", self.run_folder, how, *words, environment={"TREADLE_DATA": str(self.folder)})
                # Where it is resumed, the same mistake may be a difference from the run: always 2, or 1 for data.
                self.assertIn(result.returncode, {code} if how == "--overwrite" else {code, 2}, (how, words, result.stderr))
                self.assert_untouched(before)
        self.assert_fails(run("train", "lenet5", "--out", self.run_folder, "--resume"), 2, "holds the model mlp, not lenet5")
        self.assert_untouched(before)

    def test_a_new_folder_is_not_made_for_a_mistake(self):
        for words in (["--schedule", "cosin"], ["--data", self.folder / "none"], ["--optimizer", "sgd", "--lr", "1e30"]):
            result = run("train", "mlp", "--data", self.data, "--out", self.run_folder, *words)
            self.assertNotEqual(result.returncode, 0, words)
            self.assertFalse(self.run_folder.exists(), words)
        self.assert_fails(run(*self.command("--resume")[1:]), 1, "holds no last.safetensors", "--resume")
        self.assertFalse(self.run_folder.exists())

    def test_a_new_run_that_fails_leaves_the_old_one(self):
        self.assertEqual(self.train("--epochs", 2, "--validation", 0.25).returncode, 0)
        before = contents(self.run_folder)
        self.assertEqual(set(before), {*FILES, "best.safetensors"})
        self.assert_fails(self.train("--optimizer", "sgd", "--lr", "1e30"), 1, "at step")
        self.assert_untouched(before)

    def test_a_new_run_that_saves_leaves_no_mixture(self):
        self.assertEqual(self.train("--epochs", 3, "--validation", 0.25, "--seed", 5).returncode, 0)
        self.assertEqual(self.train("--epochs", 1, "--seed", 6).returncode, 0)
        self.assertEqual(set(contents(self.run_folder)), set(FILES))
        self.assertEqual([line["epoch"] for line in self.metrics()], [1])
        self.assertIn("seed = 6", (self.run_folder / "config.toml").read_text())

    def test_without_out_every_run_has_a_folder_of_its_own(self):
        command = [PROGRAM, "train", "mlp", "--data", self.data, "--epochs", "1", "--json"]
        processes = [subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        reports = [json.loads(process.communicate()[0].splitlines()[-1]) for process in processes]
        folders = [f"runs/mlp{end}" for end in ("", "-2", "-3", "-4")]
        self.assertEqual(sorted(report["checkpoint"] for report in reports), sorted(f"{folder}/last.safetensors" for folder in folders))
        for folder in folders:
            self.assertEqual(set(contents(self.folder / folder)), set(FILES))
        self.assert_fails(run("train", "mlp", "--resume", cwd=self.folder), 2, "several runs", *folders, "--out")
        for folder in folders[1:]:
            shutil.rmtree(self.folder / folder)
        self.assertEqual(last_json(run("train", "mlp", "--resume", "--json", cwd=self.folder))["losses"], [])
        self.assert_fails(run("train", "lenet5", "--resume", cwd=self.folder), 1, "no run of lenet5")

    def test_one_process_at_a_time(self):
        process = self.start()
        for how in ("--resume", "--overwrite"):
            result = run(*self.command(how)[1:], timeout=60)
            self.assert_fails(result, 1, str(self.run_folder), f"in use by process {process.pid} on ", " UTC")
        link = self.folder / "link"
        link.symlink_to(self.run_folder)
        self.assert_fails(run(*self.command("--resume", out=link)[1:], timeout=60), 1, f"process {process.pid}")
        process.kill()  # it cannot clean up: its lock must not count any more
        process.wait()
        self.assertTrue((self.run_folder / ".lock").exists())
        resumed = self.train("--resume", "--epochs", 1)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(set(contents(self.run_folder)), set(FILES))

    def test_of_two_that_start_together_one_gets_the_folder(self):
        commands = [self.command("--epochs", 30, "--seed", seed) for seed in (1, 2)]
        processes = [subprocess.Popen(c, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for c in commands]
        errors = [process.communicate()[1] for process in processes]
        codes = [process.returncode for process in processes]
        # The slower one finds the folder locked (1) or, where it came after the first one's end, used (2).
        self.assertEqual(sorted(codes)[0], 0, errors)
        self.assertIn(sorted(codes)[1], (1, 2), errors)
        winner = 1 + codes.index(0)
        self.assertIn(f"seed = {winner}\n", (self.run_folder / "config.toml").read_text())
        self.assertEqual([line["epoch"] for line in self.metrics()], list(range(1, 31)))


class Data(RunFolderTest):
    def test_a_run_goes_on_from_anywhere(self):
        first = run("train", "mlp", "--data", "data", "--epochs", 1, "--out", "run", "--json", cwd=self.folder)
        self.assertEqual(first.returncode, 0, first.stderr)
        for words in (["train", "mlp", "--resume", "--epochs", 2, "--out", self.run_folder], ["eval", self.run_folder]):
            result = run(*words, cwd="/")
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.metrics()), 2)

    def test_data_that_moved_are_named_anew(self):
        self.assertEqual(self.train("--epochs", 1).returncode, 0)
        moved = self.folder / "elsewhere"
        self.data.rename(moved)
        result = run("train", "mlp", "--resume", "--epochs", 2, "--out", self.run_folder)
        self.assert_fails(result, 3, str(self.data), "--data")
        result = run("train", "mlp", "--resume", "--epochs", 2, "--out", self.run_folder, "--data", moved)
        self.assertEqual(result.returncode, 0, result.stderr)
        again = run("train", "mlp", "--resume", "--epochs", 3, "--out", self.run_folder)  # it knows the new place
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(len(self.metrics()), 3)

    def test_other_data_are_refused(self):
        self.assertEqual(self.train("--epochs", 1).returncode, 0)
        before = contents(self.run_folder)
        write_dataset(self.data, labels=lambda n: (n + 1) % 10)
        self.assert_fails(self.train("--resume", "--epochs", 2), 1, "not the data set", "64 training and 32 test images")
        write_dataset(self.data, train=65)
        self.assert_fails(self.train("--resume", "--epochs", 2), 1, "65 training", "64 training")
        self.assert_untouched(before)


class Killed(RunFolderTest):
    WORDS = ["--epochs", 40, "--batch-size", 8, "--deterministic", "--validation", 0.25]

    def assert_whole(self, folder):
        self.assertEqual(set(contents(folder)), {*FILES, "best.safetensors"})
        self.assertEqual([line["epoch"] for line in self.metrics(folder)], list(range(1, 41)))

    def kill_at_a_random_moment(self, *words):
        process = subprocess.Popen(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            # Most of it falls into the epochs, which are over within a fraction of a second.
            process.wait(timeout=random.uniform(0.05, 1.0))
        process.kill()
        _, errors = process.communicate()
        self.assertIn(process.returncode, (0, -signal.SIGKILL), errors)

    def test_subnormal_numbers_stay_kept_when_a_run_goes_on(self):
        self.assertEqual(self.train("--epochs", 1, "--keep-subnormals").returncode, 0)
        self.assertEqual(self.train("--resume", "--epochs", 2).returncode, 0)
        self.assertIn("keep_subnormals = true\n", (self.run_folder / "config.toml").read_text())

    def test_a_kill_while_another_run_is_replaced_leaves_one_of_the_two(self):
        self.assertEqual(self.train(*self.WORDS, "--seed", 1).returncode, 0)
        for attempt in range(6):
            self.kill_at_a_random_moment(*self.WORDS, "--seed", 2, "--overwrite")
            result = self.train("--resume")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assert_whole(self.run_folder)
            seed = last_json(result)["seed"]
            self.assertIn(f"seed = {seed}\n", (self.run_folder / "config.toml").read_text())
            best = last_json(run("eval", self.run_folder / "best.safetensors", "--json"))
            self.assertEqual(best["test_accuracy"], last_json(result)["test_accuracy"])

    def test_leftovers_of_killed_writers_go(self):
        self.assertEqual(self.train("--epochs", 1).returncode, 0)
        (self.run_folder / f"last.safetensors.tmp-{2**22}").write_bytes(b"half")  # beyond the largest process number
        self.assertEqual(self.train("--resume").returncode, 0)
        self.assertEqual(set(contents(self.run_folder)), set(FILES))

    def test_every_polite_signal_saves(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start("--overwrite")
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, errors)
            self.assertIn("--resume", errors)
            epochs = len(self.metrics())
            self.assertGreater(epochs, 0)
            resumed = self.train("--resume", "--epochs", epochs + 1)
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
            self.assertEqual([line["epoch"] for line in self.metrics()], list(range(1, epochs + 2)))

    def test_a_reader_that_has_enough_ends_with_a_saved_state(self):
        process = self.start()
        process.stdout.close()
        process.wait(timeout=60)
        self.assertEqual(process.returncode, 130, process.stderr.read())
        self.assertEqual(self.train("--resume", "--epochs", 1).returncode, 0)

    def test_under_nohup_a_hang_up_is_ignored(self):
        process = self.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        before = len(self.metrics())
        self.wait_for(lambda: len(self.metrics()) > before + 3 or process.poll() is not None)
        self.assertIsNone(process.poll())

    def wait_for(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_a_terminal_that_closes_ends_with_a_saved_state(self):
        master, slave = pty.openpty()
        words = self.command("--epochs", 100000, "--batch-size", 8)
        process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        self.processes.append(process)
        os.close(slave)
        seen = b""
        while b"epoch 3/" not in seen:
            seen += os.read(master, 4096)
        os.close(master)
        process.send_signal(signal.SIGHUP)  # what the system sends to the session of that terminal
        process.wait(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertGreaterEqual(len(self.metrics()), 2)
        self.assertEqual(self.train("--resume", "--epochs", 1).returncode, 0)


class FullDisk(RunFolderTest):
    def limited(self, *words, limit):
        def set_limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.run(self.command(*words), capture_output=True, text=True, preexec_fn=set_limit)

    def test_the_old_files_stay_and_nothing_is_left_behind(self):
        self.assertEqual(self.train("--epochs", 1, "--validation", 0.25).returncode, 0)
        before = contents(self.run_folder)
        for words in (["--epochs", 2, "--overwrite"], ["--epochs", 2, "--resume"]):
            result = self.limited(*words, limit=1 << 16)
            self.assert_fails(result, 1, "cannot write", "last.safetensors", "free some space")
            self.assert_untouched(before)
        self.assertEqual(self.train("--resume", "--epochs", 2).returncode, 0)

    def test_a_first_run_leaves_no_folder(self):
        self.assert_fails(self.limited("--epochs", 1, limit=1 << 16), 1, "cannot write")
        self.assertFalse(self.run_folder.exists())


class Figures(RunFolderTest):
    def test_without_a_validation_part_the_last_epoch_counts(self):
        report = last_json(self.train("--epochs", 3, "--batch-size", 8))
        self.assertIsNone(report["validation_accuracy"])
        self.assertEqual(report["checkpoint"], str(self.run_folder / "last.safetensors"))
        self.assertEqual(report["test_accuracy"], self.metrics()[-1]["test_accuracy"])
        self.assertNotIn("validation_accuracy", self.metrics()[-1])

    def test_with_one_all_figures_are_those_of_the_best(self):
        # A rate at which accuracy goes up and down.
        words = ["--epochs", 12, "--batch-size", 4, "--validation", 0.25, "--lr", 0.03, "--schedule", "constant"]
        result = self.train(*words)
        report = last_json(result)
        self.assertEqual(report["checkpoint"], str(self.run_folder / "best.safetensors"))
        accuracies = [line["validation_accuracy"] for line in self.metrics()]
        best = accuracies.index(max(accuracies))
        self.assertEqual(report["validation_accuracy"], accuracies[best])
        self.assertEqual(report["test_accuracy"], self.metrics()[best]["test_accuracy"])
        self.assertEqual(report["test_loss"], self.metrics()[best]["test_loss"])
        for checkpoint in (report["checkpoint"], self.run_folder):
            again = last_json(run("eval", checkpoint, "--json"))
            self.assertEqual(again["test_accuracy"], report["test_accuracy"])
            self.assertAlmostEqual(again["test_loss"], report["test_loss"], delta=1e-5 * report["test_loss"])
        self.assertIn(f"validation accuracy {100 * max(accuracies):.2f} %", result.stdout)
        self.assertEqual(len(report["losses"]), 12 * 12)  # 48 images train
        resumed = last_json(self.train("--resume"))
        for name in ("validation_accuracy", "test_accuracy", "checkpoint"):
            self.assertEqual(resumed[name], report[name])

    def test_a_cut_test_set_is_said(self):
        result = self.train("--epochs", 1, "--batch-size", 8, "--limit-batches", 2)
        self.assertIn("of the first 16 of 32 test images", result.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=1)
