#!/usr/bin/env python3
"""Runs the treadle program as a user does: exit codes, messages, JSON, interruption, resuming.

usage: cli_test.py PROGRAM
"""

import json
import os
import resource
import signal
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import PROGRAM, TrainingTest, last_json, run, write_dataset, write_idx, write_png

FASHION = Path("/usr/share/datasets/fashion-mnist")
TRAIN_KEYS = {
    "model", "device", "data", "epochs", "batch_size", "seed", "precision", "validation_accuracy", "test_accuracy",
    "test_loss", "test_images", "images_in_test_set", "train_seconds", "total_seconds", "images_per_second", "parameters",
    "peak_memory_bytes", "allocator_peak_bytes", "losses", "checkpoint",
}  # fmt: skip


class Usage(TrainingTest):
    def test_every_command_has_help_with_an_example(self):
        for command in "train eval predict plot summary info ops datasets models bench".split():
            result = run(command, "--help")
            self.assertEqual(result.returncode, 0, command)
            self.assertIn("Example: treadle " + command, result.stdout)

    def test_wrong_usage_is_2(self):
        for words in ([], ["paint"], ["train"], ["train", "mlp", "--epochs", "none"], ["summary", "no_such_model"], ["ops", "no_such_op"]):
            self.assertEqual(run(*words).returncode, 2, words)
        self.assert_fails(run("train", "resnet"), 2, "no model is called 'resnet'", "fashion_cnn")
        self.assert_fails(self.train("--optimizer", "lion"), 2, "'lion'", "adamw")
        self.assert_fails(self.train("--variant", "conv2d=fft"), 2, "conv2d has no variant 'fft'")
        self.assert_fails(self.train("--device", "tpu"), 2, "'tpu'", "simt")

    def test_absent_things_are_3(self):
        empty = {"TREADLE_DATA": "/nonexistent", "XDG_DATA_HOME": "/nonexistent"}
        self.assert_fails(run("train", "mlp", "--data", "mnist", environment=empty), 3, "mnist")
        if json.loads(run("info", "--json").stdout)["auto"] == "cpu":
            self.assert_fails(self.train("--device", "cuda"), 3, "cuda is not available")


class Tables(TrainingTest):
    def test_info_names_the_plugins_and_says_why_one_is_not_used(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = Path(folder, "libtreadle-cuda.so")
            broken.write_text("not a library", encoding="utf-8")
            info = json.loads(run("info", "--json", environment={"TREADLE_PLUGINS": folder}).stdout)
        plugins = {plugin["name"]: plugin for plugin in info["plugins"]}
        self.assertEqual(set(plugins), {"cuda", "onednn", "curl"})
        self.assertFalse(plugins["cuda"]["available"])
        self.assertEqual(plugins["cuda"]["description"], str(broken))
        self.assertIn("cannot be opened", plugins["cuda"]["reason"])
        reasons = {entry["name"]: entry["reason"] for entry in info["devices"] + info["engines"]}
        self.assertEqual(reasons["cuda:0"], plugins["cuda"]["reason"])
        for library in ("cuBLAS", "cuDNN"):
            self.assertIn(plugins["cuda"]["reason"], reasons[library])

    def test_info_says_what_is_there_and_why_not(self):
        info = json.loads(run("info", "--json").stdout)
        names = {entry["name"]: entry for entry in info["devices"] + info["engines"]}
        self.assertTrue(names["cpu"]["available"] and names["simt"]["available"] and names["own"]["available"])
        for entry in names.values():
            self.assertTrue(entry["available"] or entry["reason"], entry)

    def test_programs_show_themselves(self):
        result = run("summary", "fashion_cnn", "--program", "--batch-size", 4)
        self.assertEqual(result.returncode, 0, result.stderr)
        for word in ("inference", "training with sgd", "conv2d_max_pool2d", "fused:", "arena", "linear_sgd_update"):
            self.assertIn(word, result.stdout)
        pinned = run("summary", "fashion_cnn", "--program", "--variant", "conv2d=im2col")
        self.assertRegex(pinned.stdout, r"conv2d +im2col")

    def test_measured_variants_are_shown_kept_and_cleared(self):
        with tempfile.TemporaryDirectory() as cache:
            environment = {"TREADLE_CACHE": cache}
            words = ["bench", "explain", "--model", "mlp", "--batch", 4, "--replays", 3]
            report = last_json(run(*words, "--json", environment=environment))
            self.assertIn("linear_relu", {step["op"] for step in report["steps"]})
            file = Path(cache, "variants.json")
            self.assertTrue(json.loads(file.read_text()))
            self.assertIn("linear_relu", run(*words, environment=environment).stdout)
            self.assertEqual(run("bench", "explain", "--clear", environment=environment).returncode, 0)
            self.assertFalse(file.exists())

    def test_lists(self):
        models = {model["model"]: model for model in json.loads(run("models", "--json").stdout)["models"]}
        self.assertEqual(models["fashion_cnn"]["parameters"], 896522)
        self.assertIn(["accuracy", 0.917], [[r["preset"], r.get("accuracy")] for r in models["fashion_cnn"]["recipes"]])
        self.assertRegex(run("models").stdout, r"\nperceptron --preset separable  +separable  +at least 100.00 %\n")
        ops = {op["name"]: op for op in json.loads(run("ops", "--json").stdout)["ops"]}
        self.assertIn("implicit_gemm", [v["name"] for v in ops["conv2d"]["variants"]])
        rungs = {v["name"]: v["rung"] for v in ops["sum"]["variants"] if v["device"] == "simt"}
        self.assertLess(rungs["naive"], rungs["sequential"])
        ladder = run("ops", "sum").stdout.split("ladder of kernels:")[1]
        self.assertLess(ladder.index("1. naive: a thread for each result"), ladder.index("sequential:"))
        self.assertIn("fashion-mnist", run("datasets").stdout)
        self.assertEqual(json.loads(run("summary", "fashion_cnn", "--json").stdout)["parameters"], 896522)
        self.assertIn("896,522", run("summary", "fashion_cnn").stdout)


class Training(TrainingTest):
    def test_json_and_files(self):
        result = self.train("--epochs", 6, "--batch-size", 8)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = last_json(result)
        self.assertEqual(set(report), TRAIN_KEYS)
        self.assertEqual(len(report["losses"]), 6 * 8)
        self.assertGreater(report["test_accuracy"], 0.9)
        names = sorted(path.name for path in (self.folder / "run").iterdir())
        self.assertEqual(names, ["config.toml", "last.safetensors", "metrics.csv", "metrics.jsonl", "plots", "test_figures.json"])
        lines = (self.folder / "run/metrics.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["epoch"] for line in lines], [1, 2, 3, 4, 5, 6])

        checkpoint = Path(report["checkpoint"])
        self.assertEqual(checkpoint, self.folder / "run/last.safetensors")
        self.assertGreater(last_json(run("eval", checkpoint, "--json"))["test_accuracy"], 0.9)
        self.assertEqual(run("summary", checkpoint).returncode, 0)
        write_png(self.folder / "band.png", [bytes([255 if y < 14 else 0]) * 56 for y in range(112)])
        predicted = last_json(run("predict", checkpoint, self.folder / "band.png", "--json"))
        self.assertEqual(len(predicted["results"][0]["predictions"]), 3)

    def test_presets_fill_in_what_is_not_given(self):
        def settings(model, *words):
            result = self.train("--preset", "fast", "--epochs", 1, *words, model=model)
            self.assertEqual(result.returncode, 0, result.stderr)
            return (self.folder / "run/config.toml").read_text()

        fashion, digits = settings("fashion_cnn"), settings("mnist_cnn", "--batch-size", 16)
        for text in (fashion, digits):
            self.assertIn("schedule = 'one-cycle'", text)
            self.assertIn("epochs = 1", text)
        self.assertIn("normalize = true", fashion)
        self.assertIn("batch_size = 16", digits)
        self.assert_fails(self.train("--preset", "fast"), 2, "mlp has no preset", "baseline")

    def test_a_limit_of_steps_and_one_test(self):
        words = ["--epochs", 3, "--steps", 19, "--test", "last", "--batch-size", 8, "--normalize"]
        report = last_json(self.train(*words))
        self.assertEqual(len(report["losses"]), 19)
        lines = [json.loads(line) for line in (self.folder / "run/metrics.jsonl").read_text().splitlines()]
        self.assertEqual(["test_accuracy" in line for line in lines], [False, False, True])
        checkpoint = report["checkpoint"]
        self.assertEqual(last_json(run("eval", checkpoint, "--data", self.data, "--json"))["test_accuracy"], report["test_accuracy"])
        self.assertEqual(last_json(self.train("--resume"))["losses"], [])

    def test_deterministic_runs_are_equal(self):
        first, second = (last_json(self.train("--deterministic", "--epochs", 2, model="lenet5", out=out)) for out in "ab")
        self.assertEqual(first["losses"], second["losses"])

    def test_simt_gives_the_losses_of_cpu(self):
        for model, steps in (("mlp", 8), ("fashion_cnn", 3)):
            words = ["--epochs", 1, "--limit-batches", steps, "--batch-size", 4, "--optimizer", "sgd", "--lr", 0.05]
            cpu, simt = (last_json(self.train(*words, "--device", device, model=model)) for device in ("cpu", "simt"))
            self.assertEqual(len(simt["losses"]), steps)
            for a, b in zip(cpu["losses"], simt["losses"]):
                # The longest sums have 3,200 terms; their rounding grows with the root of the length.
                self.assertAlmostEqual(a, b, delta=8 * 3200**0.5 * 2**-24 * a)

    def test_compiled_steps_give_the_losses_of_eager_ones(self):
        for model in ("mlp", "lenet5", "fashion_cnn"):
            words = ["--epochs", 1, "--limit-batches", 6, "--batch-size", 8, "--optimizer", "sgd", "--lr", 0.05]
            compiled, eager = (last_json(self.train(*words, *more, model=model)) for more in ((), ("--eager",)))
            self.assertEqual(len(compiled["losses"]), 6)
            for a, b in zip(compiled["losses"], eager["losses"]):
                # As above; Winograd's transforms add a few roundings to each product.
                self.assertAlmostEqual(a, b, delta=32 * 3200**0.5 * 2**-24 * a)

    def test_interruption_saves_and_resuming_gives_the_same_losses(self):
        words = ["--epochs", 200, "--batch-size", 2, "--deterministic"]
        command = [PROGRAM, "train", "mlp", "--data", self.data, "--out", self.folder / "cut", *map(str, words)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while "epoch 1/200" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("--resume", errors)
        resumed = last_json(self.train("--resume", out="cut"))
        whole = last_json(self.train(*words, out="whole"))
        self.assertEqual(resumed["losses"], whole["losses"][-len(resumed["losses"]) :])
        self.assertLess(len(resumed["losses"]), len(whole["losses"]))

    def test_threads_are_bound_when_they_fill_the_machine(self):
        cores = os.sched_getaffinity(0)

        def cores_of_threads(*words):
            """The cores that each thread of a training may use, seen again and again during its first epoch."""
            command = [PROGRAM, "train", "mlp", "--data", self.data, "--out", self.folder / "run", "--overwrite", "--epochs", "2000", *words]
            seen = []
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                os.set_blocking(process.stdout.fileno(), False)
                while b"epoch 1/2000" not in (process.stdout.read() or b""):
                    threads = [int(thread.name) for thread in Path(f"/proc/{process.pid}/task").iterdir()]
                    seen.append([os.sched_getaffinity(thread) for thread in threads])
                process.kill()
            return seen

        def are_bound(threads):
            return sorted(map(sorted, threads)) == [[core] for core in sorted(cores)]

        def none_is_bound(seen):
            return all(threads == [cores] * len(threads) for threads in seen)

        whole_machine = self.threads_of_program()[1] in ("1 core", f"{len(cores)} cores")
        # Threads stay bound for a tenth of a second at least, but who looks on may come too late on a busy machine.
        attempts = (cores_of_threads("--threads", str(len(cores))) for _ in range(20))
        if whole_machine:
            self.assertTrue(any(any(map(are_bound, seen)) for seen in attempts))
        elif len(cores) > 1:
            self.assertTrue(none_is_bound(next(attempts)))
        if len(cores) > 1:
            self.assertTrue(none_is_bound(cores_of_threads("--no-bind", "--threads", str(len(cores)))))
            self.assertTrue(none_is_bound(cores_of_threads("--threads", "1")))

    def threads_of_program(self, cores=None, **environment):
        """The number of threads that info tells, and what decided it, for a program that may use such cores."""
        preparation = {"preexec_fn": lambda: os.sched_setaffinity(0, cores)} if cores else {}
        result = run("info", "--json", environment={"TREADLE_THREADS": ""} | environment, **preparation)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["threads"], json.loads(result.stdout)["threads_decided_by"]

    def test_default_threads_follow_the_affinity_mask(self):
        all_cores = os.sched_getaffinity(0)
        for core in all_cores:
            threads, decided_by = self.threads_of_program({core})
            self.assertEqual(threads, 1)
            self.assertRegex(decided_by, "1 of .* cores" if os.cpu_count() > 1 else "1 core")
        self.assertLessEqual(self.threads_of_program()[0], len(all_cores))

    def test_threads_can_be_set_by_the_environment(self):
        for count in (1, 5, 17, 1024):
            self.assertEqual(self.threads_of_program(TREADLE_THREADS=str(count)), (count, "TREADLE_THREADS"))
        for text in ("0", "-1", "1025", "99999999999999999999", "two", "2.5", " 2"):
            result = run("info", environment={"TREADLE_THREADS": text})
            self.assert_fails(result, 2, f'TREADLE_THREADS is "{text}"', "from 1 to 1024")

    def test_resuming_a_finished_run_evaluates_it(self):
        first = last_json(self.train("--epochs", 2))
        again = self.train("--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(last_json(again)["losses"], [])
        self.assertEqual(last_json(again)["test_accuracy"], first["test_accuracy"])

    def test_engines_and_determinism_are_not_overruled(self):
        self.assert_fails(self.train("--engine", "own", "--variant", "conv2d=onednn"), 2, "ruled out")

    def test_resuming_with_other_settings_is_refused(self):
        self.train("--epochs", 1)
        self.assert_fails(self.train("--resume", "--batch-size", 16), 2, "--batch-size 16", "32")

    def test_nan_is_1_and_names_the_step(self):
        result = self.train("--optimizer", "sgd", "--lr", "1e30", "--epochs", 3)
        self.assert_fails(result, 1, "at step")


class BadFiles(TrainingTest):
    def test_damaged_data_is_1(self):
        images = self.data / "train-images-idx3-ubyte.gz"
        whole = images.read_bytes()
        images.write_bytes(whole[: len(whole) // 2])
        self.assert_fails(self.train(), 1, str(images))
        write_idx(images, (63, 28, 28), bytes(63 * 784))
        self.assert_fails(self.train(), 1, "63", "64")
        write_dataset(self.data, labels=lambda n: n % 12)
        self.assert_fails(self.train(model="lenet5"), 1, "12 classes, lenet5 has 10")

    def test_damaged_checkpoints_are_1(self):
        bad = self.folder / "bad.safetensors"
        bad.write_bytes(struct.pack("<Q", 1 << 40) + b"{}")
        self.assert_fails(run("eval", bad), 1, str(bad))
        self.assert_fails(run("eval", self.folder / "none.safetensors"), 1, "none.safetensors")


@unittest.skipIf(os.environ.get("TREADLE_SANITIZED"), "the sanitizers make it too slow")
@unittest.skipUnless(FASHION.exists(), "Fashion-MNIST is not installed (dataset-fashion-mnist)")
class RealData(TrainingTest):
    def test_fashion_cnn_learns(self):
        out = self.folder / "fashion"
        result = run("train", "fashion_cnn", "--epochs", 1, "--limit-batches", 60, "--out", out, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(last_json(result)["test_accuracy"], 0.6)

    def test_info_starts_quickly_enough_to_be_pleasant(self):
        def work():  # of the processors: time passes faster where others use them
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime

        before = work()
        run("info")
        self.assertLess(work() - before, 2)


if __name__ == "__main__":
    unittest.main(verbosity=1)
