#!/usr/bin/env python3
"""Computes goldens.json: values of the hash of numbers_by_hash.py, and PyTorch's learning rates.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

"hash": a few values of mix, for whoever writes it in another language. "cosine_schedule": the learning rate before each step
and after the last. What belongs to one op, model or optimiser is made by make_op_goldens.py, make_model_goldens.py and
make_rule_goldens.py.
"""

from pathlib import Path

import torch

from golden_files import to_text
from numbers_by_hash import mix


def cosine_schedule(base=0.05, steps=10):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    rates = [schedule.get_last_lr()[0]]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        rates.append(schedule.get_last_lr()[0])
    return {"base": base, "T_max": steps, "eta_min": 0.0, "learning_rates": rates}


def hash_record():
    """Lists a few values of mix so that another implementation can check itself."""
    pairs = [(0, 0), (0, 1), (1, 0), (100, 7), (1009, 12543), (0xFFFFFFFF, 0xFFFFFFFF)]
    return [{"seed": seed, "index": index, "mix": int(mix(seed, [index])[0])} for seed, index in pairs]


if __name__ == "__main__":
    goldens = {"hash": hash_record(), "cosine_schedule": cosine_schedule()}
    Path(__file__).with_name("goldens.json").write_text(to_text(goldens) + "\n", encoding="utf-8")
