#!/usr/bin/env python3
"""What a run keeps of `treadle train`'s options: config.toml, and what --resume goes on with.

usage: settings_test.py PROGRAM
"""

import json
import shutil
import struct
import tomllib
import unittest

from program import TrainingTest, last_json

CHOSEN = {
    "epochs": 2, "batch_size": 16, "optimizer": "momentum", "learning_rate": 0.02, "schedule": "one-cycle", "warm_up": 0.5, "normalize": True,
    "warm_up_steps": 2, "milestones": [3, 5], "gamma": 0.25, "patience": 2,
    "weight_decay": "0.01", "decay_matrices_only": True, "clip_norm": 0.5, "ema": 0.75, "accumulate": 2, "precision": "bf16",
    "seed": 7, "limit_batches": 3, "steps": 5, "validation": 0.25, "test": "last", "engine": "own", "variant": ["matmul=loop", "relu=loop"],
    "threads": 1, "deterministic": True, "eager": True, "keep_subnormals": True, "device": "cpu", "preset": "baseline",
    "augment": "flip,mixup:0.4", "label_smoothing": 0.1, "loader_threads": "1", "early_stop": 3, "tensorboard": True, "no_plots": True, "checkpoint_every": "2",
}  # fmt: skip


def words_for(settings):
    """The command line that sets what a config.toml says."""
    for name, value in settings.items():
        option = {"learning_rate": "--lr"}.get(name, "--" + name.replace("_", "-"))
        for one in value if isinstance(value, list) else [value]:
            yield from [option] if one is True else [] if one is False else [option, str(one)]


def change_settings(path, change):
    """Lets `change` edit what a checkpoint remembers of the command line."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    description = json.loads(header["__metadata__"]["treadle.checkpoint"])
    change(description["training"])
    header["__metadata__"]["treadle.checkpoint"] = json.dumps(description)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + length :])


class SettingsTest(TrainingTest):
    def setUp(self):
        super().setUp()
        self.run_folder = self.folder / "run"
        self.last = self.run_folder / "last.safetensors"

    def config(self):
        return tomllib.loads((self.run_folder / "config.toml").read_text())

    def remembered(self):
        kept = {}
        change_settings(shutil.copy(self.last, self.folder / "copy"), kept.update)
        return kept


class Config(SettingsTest):
    def test_it_says_all_that_decides_the_result(self):
        first = self.train(*words_for(CHOSEN))
        self.assertEqual(first.returncode, 0, first.stderr)
        config = self.config()
        self.assertEqual({name: config[name] for name in CHOSEN}, CHOSEN)
        told = {name: value for name, value in config.items() if name not in ("run", "treadle", "model", "data")}
        again = self.train(*words_for(told), model=config["model"])
        self.assertEqual(again.returncode, 0, again.stderr)
        again = last_json(again)
        self.assertEqual(again["losses"], last_json(first)["losses"])
        self.assertEqual(self.config() | {"run": ""}, config | {"run": ""})

    def test_what_a_run_keeps_is_in_it(self):
        self.train("--epochs", 1)
        options = {option.removeprefix("--").replace("-", "_") for option in self.remembered() if option.startswith("--")}
        self.assertEqual(options - {"lr"} | {"learning_rate", "model", "run", "treadle"}, set(self.config()))
        self.assertIn("\nwarm_up = 0.2\n", (self.run_folder / "config.toml").read_text())  # not 0.20000000000000001


class Given(SettingsTest):
    """Settings from a file and by --set."""

    def write(self, text):
        (self.folder / "recipe.toml").write_text(text)
        return "--config", self.folder / "recipe.toml"

    def test_a_config_is_a_recipe(self):
        first = self.train(*words_for(CHOSEN))
        self.assertEqual(first.returncode, 0, first.stderr)
        config = self.config()
        again = self.train("--config", self.run_folder / "config.toml", out="again")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(last_json(again)["losses"], last_json(first)["losses"])
        self.assertEqual(tomllib.loads((self.folder / "again" / "config.toml").read_text()) | {"run": ""}, config | {"run": ""})

    def test_what_goes_before_what(self):
        # The preset of mnist_cnn sets batch_size, optimizer, schedule and more.
        recipe = self.write('preset = "fast"\nepochs = 3\nbatch_size = 9\nlimit_batches = 1\nlearning_rate = 0.25\n')
        words = ["--set", "batch_size=8", "--set", "limit-batches=2", "--limit-batches", 3, "--set", "lr=0.5", "--lr", 0.125]
        result = self.train(*recipe, *words, model="fashion_cnn")
        self.assertEqual(result.returncode, 0, result.stderr)
        wanted = {"epochs": 3, "batch_size": 8, "limit_batches": 3, "learning_rate": 0.125, "preset": "fast"}
        config = self.config()
        self.assertEqual({name: config[name] for name in wanted}, wanted)
        preset = tomllib.loads((self.folder / "recipe.toml").read_text())
        self.assertNotIn("schedule", preset)
        self.assertNotEqual(config["schedule"], "cosine")  # the preset's, before the default

    def test_what_is_refused(self):
        refused = [
            (2, ["--set", "epoch=3"], "--set: no setting is called 'epoch'; did you mean 'epochs'?"),
            (2, ["--set", "epochs"], "'epochs' is not NAME=VALUE"),
            (2, ["--set", "epochs=many"], "--set: epochs: 'many' is not a whole number"),
            (2, ["--set", "quiet=true"], "no setting is called 'quiet'"),
            (2, self.write("optimiser = 'sgd'\n"), "recipe.toml: no setting is called 'optimiser'; did you mean 'optimizer'?"),
        ]
        for code, words, *phrases in refused:
            self.assert_fails(self.train(*words), code, *phrases)
        self.assert_fails(self.train(*self.write("epochs = 3\nlr =\n")), 1, "recipe.toml: line 2")
        self.assert_fails(self.train(*self.write("[train]\nepochs = 3\n")), 1, "recipe.toml: line 1")
        self.assert_fails(self.train("--config", self.folder / "none.toml"), 1, "none.toml")
        self.assertFalse(self.run_folder.exists())

    def test_a_resumed_run_takes_what_is_renewable(self):
        self.assertEqual(self.train("--epochs", 1).returncode, 0)
        self.assertEqual(self.train("--resume", "--set", "epochs=2").returncode, 0)
        self.assertEqual(self.config()["epochs"], 2)
        self.assertEqual(len((self.run_folder / "metrics.jsonl").read_text().splitlines()), 2)
        self.assert_fails(self.train("--resume", "--set", "batch_size=7"), 2, "--batch-size 7 differs")


class Resuming(SettingsTest):
    def test_goes_on_with_all_of_it(self):
        self.train(*words_for(CHOSEN))
        before = self.config()
        self.assertEqual(self.train("--resume").returncode, 0)
        (self.run_folder / "config.toml").unlink()
        self.assertEqual(self.train("--resume").returncode, 0)
        self.assertEqual(self.config(), before)

    def test_what_would_change_the_run_is_refused(self):
        self.train("--epochs", 1, "--engine", "own", "--variant", "matmul=loop")
        for words in (["--engine", "any"], ["--variant", "matmul=loop", "--variant", "relu=loop"], ["--preset", "baseline"],
                      ["--seed", 1], ["--deterministic"], ["--validation", 0.25]):  # fmt: skip
            self.assert_fails(self.train("--resume", *words), 2, words[0], "differs from the run to resume")
        for words in (["--engine", "own"], ["--variant", "matmul=loop"], ["--epochs", 2], ["--threads", 1], ["--test", "last"], ["--epochs", 3, "--eager"]):
            self.assertEqual(self.train("--resume", *words).returncode, 0, words)
        self.assertEqual((self.config()["epochs"], self.config()["eager"]), (3, True))

    def test_runs_of_earlier_versions_go_on(self):
        def as_before(settings):
            for option in ("--eager", "--keep-subnormals", "--validation", "--preset"):
                del settings[option]
            settings["--validate"] = settings.pop("--test")

        self.train("--epochs", 1, "--test", "last", "--threads", 1)
        change_settings(self.last, as_before)
        (self.run_folder / "config.toml").write_text("run = '1-2'\nmodel = 'mlp'\n")
        resumed = self.train("--resume", "--epochs", 2)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        kept = self.remembered()
        self.assertEqual([kept[name] for name in ("--test", "--validation", "--eager", "--preset")], ["last", "0", "false", ""])
        self.assertEqual(self.config()["test"], "last")

    def test_settings_that_are_missing_or_wrong_are_named(self):
        self.train("--epochs", 1)
        good = self.last.read_bytes()
        for option, value in (("--lr", "fast"), ("--lr", "-1"), ("--batch-size", "0"), ("--normalize", "perhaps"), ("--engine", "all")):
            self.last.write_bytes(good)
            change_settings(self.last, lambda settings: settings.update({option: value}))
            self.assert_fails(self.train("--resume"), 1, str(self.last), option, f"'{value}'")
        self.last.write_bytes(good)
        change_settings(self.last, lambda settings: settings.pop("--optimizer"))
        self.assert_fails(self.train("--resume"), 1, f"{self.last} lacks the setting --optimizer")


if __name__ == "__main__":
    unittest.main(verbosity=1)
