#!/usr/bin/env python3
"""treadle train --profile: the table, and a trace that is whole.

usage: profile_test.py PROGRAM
"""

import json
import unittest

from program import ProgramTest, run

OPS = {entry["name"] for entry in json.loads(run("ops", "--json").stdout)["ops"]}


class Profile(ProgramTest):
    def events(self, out="run"):
        return json.loads((self.folder / out / "trace.json").read_text(encoding="utf-8"))["traceEvents"]

    def profiled(self, *words):
        result = self.train("--epochs", 2, "--batch-size", 8, "--profile", "--profile-steps", 10, "--overwrite", "--no-plots", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_table_adds_up(self):
        printed = self.profiled()
        self.assertIn("profile of 10 steps on cpu", printed)
        self.assertIn("trace.json, for ui.perfetto.dev", printed)
        lines = printed[printed.index("\nop ") + 1 :].split("\n\n")[0].splitlines()
        self.assertRegex(lines[0], r"op +variant +runs +ms +share +MFLOP +MB +GFLOP/s +GB/s +of the limit")
        shares = [float(line.split(" %")[0].split()[-1]) for line in lines[1:-1]]
        self.assertAlmostEqual(sum(shares), 100, delta=0.01 * len(shares))
        self.assertRegex(lines[-1], r"^a step .* 100.00 %")
        self.assertRegex(lines[-2], r"^outside of ops ")

    def test_the_trace_nests(self):
        for way in ([], ["--eager"]):
            self.assertEqual(self.profiled("--quiet", *way), "")
            steps = [event for event in self.events() if event["cat"] == "step"]
            runs = [event for event in self.events() if event["cat"] == "op"]
            wanted = [(1, step) for step in range(3, 9)] + [(2, step) for step in range(1, 5)]
            self.assertEqual([step["name"] for step in steps], [f"step {step} of epoch {epoch}" for epoch, step in wanted])
            self.assertGreater(len(runs), len(steps))
            self.assertLessEqual({event["name"] for event in runs}, OPS)
            for event in runs:
                end = event["ts"] + event["dur"]
                inside = [s for s in steps if s["ts"] - 1e-3 <= event["ts"] and end <= s["ts"] + s["dur"] + 1e-3]
                self.assertEqual(len(inside), 1)

    def test_without_it_there_is_none(self):
        self.assertNotIn("profile", self.train("--epochs", 1, "--no-plots").stdout)
        self.assertFalse((self.folder / "run" / "trace.json").exists())
        result = self.train("--epochs", 1, "--steps", 2, "--profile", "--quiet", out="quiet")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertEqual(self.events("quiet"), [])
        self.assertIn("no step was profiled: the first 2", self.train("--epochs", 1, "--steps", 2, "--profile", out="few").stdout)
        self.assert_fails(self.train("--profile-steps", 3, out="x"), 2, "--profile-steps", "--profile")
        self.assert_fails(self.train("--profile", "--profile-steps", 0, out="x"), 2, "--profile-steps")


if __name__ == "__main__":
    unittest.main()
