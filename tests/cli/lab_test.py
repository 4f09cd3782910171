#!/usr/bin/env python3
"""The lessons of lab/: that they are found, run and checked, that mended faults are noticed, and what a user has done is kept.

usage: lab_test.py PROGRAM
"""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from program import PROGRAM, ProgramTest, last_json, run

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "lab").glob("[0-9][0-9]-*"))

PROGRAM_TEXT = """#include "../lab.h"
__global__ void twice(const int* x, int* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
int main() {
  const lab::Array<int> x(std::vector<int>{1, 2, 3});
  lab::Table table("three numbers");
  table.row("twice", std::vector<int>{2, 4, SIX}, 0, [&](int* y) { twice<<<1, 3>>>(x, y); });
  return table.end();
}
"""


class Lab(ProgramTest):
    """With a copy of lab.h and two lessons, of which the second cannot be right."""

    def setUp(self):
        super().setUp()
        self.lab = self.folder / "lab"
        self.state = {"TREADLE_CACHE": str(self.folder / "state")}
        self.write("lab.h", (ROOT / "lab/lab.h").read_text())
        self.write("01-twice/lesson.md", "# 1. Twice: three threads\n<!-- ladder: max_pool2d -->\n")
        self.write("01-twice/twice.cu", PROGRAM_TEXT.replace("SIX", "6"))
        self.write("01-twice/faults/four_threads.cu", self.fault("6"))
        self.write("02-wrong/lesson.md", "# 2. Wrong\n")
        self.write("02-wrong/wrong.cu", PROGRAM_TEXT.replace("SIX", "7"))

    def fault(self, six, threads=4):
        text = PROGRAM_TEXT.replace("SIX", six).replace("../lab.h", "../../lab.h")
        return text.replace("<<<1, 3>>>", f"<<<1, {threads}>>>")

    def write(self, name, text):
        (self.lab / name).parent.mkdir(parents=True, exist_ok=True)
        (self.lab / name).write_text(text, encoding="utf-8")

    def call(self, *words):
        return run("lab", *words, cwd=self.folder, environment=self.state)

    def lesson(self, number):
        return last_json(self.call("--json"))["lessons"][number - 1]


class Listing(Lab):
    def test_lessons_are_found_with_all_that_they_hold(self):
        lesson = self.lesson(1)
        self.assertEqual((lesson["number"], lesson["name"], lesson["title"]), (1, "01-twice", "Twice: three threads"))
        self.assertEqual((lesson["programs"], lesson["faults"], lesson["ladders"]), (["twice.cu"], ["four_threads.cu"], ["max_pool2d"]))
        self.assertEqual((lesson["run"], lesson["checked"], lesson["found"], lesson["mended"], lesson["done"]), (False, False, [], [], False))
        listed = self.call()
        self.assertRegex(listed.stdout, r"1 +Twice: three threads +- +- +0 of 1 +0 of 1 +max_pool2d")
        self.assertIn("Next: lab/01-twice/lesson.md", listed.stdout)

    def test_the_text_is_shown(self):
        self.assertEqual(self.call("show", 2).stdout, "# 2. Wrong\n")

    def test_the_programs_own_lessons_are_found_from_anywhere(self):
        elsewhere = run("lab", "--json", cwd="/", environment=self.state)
        self.assertEqual([lesson["name"] for lesson in last_json(elsewhere)["lessons"]], [folder.name for folder in LESSONS])

    def test_what_is_not_there(self):
        self.assert_fails(self.call("run", 3), 2, "there is no lesson 3", "from 1 to 2")
        self.assert_fails(self.call("run", 1, "thrice"), 2, "lesson 1 has no program thrice; it has twice.cu")
        self.assert_fails(self.call("--lessons", "data"), 1, "no lessons were found in data")


class Running(Lab):
    def test_programs_and_ladders_are_compared(self):
        result = last_json(self.call("run", 1, "--json"))
        program = result["programs"][0]
        self.assertEqual((program["program"], program["exit_code"], program["kernels"][0]["kernel"], program["kernels"][0]["right"]),
                         ("twice.cu", 0, "twice", True))
        rungs = result["ladders"][0]["rungs"]
        self.assertEqual([rung["rung"] for rung in rungs], sorted(rung["rung"] for rung in rungs))
        self.assertEqual((rungs[0]["variant"], rungs[0]["largest_error"]), ("naive", 0))
        self.assertEqual(self.lesson(1)["run"], True)

    def test_what_kernels_ask_of_a_gpu(self):
        counts = last_json(self.call("run", 1, "twice", "--counters", "--json"))["programs"][0]["counters"]
        self.assertEqual([(one["kernel"], one["launches"], one["requests"], one["sectors"], one["active_lanes"]) for one in counts],
                         [("twice", 1, 2, 2, 3)])
        self.assert_fails(self.call("run", 1, "--counters", "--card", "H10"), 2, "H10")

    def test_a_program_alone(self):
        result = self.call("run", 1, "twice")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"twice +right +[\d.]+ ms")
        self.assertNotIn("ladder", result.stdout)
        self.assertEqual(self.lesson(1)["run"], False)

    def test_a_wrong_result(self):
        result = self.call("run", 2)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"twice +WRONG +[\d.]+ ms +1.0e\+00")
        self.assertEqual(self.lesson(2)["run"], False)


class Checking(Lab):
    def test_a_fault_is_found_and_mended(self):
        found = self.call("check", 1)
        self.assertEqual(found.returncode, 4, found.stderr)
        for part in ("at lab/01-twice/faults/four_threads.cu:2 in twice", "2 reports: 2 out-of-bounds",
                     "1 fault(s) to mend: edit the files in lab/01-twice/faults"):
            self.assertIn(part, found.stdout)
        self.assertRegex(found.stdout, "(?m)^twice.cu +clean and right$")
        lesson = self.lesson(1)
        self.assertEqual((lesson["checked"], lesson["found"], lesson["mended"]), (True, ["four_threads.cu"], []))

        self.write("01-twice/faults/four_threads.cu", self.fault("6", threads=3))
        mended = self.call("check", 1)
        self.assertEqual(mended.returncode, 0, mended.stderr)
        self.assertIn("faults/four_threads.cu  mended: clean and right", mended.stdout)
        self.assertEqual(self.lesson(1)["mended"], ["four_threads.cu"])
        self.call("run", 1)
        self.assertEqual(self.lesson(1)["done"], True)
        self.assertIn("Next: lab/02-wrong", self.call().stdout)

    def test_without_a_report_a_wrong_result_is_not_mended(self):
        self.write("01-twice/faults/four_threads.cu", self.fault("7", threads=3))
        result = self.call("check", 1, "--json")
        self.assertEqual(result.returncode, 1, result.stderr)
        fault = last_json(result)["programs"][1]
        self.assertEqual((fault["program"], fault["fault"], fault["clean"], fault["exit_code"], fault["reports"]),
                         ("faults/four_threads.cu", True, False, 1, []))
        self.assertEqual(self.lesson(1)["mended"], [])


class Lessons(unittest.TestCase):
    """The lessons themselves; scripts/check-docs runs all of their commands."""

    def test_each_has_a_text_programs_and_faults(self):
        for number, folder in enumerate(LESSONS, 1):
            with self.subTest(folder.name):
                text = (folder / "lesson.md").read_text(encoding="utf-8")
                self.assertTrue(folder.name.startswith(f"{number:02}-") and text.startswith(f"# {number}. "))
                for heading in ("Why", "The picture", "Run it", "Check it", "Read its counters", "Break it", "Read on"):
                    self.assertIn(f"\n## {heading}\n", text)
                self.assertTrue(list(folder.glob("*.cu")))
                faults = list((folder / "faults").glob("*.cu"))
                self.assertTrue(faults)
                for file in [*folder.glob("*.cu"), *faults]:
                    self.assertIn(f"{file.relative_to(folder)}", text)
                for link in re.findall(r"\]\(([^)#]+)\)", text):
                    self.assertTrue((folder / link).exists(), link)

    def test_the_commands_of_one(self):
        checked = subprocess.run([sys.executable, ROOT / "scripts/check-docs", LESSONS[0] / "lesson.md"], capture_output=True, text=True,
                                 env=os.environ | {"TREADLE_PROGRAM": str(PROGRAM)}, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_documents_that_show_what_does_not_come(self):
        folder = ROOT / "lab/99-trial"
        self.addCleanup(shutil.rmtree, folder)
        for text, code, message in [("<!-- run -->\n```sh\necho 1.5 ms a b\n```\n<!-- output -->\n```\n27 ms   … b\n```\n", 0, "docs: 1"),
                                    ("<!-- run -->\n```sh\necho a; echo b\n```\n<!-- output -->\n```\nb\na\n```\n", 1, "the document shows"),
                                    ("<!-- run -->\n```sh\necho a; echo b; echo c\n```\n<!-- output -->\n```\na\nc\n```\n", 1, "the document shows"),
                                    ("<!-- run -->\n```sh\necho a; echo b; echo c\n```\n<!-- output -->\n```\na\n…\nc\n```\n", 0, "docs: 1"),
                                    ("<!-- run, ends with 4 -->\n```sh\ntrue\n```\n", 1, "another exit code than 4"),
                                    ("<!-- run, ends with 4 -->\n```sh\nexit 4\n```\n", 0, "docs: 1"),
                                    ("```sh\ntrue\n```\n", 2, "not marked to be run"),
                                    ("<!-- output -->\n```\na\n```\n", 2, "no commands before")]:
            folder.mkdir(exist_ok=True)
            (folder / "lesson.md").write_text(text, encoding="utf-8")
            checked = subprocess.run([sys.executable, ROOT / "scripts/check-docs", folder / "lesson.md"], capture_output=True, text=True, check=False)
            self.assertEqual(checked.returncode, code, text + checked.stdout + checked.stderr)
            self.assertIn(message, checked.stdout + checked.stderr)


if __name__ == "__main__":
    if os.environ.get("TREADLE_SANITIZED"):
        raise SystemExit(0)  # programs are linked with libraries that were built for the sanitizers
    unittest.main()
