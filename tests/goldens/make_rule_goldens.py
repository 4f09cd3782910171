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

import json
import sys
from pathlib import Path

import torch

from numbers_by_hash import signed

FOLDER = Path(__file__).with_name("rules")
COUNT, STEPS = 10, 5
KEYS = ("preset", "options", "learning_rate", "pytorch")


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
    return [{"value": one, "deviation": [a - b for a, b in zip(one, other)]} for one, other in zip(single, double)]


def to_text(rule, cases):
    def block(case):
        lines = [f"   {json.dumps(key)}: {json.dumps(case[key])}" for key in KEYS if key in case]
        values = ",\n".join(f"    {json.dumps(step)}" for step in case["steps"])
        return "  {\n" + ",\n".join(lines) + ',\n   "steps": [\n' + values + "\n   ]\n  }"

    blocks = ",\n".join(map(block, cases))
    return f'{{\n "rule": {json.dumps(rule)},\n "cases": [\n{blocks}\n ]\n}}\n'


def main():
    torch.set_num_threads(1)
    for path in sorted(FOLDER.glob("*.json")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        record = json.loads(path.read_text(encoding="utf-8"))
        cases = [case | {"steps": steps(case)} for case in record["cases"]]
        path.write_text(to_text(record["rule"], cases), encoding="utf-8")


if __name__ == "__main__":
    main()
