#!/usr/bin/env python3
"""Pictures of a run: which there are, and that they are whole.

usage: plot_test.py PROGRAM
"""

import struct
import unittest
import xml.etree.ElementTree as ElementTree
import zlib

from program import TrainingTest, last_json, run

SVG = "{http://www.w3.org/2000/svg}"
CHARTS = {"accuracy.svg", "confusion.svg", "loss.svg"}


def png_size(path):
    """Width and height; raises for an image that is not whole."""
    data = path.read_bytes()
    place, body = 8, b""
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        if kind == b"IDAT":
            body += data[place + 8 : place + 8 + length]
        place += 12 + length
    width, height, depth, color = struct.unpack_from(">IIBB", data, 16)
    assert len(zlib.decompress(body)) == height * (1 + width * (3 if color == 2 else 1)), path
    return width, height


class LearningRate(TrainingTest):
    def test_it_is_suggested_and_its_curve_written(self):
        result = run("train", "mlp", "--data", self.data, "--find-lr", "--out", self.folder / "lr", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = last_json(result)
        self.assertGreater(report["suggestion"], 1e-6)
        self.assertIn(f"--lr {report['suggestion']:.2g}\n", result.stdout)
        rows = (self.folder / "lr" / "learning_rate.csv").read_text().splitlines()
        self.assertEqual(rows[0], "learning_rate,loss")
        self.assertEqual(len(rows), 1 + len(report["losses"]))
        ElementTree.parse(self.folder / "lr" / "learning_rate.svg")
        self.assertEqual({path.name for path in (self.folder / "lr").iterdir()}, {"learning_rate.csv", "learning_rate.svg"})

    def test_a_run_in_the_folder_stays(self):
        self.assertEqual(self.train("--epochs", 1).returncode, 0)
        before = (self.folder / "run" / "last.safetensors").read_bytes()
        self.assertEqual(run("train", "mlp", "--data", self.data, "--find-lr", "--out", self.folder / "run").returncode, 0)
        self.assertEqual((self.folder / "run" / "last.safetensors").read_bytes(), before)
        self.assert_fails(self.train("--find-lr", "--resume"), 2, "--find-lr", "--resume")


class Plot(TrainingTest):
    def plots(self, out="run"):
        return {path.name: path for path in (self.folder / out / "plots").iterdir()}

    def texts(self, path):
        return ["".join(text.itertext()) for text in ElementTree.parse(path).iter(f"{SVG}text")]

    def test_a_run_that_is_done_has_them(self):
        result = self.train("--epochs", 3, "--validation", 0.25, model="lenet5")
        self.assertEqual(result.returncode, 0, result.stderr)
        plots = self.plots()
        self.assertEqual(set(plots), CHARTS | {"predictions.svg", "filters.png", "feature_maps.png"})
        for name in ("train", "validation", "test"):
            self.assertIn(name, self.texts(plots["loss.svg"]))
        self.assertNotIn("train", self.texts(plots["accuracy.svg"]))
        self.assertIn("2", self.texts(plots["loss.svg"]))
        self.assertNotIn("1.5", self.texts(plots["loss.svg"]))  # no epoch
        predictions = ElementTree.parse(plots["predictions.svg"])
        self.assertEqual(len(list(predictions.iter(f"{SVG}image"))), 32)
        counts = [int(text) for text in self.texts(plots["confusion.svg"]) if text.isdigit()]
        self.assertGreaterEqual(sum(counts), 32)  # the images, and classes called "0" to "9"
        self.assertEqual(png_size(plots["filters.png"]), (6 * 45 + 5 * 6, 45))
        self.assertEqual(png_size(plots["feature_maps.png"]), (6 * 56 + 5 * 2, 56))

    def test_they_are_drawn_again_and_elsewhere(self):
        self.assertEqual(self.train("--epochs", 2, "--no-plots").returncode, 0)
        self.assertFalse((self.folder / "run" / "plots").exists())
        result = run("plot", self.folder / "run", "--out", self.folder / "other" / "plots")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(set(self.plots("other")), CHARTS | {"predictions.svg", "filters.png"})
        self.assertEqual(png_size(self.plots("other")["filters.png"]), (16 * 34 - 6, 8 * 34 - 6))
        self.assert_fails(run("plot", self.folder / "data"), 1, "holds no run to plot")

    def test_points_have_charts_and_the_regions_of_their_classes(self):
        result = run("train", "mlp", "--data", "xor", "--epochs", 2, "--out", self.folder / "run")
        self.assertEqual(result.returncode, 0, result.stderr)
        plots = self.plots()
        self.assertEqual(set(plots), CHARTS | {"regions.svg"})
        regions = ElementTree.parse(plots["regions.svg"])
        fills = [circle.get("fill") for circle in regions.iter(SVG + "circle")]
        self.assertEqual(len(fills), 1000 + 2)  # the test points, and the legend
        self.assertEqual(len(set(fills)), 2)
        self.assertEqual(len(list(regions.iter(SVG + "image"))), 1)


if __name__ == "__main__":
    unittest.main(verbosity=1)
