"""What the benches' seconds do not show: whole trainings, many steps, and steps beside a busy process."""

import json
import multiprocessing
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from contenders import PEERS, PYTHON, PYTORCH, TREADLE, data_of, environment_of, model_options, run_json, weights_of

LEARNING_RATE = "1e-3"
IMAGES = "images_per_second_median"


def bench_step(treadle, cell, checkpoint, *words):
    command = [treadle, "bench", "step", "--model", cell.model, "--data", data_of(cell), "--batch", str(cell.batch)]
    return run_json([*command, "--lr", LEARNING_RATE, "--checkpoint", checkpoint, "--json", *words], environment_of(TREADLE))


def whole_training(treadle, cell, seconds):
    """Returns images per second of the program's training, of PyTorch's, and of the program's steps in a bench."""
    recipe = ["--data", cell.data, "--epochs", str(cell.epochs), "--optimizer", cell.optimizer, "--lr", LEARNING_RATE]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "run")
        words = ["--batch-size", str(cell.batch), "--schedule", "cosine", "--out", out, "--quiet", "--json"]
        ours = run_json([treadle, "train", cell.model, *recipe, *words], environment_of(TREADLE))
        steps = bench_step(treadle, cell, out / "last.safetensors", "--optimizer", cell.optimizer, "--seconds", str(seconds), "--bind")
    tuned = PYTORCH["tuned"]
    twin = [PYTHON, PEERS / "train_twin.py", "--model", cell.model, *recipe, "--batch", str(cell.batch), "--schedule", "cosine"]
    theirs = run_json(twin, environment_of(tuned))
    images = theirs["images"]
    return images / ours["train_seconds"], images / theirs["train_seconds"], steps[IMAGES]


def many_steps(treadle, cell):
    """Returns images per second in each tenth of the steps."""
    weights = weights_of(treadle, cell, quick=False)
    words = ["--optimizer", "adam", "--steps", str(cell.steps), "--bind"]
    return bench_step(treadle, cell, weights, *words)["images_per_second_by_tenth"]


def spin():
    while True:
        pass


@contextmanager
def busy_process():
    process = multiprocessing.Process(target=spin, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def in_company(treadle, cell, seconds):
    """Returns images per second alone, and beside a busy process."""
    weights = weights_of(treadle, cell, quick=False)
    step = partial(bench_step, treadle, cell, weights, "--seconds", str(seconds), *["--bind"] * cell.bound)
    alone = step()
    with busy_process():
        return alone[IMAGES], step()[IMAGES]


def describe(figures):
    return json.dumps([round(figure) for figure in figures])
