#!/usr/bin/env python3
"""Computes training.json: what PyTorch does to gradients and weights beside the optimiser's step, in float64.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

Two parameters with the gradients 4·signed(6000, [3, 67]) and 4·signed(6001, [5]). "clip_norm" and "clip_values" say for each bound
the norm that is returned and the gradients' measures (numbers_by_hash.py) afterwards. "average" holds the measures of the moving
averages after each of five updates: the parameters are at first signed(6100, …) and signed(6101, …), before update t = 1..5
signed(6100 + 2t, …) and signed(6101 + 2t, …). "muon" holds the measures of signed(6200, shape) after each of three steps of
torch.optim.Muon with the gradients signed(6201 + t, shape), t = 0..2. "loss_scaler", in float32, is torch.amp.GradScaler
with Adam: the parameter is signed(6300, [3, 67]), the loss of step t Σ parameter·signed(6301 + t, [3, 67]), where one element is
infinite or NaN at the steps of PLANTED; after each the factor, the good steps since it changed and the parameter's measures.
"""

import unittest.mock
from pathlib import Path

import torch

from golden_files import to_text
from numbers_by_hash import measures, signed

BOUNDS = [0.75, 1000.0]
SHAPES = [(3, 67), (5,)]
DECAY = 0.9


def parameters():
    made = [torch.nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in SHAPES]
    for k, parameter in enumerate(made):
        parameter.grad = 4 * signed(6000 + k, tuple(parameter.shape)).double()
    return made


def clipped(clip, bound):
    both = parameters()
    returned = clip(both, bound)
    norm = {} if returned is None else {"norm": returned.item()}
    return {"bound": bound} | norm | {"gradients": [measures(parameter.grad) for parameter in both]}


class Values(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = (torch.nn.Parameter(signed(6100 + k, shape).double()) for k, shape in enumerate(SHAPES))


def averages():
    values = Values()
    average = torch.optim.swa_utils.AveragedModel(values, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(DECAY))
    average.update_parameters(values)  # the first one copies
    history = []
    for step in range(1, 6):
        for k, parameter in enumerate(values.parameters()):
            parameter.data = signed(6100 + 2 * step + k, SHAPES[k]).double()
        average.update_parameters(values)
        history.append([measures(parameter) for parameter in average.module.parameters()])
    return {"decay": DECAY, "steps": history}


def muon(shape, rate, options):
    """Runs torch.optim.Muon in float64 throughout: its iterations are in bfloat16 otherwise."""
    parameter = torch.nn.Parameter(signed(6200, tuple(shape)).double())
    optimizer, history = torch.optim.Muon([parameter], lr=rate, **options), []
    with unittest.mock.patch.object(torch, "bfloat16", torch.float64):
        for step in range(3):
            parameter.grad = signed(6201 + step, tuple(shape)).double()
            optimizer.step()
            history.append(measures(parameter))
    return {"shape": shape, "rate": rate, "options": options, "steps": history}


MUON = [
    ([4, 6], 0.05, {"adjust_lr_fn": "original", "weight_decay": 0.0}),
    ([9, 4], 0.1, {"adjust_lr_fn": "match_rms_adamw", "momentum": 0.75, "weight_decay": 0.25, "nesterov": False}),
    ([7, 5], 0.02, {"adjust_lr_fn": "spectral_unclamped", "ns_steps": 3, "eps": 10.0}),
    ([5, 5], 0.02, {"adjust_lr_fn": "original", "momentum": 0.5}),
]


PLANTED = {2: float("inf"), 3: float("nan"), 9: float("-inf")}
SCALER = {"initial": 1024.0, "growth": 2.0, "backoff": 0.5, "interval": 3}


def loss_scaler():
    parameter = torch.nn.Parameter(signed(6300, (3, 67)))
    optimizer, history = torch.optim.Adam([parameter], lr=0.01), []
    scaler = torch.amp.GradScaler("cpu", SCALER["initial"], SCALER["growth"], SCALER["backoff"], SCALER["interval"])
    for step in range(12):
        optimizer.zero_grad()
        slope = signed(6301 + step, (3, 67))
        slope[1, 5] = PLANTED.get(step, slope[1, 5])
        scaler.scale((parameter * slope).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        state = scaler.state_dict()
        history.append({"factor": state["scale"], "good_steps": state["_growth_tracker"], "parameter": measures(parameter)})
    planted = [[step, str(value)] for step, value in PLANTED.items()]
    return {"options": SCALER, "rate": 0.01, "planted": planted, "steps": history}


if __name__ == "__main__":
    goldens = {"clip_norm": [clipped(torch.nn.utils.clip_grad_norm_, bound) for bound in BOUNDS],
               "clip_values": [clipped(torch.nn.utils.clip_grad_value_, bound) for bound in BOUNDS],
               "average": averages(), "muon": [muon(*case) for case in MUON],
               "loss_scaler": loss_scaler()}
    Path(__file__).with_name("training.json").write_text(to_text(goldens) + "\n", encoding="utf-8")
