#!/usr/bin/env python3
"""A model of a text from training to writing, and messages where a text or an image was expected.

usage: text_test.py PROGRAM
"""

import json
import math
import random
import unittest

from program import ProgramTest, last_json, run

SMALL = ["--block", 16, "--model-option", "layers=1", "--model-option", "features=16", "--model-option", "heads=2"]


def sentences(count):
    """A text of a small grammar, with a letter beyond ASCII."""
    draw = random.Random(5)
    who = ["the dog", "a café cat", "my bird"]
    return "".join(f"{draw.choice(who)} {draw.choice(['sees', 'hears'])} {draw.choice(who)}.\n" for _ in range(count))


class Text(ProgramTest):
    def setUp(self):
        super().setUp()
        self.text = self.folder / "text.txt"
        self.text.write_text(sentences(200), encoding="utf-8")

    def learn(self, *words, out="run", small=SMALL):
        return run("train", "char_gpt", "--data", self.text, "--out", self.folder / out, "--json", "--deterministic", *small, *words)

    def learnt(self, *words, **options):
        result = self.learn("--set", "epochs=3", "--batch-size", 8, "--lr", 0.01, *words, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def write(self, *words, out="run"):
        return run("generate", self.folder / out, "--deterministic", *words)

    def test_from_training_to_writing(self):
        result = self.learnt("--validation", 0.1, "--no-plots")
        report, size = last_json(result), len(self.text.read_text(encoding="utf-8"))
        self.assertRegex(result.stdout, r"text.txt: [\d,]+ training, [\d,]+ validation and [\d,]+ test characters of 19 kinds, in windows of 16\n")
        self.assertRegex(result.stdout, r"\nepoch 1/3  loss \d\.\d+  validation loss \d\.\d+  validation perplexity \d+\.\d+  test loss .* characters/s")
        self.assertRegex(result.stdout, r"\ntest loss \d\.\d{4}, test perplexity \d+\.\d{3}, \d\.\d{3} bits per character; ")
        self.assertEqual(report["characters_in_test_part"], size // 10)
        self.assertEqual(report["test_characters"], (size // 10 - 1) // 16 * 16)
        self.assertAlmostEqual(report["test_perplexity"], math.exp(report["test_loss"]))
        self.assertAlmostEqual(report["test_bits_per_character"], report["test_loss"] / math.log(2))
        self.assertLess(report["test_loss"], 2)  # a guess by frequency has 2.8
        self.assertTrue(report["checkpoint"].endswith("best.safetensors"))
        evaluated = last_json(run("eval", report["checkpoint"], "--json"))
        self.assertAlmostEqual(evaluated["test_loss"], report["test_loss"], 5)
        written = self.write("--prompt", "the dog ", "--length", 40)
        self.assertEqual(written.returncode, 0, written.stderr)
        self.assertEqual(len(written.stdout), len("the dog ") + 40 + 1)
        self.assertEqual(self.write("--prompt", "the dog ", "--length", 40).stdout, written.stdout)
        self.assertNotEqual(self.write("--prompt", "the dog ", "--length", 40, "--seed", 1).stdout, written.stdout)
        self.assertEqual(last_json(self.write("--length", 5, "--json"))["text"], self.write("--length", 5).stdout[:-1])
        self.assert_fails(self.write("--prompt", "Z"), 2, "the prompt", "'Z' (U+005A)", "none of the 19")
        self.assert_fails(self.write("--temperature", "-1"), 2, "--temperature")

    def test_a_run_goes_on_as_if_nothing_had_happened(self):
        recipe = ["--model-option", "dropout=0.2", "--schedule", "constant", "--no-plots"]
        whole = last_json(self.learnt(*recipe, "--set", "epochs=4", out="whole"))
        self.learnt(*recipe, "--set", "epochs=2", out="half")
        again = last_json(run("train", "char_gpt", "--resume", "--out", self.folder / "half", "--epochs", 4, "--json", "--no-plots"))
        self.assertEqual(again["losses"], whole["losses"][len(again["losses"]) :])
        self.assertEqual(again["test_loss"], whole["test_loss"])
        options = ["--resume", "--out", self.folder / "half", "--block"]
        self.assert_fails(run("train", "char_gpt", *options, 8), 2, "--block 8 differs", "16")
        self.text.write_text(sentences(201), encoding="utf-8")
        self.assert_fails(run("train", "char_gpt", *options, 16), 1, "is not the data set", "characters of 19 kinds")

    def test_a_run_folder_and_summary_know_the_model(self):
        self.learnt()
        run_folder = self.folder / "run"
        config = (run_folder / "config.toml").read_text(encoding="utf-8")
        self.assertIn("block = 16", config)
        self.assertIn('model_option = ["layers=1", "features=16", "heads=2"]', config.replace("'", '"'))
        self.assertTrue((run_folder / "plots" / "perplexity.svg").is_file())
        self.assertFalse((run_folder / "plots" / "confusion.svg").exists())
        self.assertFalse((run_folder / "test_figures.json").exists())
        summary = json.loads(run("summary", run_folder, "--json").stdout)
        self.assertEqual(summary["layers"][0]["input"], [1, 16])
        self.assertEqual(summary["layers"][0]["output"], [1, 16, 19])
        self.assertEqual(run("summary", run_folder, "--program").returncode, 0)
        self.assertEqual(run("plot", run_folder, "--out", self.folder / "pictures").returncode, 0)
        self.assertTrue((self.folder / "pictures" / "loss.svg").is_file())
        self.assert_fails(run("predict", run_folder, "x.png"), 2, "predict needs a model of images", "language")
        self.assert_fails(run("eval", run_folder, "--confusion"), 2, "--confusion needs")
        other = self.folder / "other.txt"
        other.write_text("ß" * 300, encoding="utf-8")
        self.assert_fails(run("eval", run_folder, "--data", other), 1, "other.txt", "'ß' (U+00DF)")

    def test_data_that_is_no_text(self):
        bad = self.folder / "bad.txt"
        for contents, phrases in ((b"", ["0 characters", "window of 16"]), (b"abc " * 30, ["120 characters", "window of 16"]),
                                  (b"caf\xe9 " * 300, ["not UTF-8", "byte 3"])):
            bad.write_bytes(contents)
            self.assert_fails(run("train", "char_gpt", "--data", bad, "--block", 16), 1, "bad.txt", *phrases)
        self.assert_fails(run("train", "char_gpt"), 2, "char_gpt learns from a text", "--data FILE")
        self.assert_fails(run("train", "char_gpt", "--data", self.folder), 2, "is a folder")
        self.assert_fails(run("train", "char_gpt", "--data", self.folder / "none.txt"), 3, "there is no file")
        self.assert_fails(self.learn("--normalize"), 2, "--normalize is for images")
        self.assert_fails(self.learn("--model-option", "width=3"), 2, "'width'", "features")
        self.assert_fails(self.learn("--model-option", "layers"), 2, "NAME=VALUE")
        self.assert_fails(self.learn("--model-option", "layers=2", small=["--model-option", "layers=1"]), 2, "layers is given twice")
        self.assert_fails(self.train("--model-option", "layers=1", model="lenet5"), 2, "lenet5 has no options")

    def test_models_of_images_write_nothing(self):
        self.assertEqual(self.train("--epochs", 1).returncode, 0)
        self.assert_fails(run("generate", self.folder / "run"), 2, "mlp", "writes no text")
        self.assert_fails(run("train", "mlp", "--data", self.text), 2, "text.txt is a file")
        none = self.folder / "none"  # refused before any data are looked for
        self.assert_fails(run("bench", "loader", "--model", "char_gpt", "--data", none), 2, "bench needs a model of images")

    def test_benches_step_through_windows(self):
        self.learnt("--no-plots")
        bench = ["bench", "step", "--model", "char_gpt", "--data", self.text, "--lr", 0, "--steps", 2, "--batch", 8]
        fresh = last_json(run(*bench, "--json"))
        self.assertEqual((fresh["unit"], fresh["steps"], fresh["pooled_gradient_density"]), ("windows", 2, []))
        self.assertAlmostEqual(fresh["loss"], math.log(19), delta=0.2)  # of weights that know nothing yet
        learnt = last_json(run(*bench, "--checkpoint", self.folder / "run", "--json"))
        self.assertLess(learnt["loss"], 2)
        inference = run(*bench, "--checkpoint", self.folder / "run", "--mode", "inference")
        self.assertRegex(inference.stdout, r"char_gpt inference on \w+, batch 8, 2 steps: [\d,]+ windows/s")
        self.assertIn("cross_entropy", run("bench", "explain", *bench[2:6], "--batch", 8, "--replays", 1).stdout)
        self.assert_fails(run("bench", "step", "--model", "char_gpt"), 2, "char_gpt learns from a text", "--data FILE")
        self.assert_fails(run(*bench[:4], "--data", self.folder / "none.txt"), 3, "there is no file")
        self.assert_fails(run(*bench[:6], "--batch", 9999), 2, "training windows, fewer than a batch of 9999")
        options = ["--model", "mlp", "--checkpoint", self.folder / "run"]
        self.assert_fails(run("bench", "step", *options), 2, "holds the model char_gpt, not mlp")


if __name__ == "__main__":
    unittest.main()
