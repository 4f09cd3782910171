#!/usr/bin/env python3
"""Writes into rules/*.json what PyTorch's optimisers give for the numbers of numbers_by_hash.py.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

A file belongs to a rule (treadle/optim/NAME) and is written by hand but for "steps": "rule" is the name of its class, each
of "cases" a "preset" or the rule's "options" that differ from their defaults, the "learning_rate", and the same in
"pytorch": the class in torch.optim and its options. Whoever adds a case leaves "steps" out and runs this.

"steps" are the ten values after each of five steps, in float32, from signed(5000, i) with the gradients signed(5101 + t, i),
t = 0..4; "deviation" is that minus the same in float64.

usage: make_rule_goldens.py [NAME...]
"""

import torch

from golden_files import rewrite
from numbers_by_hash import signed, with_deviation

COUNT, STEPS = 10, 5


def run(kind, options, learning_rate, dtype):
    """Returns the values after each step."""
    values = torch.nn.Parameter(signed(5000, (COUNT,)).to(dtype))
    optimizer, history = getattr(torch.optim, kind)([values], lr=learning_rate, **options), []
    for step in range(STEPS):
        values.grad = signed(5101 + step, (COUNT,)).to(dtype)
        optimizer.step()
        history.append(values.tolist())
    return history


def steps(case):
    kind, options = case["pytorch"]
    single, double = (run(kind, options, case["learning_rate"], dtype) for dtype in (torch.float32, torch.float64))
    return [with_deviation(one, other) for one, other in zip(single, double)]


def with_steps(_, contents):
    return contents | {"cases": [case | {"steps": steps(case)} for case in contents["cases"]]}


if __name__ == "__main__":
    rewrite("rules", with_steps)
