"""Time to accuracy: the program's recipe and the same recipe in PyTorch, from process start to the saved model."""

import json
import tempfile
import time
import tomllib
from pathlib import Path

from contenders import PEERS, PYTHON, PYTORCH, TREADLE, ContenderFailed, Skipped, environment_of, last_json, run


def timed(command, contender):
    """Runs a training and returns its JSON object with the seconds that the process took."""
    start = time.perf_counter()
    result = run(command, environment_of(contender))
    seconds = time.perf_counter() - start
    unknown_preset = result.returncode == 2 and "preset" in result.stderr
    if unknown_preset or result.returncode == 3:  # 3: the data set is absent
        raise Skipped(result.stderr.strip().removeprefix("treadle: "))
    return last_json(result, command) | {"process_seconds": seconds}


def twin_options(config):
    """Returns the options of train_twin.py that repeat a run of the program, from its config.toml."""
    names = {"model": "--model", "data": "--data", "epochs": "--epochs", "batch_size": "--batch", "seed": "--seed"}
    names |= {"learning_rate": "--lr", "optimizer": "--optimizer", "schedule": "--schedule", "warm_up": "--warm-up"}
    names |= {"steps": "--steps"}
    missing = [key for key in names if key not in config]
    if missing:
        raise ContenderFailed(f"the program's config.toml does not say {', '.join(missing)}")
    options = [word for key, option in names.items() for word in (option, str(config[key]))]
    return options + ["--normalize"] * bool(config.get("normalize"))


def run_recipe(treadle, cell, limit_batches=0):
    """Returns (result of the program, result of PyTorch) of one training each."""
    limit = ["--limit-batches", str(limit_batches)] if limit_batches else []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "run")
        ours = timed([treadle, "train", *cell.command, *limit, "--out", out, "--quiet", "--json"], TREADLE)
        options = twin_options(tomllib.loads((out / "config.toml").read_text()))
        save = ["--save", Path(folder, "twin.safetensors")]
        theirs = timed([PYTHON, PEERS / "train_twin.py", *options, *limit, *save], PYTORCH["tuned"])
    return ours, theirs


def describe(result):
    return json.dumps({key: result[key] for key in ("process_seconds", "train_seconds", "test_accuracy")})
