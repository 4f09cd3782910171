#!/usr/bin/env python3
"""What the program says of wrong words, names, values, files and outputs.

usage: messages_test.py PROGRAM
"""

import os
import signal
import subprocess
import unittest

from program import PROGRAM, ProgramTest, Terminal, last_json, run, write_png


class Names(ProgramTest):
    """What is unknown is named, and so is what was probably meant."""

    def test_commands(self):
        self.assert_fails(run("trian"), 2, "no command 'trian'", "did you mean 'train'?", "predict")
        self.assert_fails(run("Bench", "op"), 2, "'Bench'", "did you mean 'bench'?")
        self.assert_fails(run("paint"), 2, "no command 'paint'; known are train, eval")
        self.assertNotIn("did you mean", run("paint").stderr)
        self.assert_fails(run("bench", "setp"), 2, "no command 'setp'", "did you mean 'step'?", "roofline")
        self.assert_fails(run(), 2, "a command is missing", "train", "treadle --help")
        self.assert_fails(run("bench"), 2, "treadle bench: a command is missing", "roofline")

    def test_options(self):
        self.assert_fails(run("train", "mlp", "--epoch", 3), 2, "treadle train: there is no option '--epoch'; did you mean '--epochs'?")
        self.assert_fails(run("bench", "op", "relu", "--secs=2"), 2, "treadle bench op: there is no option '--secs'")
        self.assert_fails(run("--versoin"), 2, "no option '--versoin'; did you mean '--version'?")
        self.assert_fails(run("train", "mlp", "lenet5"), 2, "nothing takes the word 'lenet5'")
        self.assert_fails(run("train", "mlp", "--epochs"), 2, "--epochs needs a value", "`treadle train --help`")
        self.assert_fails(run("train", "mlp", "--epochs", 1, "--epochs", 2), 2, "--epochs is given more than once")
        self.assert_fails(run("train", "mlp", "--normalize=maybe"), 2, "--normalize does not take 'maybe'")
        self.assert_fails(run("train"), 2, "treadle train: MODEL is required")

    def test_models_ops_variants_and_the_like(self):
        self.assert_fails(self.train(model="lenet"), 2, "no model is called 'lenet'; did you mean 'lenet5'? Known are perceptron, mlp")
        self.assert_fails(run("summary", "fashion-cnn"), 2, "'fashion-cnn'; did you mean 'fashion_cnn'?")
        self.assert_fails(run("ops", "con2d"), 2, "no op is called 'con2d'; did you mean 'conv2d'?")
        self.assert_fails(run("bench", "op", "sofmax"), 2, "did you mean 'softmax'?")
        self.assert_fails(self.train("--variant", "conv2d=im2cols"), 2, "conv2d has no variant 'im2cols'; did you mean 'im2col'?")
        self.assert_fails(self.train("--variant", "conv2d"), 2, "OP=NAME")
        self.assert_fails(self.train("--optimizer", "adm"), 2, "--optimizer: there is no 'adm'; did you mean 'adam'?")
        self.assert_fails(self.train("--schedule", "cosin"), 2, "--schedule: there is no 'cosin'; did you mean 'cosine'?")
        self.assert_fails(self.train("--augment", "flip,crpo:4"), 2, "--augment: no augmentation is called 'crpo'; did you mean 'crop'? Known are")
        self.assert_fails(self.train("--augment", "crop:x"), 2, "--augment: crop: padding is 'x', not a whole number")
        self.assert_fails(self.train("--loader-threads", "many"), 2, "--loader-threads: 'many' is not")
        self.assert_fails(self.train("--device", "tpu"), 2, "'tpu'")
        self.assert_fails(self.train("--preset", "baselin"), 2, "mlp has no preset called 'baselin'; did you mean 'baseline'?")
        self.assert_fails(run("bench", "op", "relu", "--dtype", "f33"), 2, "no dtype is called 'f33'; did you mean 'f32'?")
        self.assertFalse((self.folder / "run").exists())

    def test_data_sets(self):
        def data(given, **options):
            return run("train", "mlp", "--data", given, "--out", self.folder / "run", **options)

        self.assert_fails(data("minst"), 2, "'minst'; did you mean 'mnist'? Known are fashion-mnist")
        (self.folder / "x.txt").write_text("1,2\n")
        for name in (self.folder / "x.txt", "x.txt"):
            self.assert_fails(data(name, cwd=self.folder), 2, "x.txt is a file; a data set is a folder that holds train-images")
        self.assert_fails(data("./nowhere"), 3, "there is no folder ./nowhere")
        self.assert_fails(data(self.temporary.name), 3, "holds no data set; expected are train-images")

    def test_help(self):
        whole = run("help")
        self.assertEqual((whole.returncode, whole.stdout), (0, run("--help").stdout))
        for words in (("train",), ("bench", "op"), ("models",)):
            self.assertEqual(run("help", *words).stdout, run(*words, "--help").stdout)
        self.assertEqual(run("bench", "help", "op").stdout, run("bench", "op", "--help").stdout)
        self.assert_fails(run("help", "trian"), 2, "did you mean 'train'?")
        text = run("help", "train").stdout
        self.assertIn("Usage: treadle train [OPTIONS] MODEL", text)
        self.assertRegex(text, r"--optimizer TEXT:\{[a-z, ]+\}=adam")
        self.assertNotRegex(text, r"\{false|\d{20}")  # no --no-bind{false}, no ranges of 300 digits


class Values(ProgramTest):
    def test_numbers(self):
        for option, value, phrase in (
            ("--lr", "-1", "--lr: '-1' is not a number of 0 or more"),
            ("--lr", "1,5", "--lr: '1,5' is not a number of 0 or more"),
            ("--lr", "nan", "'nan' is not"), ("--lr", "inf", "'inf' is not"), ("--lr", "", "'' is not"),
            ("--warm-up", "1", "--warm-up: a warm-up of 1 of the steps is not within [0, 1)"),
            ("--warm-up", "nan", "--warm-up: 'nan' is not a number of 0 or more"),
            ("--step-size", "0", "--step-size: a schedule's step_size is 0; it must be 1 or more"),
            ("--ema", "1", "--ema: '1' is not a number from 0 to 0.999999"),
            ("--weight-decay", "-1", "--weight-decay: '-1' is not a number of 0 or more"),
            ("--accumulate", "0", "--accumulate: '0' is not a whole number from 1 to 65536"),
            ("--patience", "0.5", "--patience: '0.5' is not a whole number of 0 or more"),
            ("--milestones", "3,x", "'x' is not a number"), ("--milestones", "3,-1", "milestone is -1"),
            ("--seed", "-1", "--seed: '-1' is not a whole number"), ("--seed", "1e3", "'1e3' is not a whole number"),
            ("--seed", "18446744073709551616", "'18446744073709551616' is not a whole number"),
            ("--epochs", "0", "--epochs: '0' is not a whole number of 1 or more"),
            ("--epochs", "1.5", "'1.5' is not a whole number"), ("--epochs", "two", "'two' is not a whole number"),
            ("--epochs", "9999999999", "--epochs: 9999999999 is too large"),
            ("--batch-size", "-3", "'-3' is not a whole number of 1 or more"),
            ("--threads", "0", "--threads: '0' is not a whole number from 1 to 1024"), ("--steps", "-1", "'-1' is not"),
            ("--engine", "owm", "--engine: there is no 'owm'; did you mean 'own'?"),
        ):  # fmt: skip
            with self.subTest(option=option, value=value):
                self.assert_fails(self.train(option, value), 2, phrase)
        self.assert_fails(run("predict", "x", "y", "--top-k", 0), 2, "--top-k: '0' is not a whole number of 1 or more")
        self.assert_fails(run("eval", "x", "--batch-size", 0), 2, "--batch-size: '0' is not")
        self.assert_fails(run("summary", "mlp", "--batch-size", "99999999999999"), 2, "is too large")
        self.assert_fails(run("bench", "op", "relu", "--seconds", "nan"), 2, "--seconds: 'nan' is not a number above 0")
        self.assertFalse((self.folder / "run").exists())

    def test_what_only_the_chosen_schedule_refuses(self):
        plateau = ("--schedule", "reduce-on-plateau")
        self.assert_fails(self.train(*plateau), 2, "--schedule reduce-on-plateau needs --validation")
        self.assert_fails(self.train(*plateau, "--validation", 0.25, "--gamma", 1), 2, "on a plateau it must be below 1")

    def test_a_leading_zero_is_not_octal(self):
        layers = last_json(run("summary", "mlp", "--batch-size", "010", "--json"))["layers"]
        self.assertEqual(layers[0]["input"][0], 10)

    def test_summary_checks_what_it_does_not_need(self):
        self.assert_fails(run("summary", "mlp", "--optimizer", "foo"), 2, "there is no 'foo'", "adamw")
        self.assert_fails(run("summary", "mlp", "--optimizer", "adam"), 2, "--optimizer requires --program")
        self.assert_fails(run("summary", "mlp", "--device", "tpu"), 2, "'tpu'")
        self.assert_fails(run("summary", "nowhere.safetensors"), 1, "cannot open nowhere.safetensors")

    def test_options_that_cannot_go_together(self):
        self.assert_fails(run("ops", "--markdown", "--json"), 2, "excludes", "--markdown")
        self.assert_fails(run("ops", "relu", "--markdown"), 2, "excludes", "--markdown")
        self.assert_fails(run("bench", "roofline", "--markdown", "--json"), 2, "excludes")
        self.assert_fails(run("bench", "op", "conv2d", "--dtype", "i64"), 2, "conv2d does not take i64")
        words = ["bench", "step", "--model", "mlp", "--data", self.data, "--steps", 1]
        self.assert_fails(run(*words, "--batch", 65), 2, "has 64 training images, fewer than a batch of 65")

    def test_programs_as_json(self):
        report = last_json(run("summary", "mlp", "--program", "--optimizer", "adam", "--batch-size", 4, "--json"))
        self.assertEqual((report["model"], report["optimizer"], report["batch_size"]), ("mlp", "adam", 4))
        for part in ("inference", "training"):
            self.assertTrue(report[part]["steps"])
            self.assertGreater(report[part]["memory_bytes"], 0)
        first = report["inference"]["steps"][0]
        self.assertEqual((first["op"], first["inputs"][0]), ("linear_relu", {"dtype": "f32", "shape": [4, 784]}))

    def test_a_limit_on_the_test_set_is_said(self):
        self.train("--epochs", 1)
        limited = ["eval", self.folder / "run", "--data", self.data, "--limit-batches", 2, "--batch-size", 8]
        report = last_json(run(*limited, "--json"))
        self.assertEqual((report["test_images"], report["images_in_test_set"]), (16, 32))
        self.assertIn("of the first 16 of 32 test images", run(*limited).stdout)
        whole = run("eval", self.folder / "run", "--data", self.data)
        self.assertNotIn("of the first", whole.stdout)
        trained = self.train("--epochs", 1, "--batch-size", 4, "--limit-batches", 3, "--json", out="short")
        self.assertIn("of the first 12 of 32 test images", trained.stdout)
        self.assertEqual((last_json(trained)["test_images"], last_json(trained)["images_in_test_set"]), (12, 32))


class Output(ProgramTest):
    COMMANDS = [
        ["models"], ["models", "--json"], ["info"], ["ops"], ["ops", "relu"], ["ops", "--markdown"], ["datasets"],
        ["summary", "mlp"], ["summary", "mlp", "--json"], ["--help"], ["--version"], ["help", "train"], ["train", "--help"],
    ]  # fmt: skip

    def commands(self):
        self.train("--epochs", 1)
        checkpoint = self.folder / "run"
        write_png(self.folder / "a.png", [[0, 255], [255, 0]])
        data = ["--data", self.data]
        return [
            *self.COMMANDS, ["eval", checkpoint, *data], ["predict", checkpoint, self.folder / "a.png"],
            ["train", "mlp", "--epochs", 1, "--out", self.folder / "other", *data],
            ["bench", "op", "neg", "--seconds", 0.001],
        ]  # fmt: skip

    def test_a_full_device_is_told_of(self):
        for words in self.commands():
            with self.subTest(words=words), open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *map(str, words)], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("treadle: cannot write to standard output: No space left on device", result.stderr)
        self.assertTrue((self.folder / "other/last.safetensors").exists())  # nothing else is lost by it

    def test_a_closed_output_is_told_of_and_nothing_is_written_into_files(self):
        closed = lambda: os.close(1)
        for words in (["models"], ["train", "mlp", "--epochs", 1, "--out", self.folder / "run", "--data", self.data]):
            result = subprocess.run([PROGRAM, *map(str, words)], stderr=subprocess.PIPE, text=True, preexec_fn=closed)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("cannot write to standard output: Bad file descriptor", result.stderr)
        self.assertEqual(run("summary", self.folder / "run/last.safetensors").returncode, 0)

    def test_errors_that_cannot_be_written_change_no_exit_code(self):
        self.train("--epochs", 1)
        for code, words in ((2, ["trian"]), (2, ["train", "mlp", "--lr", -1]), (1, ["eval", "nowhere"]), (3, ["train", "mlp", "--data", "./no"]),
                            (1, ["predict", self.folder / "run", "nowhere.png"])):  # fmt: skip
            with open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=full)
            self.assertEqual(result.returncode, code, words)

    def test_a_reader_that_has_enough_is_no_error(self):
        """The program ends as others do, by the signal, although its parent ignores that one."""
        ours, theirs = os.pipe()
        os.close(ours)
        ignore = lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        result = subprocess.run([PROGRAM, "ops"], stdout=theirs, stderr=subprocess.PIPE, text=True, preexec_fn=ignore)
        os.close(theirs)
        self.assertEqual((result.returncode, result.stderr), (-signal.SIGPIPE, ""))

    def test_names_that_are_not_utf8(self):
        folder = os.fsencode(self.folder)
        bad = folder + b"/\xff\xfe"
        os.mkdir(bad)
        for name in os.listdir(self.data):
            os.link(os.fsencode(self.data / name), bad + b"/" + os.fsencode(name))
        trained = run("train", "mlp", "--data", bad, "--out", bad + b"/run", "--epochs", 1, "--json")
        self.assertEqual(trained.returncode, 0, trained.stderr)
        self.assertIn("\ufffd", last_json(trained)["data"])
        evaluated = run("eval", bad + b"/run", "--data", bad, "--json")
        self.assertEqual(evaluated.returncode, 0, evaluated.stderr)
        self.assertIn("\ufffd", last_json(evaluated)["checkpoint"])
        predicted = run("predict", bad + b"/run", bad + b"/none.png", "--json")
        self.assertIn("\ufffd", last_json(predicted)["results"][0]["image"])
        self.assert_fails(predicted, 1, "cannot open")
        for words in ((b"\xff",), ("train", b"\xff"), ("ops", b"\xff"), ("train", "mlp", "--data", b"\xff"), ("train", "mlp", b"--\xff")):
            self.assertEqual(run(*words).returncode, 2, words)


class Measuring(ProgramTest):
    """The first step of a program that has never run here times its variants."""

    WORDS = ["train", "lenet5", "--epochs", "1000", "--batch-size", "16"]

    def test_it_is_said_on_a_terminal_and_can_be_interrupted(self):
        def interrupt(process, text):
            if "measuring variants of" in text and not self.sent:
                self.sent = True
                process.send_signal(signal.SIGINT)

        self.sent = False
        words = [*self.WORDS, "--data", self.data, "--out", self.folder / "run"]
        terminal = Terminal(words, 80, {"TREADLE_CACHE": self.temporary.name + "/cache"}, interrupt)
        self.assertTrue(self.sent, terminal.text)
        self.assertEqual(terminal.code, 130, terminal.text)
        self.assertIn("interrupted", terminal.text)
        self.assertTrue((self.folder / "run/last.safetensors").exists())

    def test_a_damaged_file_of_measurements_is_no_hindrance(self):
        cache = self.folder / "cache"
        cache.mkdir()
        for text in ("{", "[1]", '{"a": "b"}', "\xff"):
            (cache / "variants.json").write_text(text)
            result = run("summary", "mlp", "--program", environment={"TREADLE_CACHE": str(cache)})
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stderr, f"treadle: warning: {cache}/variants.json is damaged; it is written anew\n")
            self.assertIn("linear", (cache / "variants.json").read_text())

    def test_an_empty_variable_is_an_unset_one(self):
        for variable in ("TREADLE_CACHE", "XDG_CACHE_HOME"):
            environment = {"TREADLE_CACHE": "", "XDG_CACHE_HOME": "", "HOME": self.temporary.name}
            if variable == "XDG_CACHE_HOME":
                environment["XDG_CACHE_HOME"] = self.temporary.name + "/.cache"
            result = run("summary", "mlp", "--program", environment=environment, cwd=self.data)
            self.assertEqual(result.returncode, 0, result.stderr)
            file = self.folder / ".cache/treadle/variants.json"
            self.assertTrue(file.exists())
            file.unlink()
            self.assertFalse((self.data / "variants.json").exists())

    def test_one_replay_is_a_measurement(self):
        words = ["bench", "explain", "--model", "mlp", "--data", self.data, "--batch", 4, "--replays", 1]
        for step in last_json(run(*words, "--json"))["steps"]:
            self.assertGreater(step["seconds"], 0)

    def test_quiet_and_files_hear_nothing_of_it(self):
        words = [*self.WORDS, "--steps", "2", "--data", self.data, "--out", self.folder / "run"]
        quiet = Terminal([*words, "--quiet"], 80, {"TREADLE_CACHE": self.temporary.name + "/a"})
        self.assertEqual((quiet.code, quiet.text), (0, ""))
        piped = run(*words[:-1], self.folder / "other", environment={"TREADLE_CACHE": self.temporary.name + "/b"})
        self.assertEqual((piped.returncode, piped.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=1)
