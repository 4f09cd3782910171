#!/usr/bin/env python3
"""Writes into schedules/*.json what PyTorch's schedulers give.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

A file belongs to a kind of schedule (treadle/optim/schedules/NAME.h) and is written by hand but for "rates": "kind" is its
name, each of "cases" has the peak "rate", the "span" and the "options" that differ from their defaults, and the same in
"pytorch": the class in torch.optim.lr_scheduler and its options. That is asked after each epoch of the span's steps, and, where
"fractions" says so, told the part of the epoch after each step. A case may leave out the "first" rates of PyTorch's. A schedule
that follows a figure is told 2 + signed("figures", (50,)) after each epoch. Whoever adds a case leaves "rates" out and runs
this.

"rates" are those of 50 steps, in float64.

usage: make_schedule_goldens.py [NAME...]
"""

import warnings

import torch
from torch.optim import lr_scheduler

from golden_files import rewrite
from numbers_by_hash import signed

STEPS = 50


def scheduler_of(case, optimizer):
    kind, options = case["pytorch"]
    scheduler = getattr(lr_scheduler, kind)(optimizer, **options)
    if not (warm_up := case["span"].get("warm_up_steps")):
        return scheduler
    optimizer.param_groups[0].update(lr=case["rate"], initial_lr=case["rate"])
    rise = lr_scheduler.LinearLR(optimizer, start_factor=1 / (warm_up + 1), total_iters=warm_up)
    return lr_scheduler.SequentialLR(optimizer, [rise, scheduler], milestones=[warm_up])


def rates(case):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=case["rate"])
    scheduler, history = scheduler_of(case, optimizer), []
    figures = (2 + signed(case["figures"], (STEPS,)).double()).tolist() if "figures" in case else []
    every = case["span"].get("steps_per_epoch", 1)
    for step in range(1, case.get("first", 0) + STEPS + 1):
        history.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if case.get("fractions"):
            scheduler.step(step / every)
        elif step % every == 0:
            scheduler.step(*figures[step // every - 1 : step // every])
    return history[case.get("first", 0) :]


def with_rates(_, contents):
    warnings.simplefilter("ignore")  # of calls past the end
    return contents | {"cases": [case | {"rates": rates(case)} for case in contents["cases"]]}


if __name__ == "__main__":
    rewrite("schedules", with_rates)
