#!/usr/bin/env python3
"""Trains char_gpt and its twin in PyTorch on the same windows of a text, from the same weights, and compares their losses.

The text is that of text_data.py. The recipe is the preset `text` with AdamW, whose formula both have, ended after some
steps; the twin repeats the program's shuffles, its windows, clipping and schedule. Both compute in float32 on the CPU. The
program's first weights are those of a step with the learning rate 0.

Exit codes: 0 the last losses differ by less than 1 %, 1 they do not, 3 there is no text.

usage: bench/peers/.venv/bin/python bench/peers/text_twin.py [--steps N] [--write]
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F

import report
import text_data
from models import MODELS
from pytorch_twin import load_weights

ROOT = Path(__file__).resolve().parents[2]
PROGRAM, DOCUMENT = ROOT / "build" / "release" / "treadle", ROOT / "docs" / "accuracy.md"
COLUMNS = (
    "steps", "characters", "Treadle, last 50", "PyTorch, last 50", "differ by", "Treadle, test", "PyTorch, test",
)  # fmt: skip
WORD = (1 << 64) - 1
BLOCK, BATCH, RATE, WARM_UP, DECAY, CLIP = 64, 16, 2e-3, 100, 0.1, 1.0  # the preset's, but for the rate
LAST, BOUND = 50, 0.01


class SplitMix64:
    """The program's numbers, see treadle/data/batches.h."""

    def __init__(self, key):
        self.state = key & WORD

    @staticmethod
    def mix(z):
        z &= WORD
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return z ^ (z >> 31)

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & WORD
        return (self.mix(self.state) * bound) >> 64


def shuffled(size, seed, epoch):
    order = list(range(size))
    random = SplitMix64(SplitMix64.mix(SplitMix64.mix(seed) + epoch))
    for i in range(size - 1, 0, -1):
        j = random.below(i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def batches(text, seed):
    """Endless batches of windows with what follows, as TextWindows cuts them."""
    count = max((len(text) - 1) // BLOCK - 1, 1)
    room = len(text) - 1 - count * BLOCK
    epoch = 0
    while True:
        shift = SplitMix64(SplitMix64.mix(SplitMix64.mix(seed) - 3) + epoch).below(min(room, BLOCK - 1) + 1)
        order = shuffled(count, seed, epoch)
        for begin in range(0, count, BATCH):
            windows = torch.stack([text[shift + i * BLOCK :][: BLOCK + 1] for i in order[begin : begin + BATCH]])
            yield windows[:, :-1], windows[:, 1:]
        epoch += 1


def rate_at(step, steps):
    if step < WARM_UP:
        return RATE * (step + 1) / (WARM_UP + 1)
    return RATE * (1 + math.cos(math.pi * min((step - WARM_UP) / max(steps - WARM_UP, 1), 1))) / 2


def optimizer_of(model):
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.ndim > 1]}, {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=RATE, weight_decay=DECAY)


def loss_of(model, seen, following):
    return F.cross_entropy(model(seen).flatten(0, 1), following.flatten())


def train(model, text, steps, seed):
    """Returns the loss of each step."""
    optimizer, losses, source = optimizer_of(model), [], batches(text, seed)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, steps)
        optimizer.zero_grad()
        loss = loss_of(model, *next(source))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_loss(model, text):
    windows = text[: (len(text) - 1) // BLOCK * BLOCK + 1].unfold(0, BLOCK + 1, BLOCK)
    with torch.inference_mode():
        return loss_of(model, windows[:, :-1], windows[:, 1:]).item()


def treadle(folder, rate, *words):
    """What `train --json` says."""
    recipe = ["--preset", "text", "--optimizer", "adamw", "--lr", rate, "--data", folder / "licences.txt"]
    command = [PROGRAM, "train", "char_gpt", *recipe, "--overwrite", "--no-plots", "--quiet", "--json", *words]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"text_twin: {result.stderr.strip()}")
    return json.loads(result.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the row into docs/accuracy.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            text_data.write(folder / "licences.txt")
        except text_data.NoText as reason:
            print(f"text_twin: {reason}", file=sys.stderr)
            return 3
        characters, *parts = text_data.load(folder / "licences.txt")
        training, test = map(torch.tensor, parts)
        seed = ("--seed", arguments.seed)
        treadle(folder, 0, *seed, "--steps", 1, "--out", folder / "first")
        model = MODELS["char_gpt"](len(characters), BLOCK)
        load_weights(model, folder / "first" / "last.safetensors")
        ours = treadle(folder, RATE, *seed, "--steps", arguments.steps, "--out", folder / "run")
    theirs = train(model, training, arguments.steps, arguments.seed)
    model.eval()
    figures = [statistics.fmean(losses[-LAST:]) for losses in (ours["losses"], theirs)]
    differ = abs(figures[0] / figures[1] - 1)
    print(f"first losses {ours['losses'][0]:.6f} and {theirs[0]:.6f}; the largest difference of a step is "
          f"{max(abs(a - b) for a, b in zip(ours['losses'], theirs)):.2g}")
    losses = [f"{loss:.4f}" for loss in (*figures, ours["test_loss"], test_loss(model, test))]
    row = [str(arguments.steps), f"{len(training) + len(test):,}", *losses[:2], f"{100 * differ:.3f} %", *losses[2:]]
    table = report.markdown_table(dict.fromkeys(COLUMNS, report.FIGURES), [row])
    print(table)
    if arguments.write:
        report.write_between_markers(DOCUMENT, "text twin", table)
    return 0 if differ < BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
