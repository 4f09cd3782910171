#!/usr/bin/env python3
"""Tests of the comparison itself, run in the peers' environment: bench/peers/.venv/bin/python bench/peers/test_peers.py"""

import gzip
import json
import os
import re
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy
import onnx
import onnxruntime
import torch
import torch.nn.functional as F

import contenders
import machine
import onnx_export
import report
import runs
import train_twin
from cells import CELLS, TABLES, ArenaCell, BusyCell, Goal, LongCell, RecipeCell, RunCell, StepCell
from idx_data import load
from models import MODELS
from pytorch_twin import load_weights
from recipe import twin_options


def result(median, fast, batch=32, memory=2**20):
    return {
        "batch": batch,
        "images_per_second_median": median,
        "images_per_second_p90": fast,
        "step_seconds_median": batch / median,
        "peak_memory_bytes": memory,
    }


class OnnxModels(unittest.TestCase):
    def test_logits_are_pytorchs(self):
        shapes = {name: (1, 28, 28) for name in MODELS} | {"perceptron": (2,)}
        shapes |= {name: (3, 32, 32) for name in ("vgg_small", "resnet18_cifar", "mobilenet_cifar", "large_kernel_cnn")}
        for name, model in MODELS.items():
            torch.manual_seed(3)
            model, text = model().eval(), name == "char_gpt"
            examples = torch.randint(65, (5, 64)) if text else torch.rand(5, *shapes[name])
            with torch.inference_mode():
                expected = model(examples).numpy()
            # Rounding of a sum grows with the root of its length; the longest has 4,608 terms, 18 layers one behind the other.
            tolerance = 8 * (18 * 4608) ** 0.5 * 2**-24 * max(1, numpy.abs(expected).max())
            graph = onnx_export.export(model, examples)
            self.logits_agree(graph, examples, expected, tolerance)
            if onnx_export.relu_first(graph):
                onnx.checker.check_model(graph)
                self.logits_agree(graph, examples, expected, tolerance)

    def logits_agree(self, graph, examples, expected, tolerance):
        session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
        logits = session.run(None, {"examples": examples.numpy()})[0]
        self.assertLess(numpy.abs(logits - expected).max(), tolerance)

    def test_relu_moves_before_the_pooling_it_follows(self):
        images = torch.rand(1, 1, 28, 28)
        for name, swapped in ("fashion_cnn", 2), ("mnist_cnn", 2), ("lenet5", 0):
            graph = onnx_export.export(MODELS[name](), images)
            self.assertEqual(onnx_export.relu_first(graph), swapped, name)
            kinds = [node.op_type for node in graph.graph.node if node.op_type in ("Relu", "MaxPool")]
            self.assertEqual(kinds[:4], ["Relu", "MaxPool"] * 2, name)

    def test_cells_say_where_it_follows(self):
        for cell in CELLS:
            if isinstance(cell, StepCell) and cell.mode == "inference":
                self.assertEqual(cell.relu_behind_pooling, cell.model in ("fashion_cnn", "mnist_cnn"), cell.name)


class Rows(unittest.TestCase):
    def setUp(self):
        self.cell = next(cell for cell in CELLS if cell.name == "fashion_cnn/train/32")
        self.tuned, self.installed = contenders.PYTORCH["tuned"], contenders.PYTORCH["as installed"]
        self.results = {
            contenders.TREADLE: [result(500, 600, memory=80), result(520, 640, memory=90)],
            contenders.PYTORCH["default layout"]: [result(40, 50, memory=400), result(42, 48, memory=410)],
            self.installed: [result(100, 101, memory=300), result(80, 99, memory=320)],
            self.tuned: [result(98, 120, memory=310), result(102, 130, memory=300)],
        }

    def rows(self, peak=0.0):
        return {row.cell.rpartition(", ")[2]: row for row in report.step_rows(self.cell, self.results, peak)}

    def test_the_best_configuration_counts(self):
        row = self.rows()[self.cell.name]
        self.assertEqual(row.which, "PyTorch: channels_last, tuned")
        self.assertEqual(row.ratio, "5.10× / 4.96×")  # 510 / 100 and 620 / 125
        self.assertEqual(row.rounds, "5.10–5.10×")
        self.assertEqual(row.met, "yes")

    def test_single_configurations_roofline_and_memory(self):
        rows = self.rows(peak=300 * 60.01e6)
        self.assertEqual(rows["as installed"].ratio, "5.67× / 6.20×")
        self.assertEqual(rows["as installed"].met, "**no** (p10: yes)")
        self.assertEqual(rows["default layout"].met, "yes")
        self.assertEqual((rows["dense roofline"].ratio, rows["dense roofline"].met), ("1.70× / 2.07×", "**no**"))
        self.assertEqual((rows["memory"].ratio, rows["memory"].met), ("0.30×", "yes"))

    def test_a_recipe_that_misses_its_accuracy_misses_its_goal(self):
        cell = RecipeCell("r", (), 0.9, (Goal("PyTorch", 4),))
        ours, theirs = ({"process_seconds": s, "test_accuracy": 0.91} for s in (10, 50))
        self.assertEqual(report.recipe_row(cell, [(ours, theirs)]).met, "yes")
        self.assertEqual(report.recipe_row(cell, [(ours | {"test_accuracy": 0.89}, theirs)]).met, "**no** (accuracy)")
        self.assertEqual(report.recipe_row(cell, [(ours | {"process_seconds": 13}, theirs)]).met, "**no**")

    def test_arena(self):
        cell = ArenaCell("a", "mlp", 1, (Goal("eager", 0.6, at_most=True),))
        self.assertEqual(report.arena_row(cell, 60, 100).met, "yes")
        self.assertEqual(report.arena_row(cell, 61, 100).met, "**no**")

    def test_every_row_of_the_table_has_all_columns(self):
        rows = list(self.rows(1e9).values()) + [report.absent_row(self.cell, "skipped: nothing")]
        for line in report.table_of(rows).splitlines():
            self.assertEqual(line.count("|"), len(report.COLUMNS) + 1, line)


class Markers(unittest.TestCase):
    def test_only_what_is_between_them_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.md")
            path.write_text("one\n<!-- table: x -->\nold\n<!-- /table -->\ntwo\n<!-- table: y -->\n<!-- /table -->\n")
            report.write_between_markers(path, "x", "new")
            self.assertEqual(
                path.read_text(),
                "one\n<!-- table: x -->\nnew\n<!-- /table -->\ntwo\n<!-- table: y -->\n<!-- /table -->\n",
            )
            with self.assertRaises(report.NoMarkers):
                report.write_between_markers(path, "z", "new")

    def test_the_documents_have_them(self):
        docs = contenders.ROOT / "docs"
        for document, table in (*(("performance", f"{table} {vectors}") for table in TABLES for vectors in ("AVX2", "AVX-512")), ("roofline", "roofline"), ("python", "python"), ("accuracy", "text twin")):
            self.assertIn(f"<!-- table: {table} -->", (docs / f"{document}.md").read_text())


    def test_some_cells_replace_their_rows_and_leave_the_others(self):
        row = lambda name, ratio: report.Row(name, ratio=ratio)
        earlier = report.table_of([row("a", "1"), row("b", "2"), row("b, PyTorch", "3"), row("c", "4")]) + "\n\nOn a machine."
        merged = report.merged_table(earlier, [row("b", "5"), row("b, PyTorch", "6"), row("d", "7")], ["b", "d"], "on another.")
        names_and_ratios = [(line.split(" | ")[0][2:], line.split(" | ")[4]) for line in merged.split("\n")[2:] if line.startswith("| ")]
        self.assertEqual(names_and_ratios, [("a", "1"), ("b", "5"), ("b, PyTorch", "6"), ("c", "4"), ("d", "7")])
        self.assertIn("On a machine.\n\nOf these b, d: on another.", merged)
        again = report.merged_table(merged, [row("c", "8")], ["c"], "later.")
        self.assertEqual(again.count("| cell |"), 1)
        self.assertTrue(again.endswith("Of these b, d: on another.\n\nOf these c: later."))
        latest = report.merged_table(again, [row("b", "9"), row("c", "10")], ["b", "c"], "today.")
        self.assertTrue(latest.endswith("On a machine.\n\nOf these d: on another.\n\nOf these b, c: today."))
        self.assertTrue(report.merged_table("not measured yet", [row("a", "1")], ["a"], "now.").endswith("| – |\n\nnow."))


class Recipes(unittest.TestCase):
    CONFIG = {
        "run": "1", "model": "mlp", "data": "mnist", "epochs": 3, "batch_size": 64, "optimizer": "adamw",
        "learning_rate": 0.002, "schedule": "one-cycle", "warm_up": 0.3, "steps": 50, "normalize": True, "seed": 7,
    }  # fmt: skip

    def test_the_twin_repeats_the_programs_run(self):
        arguments = train_twin.parse_arguments([str(word) for word in twin_options(self.CONFIG)])
        for name, key in (("batch", "batch_size"), ("lr", "learning_rate"), ("data", "data"), ("seed", "seed")):
            self.assertEqual(getattr(arguments, name), self.CONFIG[key])
        self.assertEqual((arguments.optimizer, arguments.schedule, arguments.epochs), ("adamw", "one-cycle", 3))
        self.assertEqual((arguments.warm_up, arguments.steps, arguments.normalize), (0.3, 50, True))

    def test_a_setting_that_is_missing_is_named(self):
        with self.assertRaisesRegex(contenders.ContenderFailed, "schedule"):
            twin_options({key: value for key, value in self.CONFIG.items() if key != "schedule"})

    def test_schedules_are_treadles(self):
        for name, halfway, end in (("constant", 1, 1), ("cosine", 0.5, 0), ("linear", 0.5, 0)):
            at = train_twin.SCHEDULES[name]
            self.assertEqual(at(0, 10, 0.2), 1)
            self.assertAlmostEqual(at(5, 10, 0.2), halfway)
            self.assertAlmostEqual(at(10, 10, 0.2), end)
        shares = [train_twin.one_cycle(step, 9, 0.2) for step in range(9)]  # rises over two tenths, then falls
        for share, wanted in zip(shares, (0.5, 1, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125)):
            self.assertAlmostEqual(share, wanted)


TREADLE = contenders.ROOT / "build" / "release" / "treadle"


def write_images(folder, images, labels):
    """Writes both splits of a data set with the same images."""
    for split in ("train", "t10k"):
        for name, array in (("images-idx3", images.reshape(-1, 28, 28)), ("labels-idx1", labels)):
            header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
            (folder / f"{split}-{name}-ubyte.gz").write_bytes(gzip.compress(header + array.tobytes(), 1))


def density_in_pytorch(model, images, labels):
    """Returns for each pooling the share of its values that pass a gradient on to the convolution below it."""
    pooled, max_pool2d = [], F.max_pool2d

    def watched(*arguments):
        pooled.append(max_pool2d(*arguments))
        pooled[-1].retain_grad()
        return pooled[-1]

    with mock.patch.object(F, "max_pool2d", watched):
        F.cross_entropy(model(images), labels).backward()
    closed = [value <= 0 if isinstance(model, MODELS["lenet5"]) else False for value in pooled]
    return [((value.grad != 0) & ~torch.as_tensor(shut)).float().mean().item() for value, shut in zip(pooled, closed)]


@unittest.skipUnless(TREADLE.exists(), "build/release/treadle is not built")
class Density(unittest.TestCase):
    def test_density_of_the_program_is_pytorchs(self):
        # One batch holds the whole set, so that its order does not matter.
        images, labels = load("fashion-mnist", "train", 64)
        pixels = torch.from_numpy(images).float() / 255
        for name in ("fashion_cnn", "lenet5", "mlp"):
            with tempfile.TemporaryDirectory() as folder:
                data, out = Path(folder, "data"), Path(folder, "run")
                data.mkdir()
                write_images(data, images, labels)
                train = ["train", name, "--data", data, "--epochs", "3", "--out", out, "--quiet"]
                subprocess.run([TREADLE, *train], check=True)
                words = ["--model", name, "--data", data, "--checkpoint", out, "--batch", "64", "--steps", "1"]
                command = [TREADLE, "bench", "step", *words, "--lr", "0", "--json"]
                reported = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
                model = MODELS[name]()
                load_weights(model, out / "last.safetensors")
            expected = density_in_pytorch(model, pixels, torch.from_numpy(labels).long())
            shares = reported["pooled_gradient_density"]
            self.assertEqual(len(shares), len(expected), name)
            for share, other in zip(shares, expected):
                # A value that rounding moves across zero changes the share; few are that near.
                self.assertAlmostEqual(share, other, delta=1e-3, msg=name)


class Runs(unittest.TestCase):
    """Each kind of cell that is no step, with figures in place of programs."""

    def figures(self, command, environment=None):
        words = [str(word) for word in command]
        self.commands.append(words)
        if "train_twin.py" in words[1]:
            return {"images": 300000, "train_seconds": 100}
        if words[1] == "train":
            return {"train_seconds": 20}
        return {"images_per_second_median": 16000, "images_per_second_by_tenth": [10000, *[9900] * 9]}

    def setUp(self):
        self.commands = []
        for name, stand_in in (("run_json", self.figures), ("weights_of", lambda *_, **__: Path("weights"))):
            patch = mock.patch.object(runs, name, stand_in)
            patch.start()
            self.addCleanup(patch.stop)

    def test_every_cell_that_is_no_step_has_rows(self):
        for cell in TABLES["runs"]:
            if isinstance(cell, RunCell):
                rows = report.run_rows(cell, [runs.whole_training("treadle", cell, 3)])
                self.assertEqual([row.ratio for row in rows], ["5.00×", "0.94×"])
                self.assertEqual([row.met for row in rows], ["yes", "**no**"])
            elif isinstance(cell, LongCell):
                (row,) = report.long_rows(cell, [runs.many_steps("treadle", cell)])
                self.assertEqual((row.ratio, row.met), ("0.99×", "yes"))
                self.assertIn(str(cell.steps), self.commands[-1])
            else:
                self.assertIsInstance(cell, BusyCell)
                (row,) = report.busy_rows(cell, [runs.in_company("treadle", cell, 3)])
                self.assertEqual((row.ratio, row.met, "--bind" in self.commands[-1]), ("1.00×", "yes", cell.bound))

    def test_markers_are_looked_for_before(self):
        with tempfile.NamedTemporaryFile("w", suffix=".md") as file:
            with self.assertRaisesRegex(report.NoMarkers, "runs AVX2"):
                report.require_markers(Path(file.name), ["runs AVX2"])


class Environments(unittest.TestCase):
    def test_onnx_runtime_is_not_bound(self):
        with mock.patch.dict(os.environ, OMP_PROC_BIND="true", MALLOC_TOP_PAD_="1"):
            for contender in contenders.ONNX_RUNTIME:
                names = contenders.environment_of(contender)
                self.assertFalse([name for name in names if re.match("OMP_|MALLOC_", name)])
        self.assertEqual(contenders.environment_of(contenders.PYTORCH["tuned"])["OMP_PROC_BIND"], "true")

    def test_without_avx512_everybody_but_onnx_runtime_is_told(self):
        if "avx2" not in machine.flags():
            with self.assertRaises(machine.NoAvx2):
                machine.switch_off_avx512()
            return
        with mock.patch.dict(os.environ):
            machine.switch_off_avx512()
            self.assertEqual(machine.vectors(), "AVX2")
            self.assertEqual("is switched off" in machine.describe(), "avx512f" in machine.flags())
            for contender in (contenders.TREADLE, *contenders.PYTORCH.values()):
                self.assertLessEqual(machine.AVX2_ONLY.items(), contenders.environment_of(contender).items())
        self.assertNotIn("is switched off", machine.describe())

    def test_contenders_of_each_cell(self):
        for cell in CELLS:
            if isinstance(cell, StepCell):
                listed = contenders.contenders_of(cell, quick=False)
                libraries = {contender.library for contender in listed}
                self.assertIs(listed[0], contenders.TREADLE)
                self.assertEqual("ONNX Runtime" in libraries, cell.mode == "inference", cell.name)
                for goal in cell.goals:
                    known = libraries | set(contenders.PYTORCH) | {"dense roofline", "memory"}
                    self.assertIn(goal.reference, known, cell.name)


if __name__ == "__main__":
    unittest.main()
