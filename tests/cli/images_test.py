#!/usr/bin/env python3
"""`treadle predict` on images of every kind: what it sees of them, and one bad file among good ones.

usage: images_test.py PROGRAM
"""

import gzip
import struct
import unittest

from program import ProgramTest, chunk, last_json, run, write_dataset, write_png


def band(row):
    """A picture of 28 × 28 like those of write_dataset(): two bright rows."""
    return [[255 if y // 2 == row else 0] * 28 for y in range(28)]


class Predict(ProgramTest):
    def setUp(self):
        super().setUp()
        trained = self.train("--epochs", 30, "--batch-size", 8, "--quiet")
        self.assertEqual(trained.returncode, 0, trained.stderr)

    def predict(self, *paths):
        return run("predict", self.folder / "run", *paths, "--json")

    def best(self, path):
        return last_json(self.predict(path))["results"][0]["predictions"][0]

    def test_the_same_picture_in_every_mode_is_the_same(self):
        plain, path = self.folder / "plain.png", self.folder / "other.png"
        write_png(plain, band(3))
        expected = self.best(plain)
        self.assertEqual(expected["class"], "3")
        # Black on white would be the picture's opposite, so the alpha channel is given as 255 − value over black.
        kinds = {
            "rgb": (2, [[v for v in row for _ in range(3)] for row in band(3)], b""),
            "grey with alpha": (4, [[v for value in row for v in (0, 255 - value)] for row in band(3)], b""),
            "rgba": (6, [[v for value in row for v in (0, 0, 0, 255 - value)] for row in band(3)], b""),
            "a clear value": (0, [[7 if value else 0 for value in row] for row in band(3)], chunk(b"tRNS", struct.pack(">H", 7))),
            "gamma": (0, band(3), chunk(b"gAMA", struct.pack(">I", 100000))),
            "turned": (0, [list(row) for row in zip(*band(3))], chunk(b"eXIf", b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x05\0\0\0\0\0\0\0")),
        }  # fmt: skip
        for name, (color, rows, extra) in kinds.items():
            with self.subTest(name=name):
                write_png(path, rows, color, extra)
                self.assertEqual(self.best(path), expected)

    def test_half_transparent_black_is_127(self):
        """As everybody else has it; in linear light it would be 187."""
        clear, grey = self.folder / "clear.png", self.folder / "grey.png"
        write_png(clear, [[0, 128] * 28] * 28, 4)
        write_png(grey, [[127] * 28] * 28)
        self.assertEqual(self.best(clear), self.best(grey))

    def test_one_bad_image_does_not_lose_the_others(self):
        good, cut = self.folder / "good.png", self.folder / "cut.png"
        write_png(good, band(2))
        cut.write_bytes(good.read_bytes()[:60])
        paths = [good, self.folder / "none.png", cut, good]
        result = self.predict(*paths)
        self.assertEqual(result.returncode, 1, result.stderr)
        entries = last_json(result)["results"]
        self.assertEqual([entry["image"] for entry in entries], [str(path) for path in paths])
        self.assertEqual(["error" in entry for entry in entries], [False, True, True, False])
        self.assertEqual(entries[0]["predictions"], entries[3]["predictions"])
        for path in paths[1:3]:
            self.assertIn(str(path), result.stderr)
        plain = run("predict", self.folder / "run", *paths)
        self.assertEqual(plain.returncode, 1)
        self.assertEqual(plain.stdout.count(f"{good}: 2 "), 2)
        self.assertIn("Pillow", plain.stdout)

    def test_data_in_gzip_of_several_members(self):
        def members(data):
            return b"".join(gzip.compress(data[i : i + 9999], 1) for i in range(0, len(data), 9999)) + b"\0" * 512

        other = self.folder / "members"
        write_dataset(other, pack=members)
        words = ["eval", self.folder / "run", "--json", "--data"]
        first, second = (last_json(run(*words, data)) for data in (self.data, other))
        self.assertEqual((first["test_loss"], first["correct"]), (second["test_loss"], second["correct"]))


if __name__ == "__main__":
    unittest.main(verbosity=1)
