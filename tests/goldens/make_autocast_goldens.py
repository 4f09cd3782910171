#!/usr/bin/env python3
"""Writes into autocast/*.json what PyTorch's twins of models give under torch.autocast("cpu", torch.bfloat16).

Run with bench/peers/.venv/bin/python after bench/peers/setup.

A file is called as its model, whose input, seeds and parameters are those of models/NAME.json (make_model_goldens.py), and
begins with what is written by hand: "roundings", the results on the way from the input to a logit that are rounded to
bfloat16, by which the tolerance is set. The rest: the "logits" of the first batch, row by row; the "losses" before each of STEPS
steps of plain SGD with a learning rate so small that the weights stay close; "gradients", those of the first step, unless
"no_gradients" says why none are compared. "rounded_elsewhere" says why the logits' bits differ.

usage: make_autocast_goldens.py [NAME...]
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F

from golden_files import rewrite
from make_model_goldens import input_of, model_of
from numbers_by_hash import labels, measures

STEPS, LEARNING_RATE = 4, 0.005


def completed(name, record):
    shape = json.loads(Path(__file__).with_name("models").joinpath(f"{name}.json").read_text(encoding="utf-8"))
    model = model_of(name, torch.float32)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses, first = [], {}
    for step in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(input_of(shape, shape["input_seed"] + step))
            loss = F.cross_entropy(logits, labels(2000 + step, len(logits), shape["classes"]))
        loss.backward()
        if step == 0:
            gradients = {key: measures(value.grad) for key, value in model.named_parameters()}
            first = {"logits": logits.float().flatten().tolist(), "gradients": gradients}
        losses.append(loss.item())
        optimizer.step()
    by_hand = {key: record[key] for key in ("roundings", "because", "no_gradients", "rounded_elsewhere") if key in record}
    if "no_gradients" in record:
        del first["gradients"]
    return by_hand | {"losses": losses} | first


if __name__ == "__main__":
    rewrite("autocast", completed)
