#!/usr/bin/env python3
"""Computes training.json: what PyTorch does to gradients and weights beside the optimiser's step, in float64.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

Two parameters with the gradients 4·signed(6000, [3, 67]) and 4·signed(6001, [5]). "clip_norm" and "clip_values" say for each bound
the norm that is returned and the gradients' measures (numbers_by_hash.py) afterwards.
"""

from pathlib import Path

import torch

from golden_files import to_text
from numbers_by_hash import measures, signed

BOUNDS = [0.75, 1000.0]


def parameters():
    made = [torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in ((3, 67), (5,))]
    for k, parameter in enumerate(made):
        parameter.grad = 4 * signed(6000 + k, tuple(parameter.shape)).double()
    return made


def clipped(clip, bound):
    both = parameters()
    returned = clip(both, bound)
    norm = {} if returned is None else {"norm": returned.item()}
    return {"bound": bound} | norm | {"gradients": [measures(parameter.grad) for parameter in both]}


if __name__ == "__main__":
    goldens = {"clip_norm": [clipped(torch.nn.utils.clip_grad_norm_, bound) for bound in BOUNDS],
               "clip_values": [clipped(torch.nn.utils.clip_grad_value_, bound) for bound in BOUNDS]}
    Path(__file__).with_name("training.json").write_text(to_text(goldens) + "\n", encoding="utf-8")
