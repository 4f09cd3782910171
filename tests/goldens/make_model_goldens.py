#!/usr/bin/env python3
"""Writes into models/*.json what PyTorch's twins of the models (bench/peers/models.py) give in ten steps of training.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

A file is called as its model and begins with what is written by hand: the shape of one "input", the number of "classes", and
"terms", the length of the longest chain of sums from a pixel to the loss, by which the tolerance is set; for large models
fewer "steps" than ten, and a smaller "batch" than 16; "learning_rate" where 0.05 is too much (see "spread"); "dtype" is "i64"
where inputs are numbers of classes. Whoever adds a model writes these and runs this.

The rest: "parameters", their number; "losses" before each of the steps of plain SGD (mean cross-entropy, float32, one
thread); "gradients" of the first step; "cancels" stands for those that are 0 but for rounding.

Seeds                                value
    100 + p       parameter          float32(signed * bound) of parameter number p in their order, from 0;
                                     bound = float32(1 / sqrt(fan_in)), fan_in the elements of one row of a weight, and of any
                                     parameter of two axes or more; biases have the bound of what stands before them
    B + t         input              uniform, or labels where it is of numbers; step t, a batch; B is "input_seed"
    2000 + t      labels             one for each row of classes that the model gives

"smallest_kink" is the least distance, in the first step, of any pre-activation to a ReLU's zero or between the two
largest values of a max-pool window: rounding below it cannot change which elements receive gradient. "input_seed" is the one
of 1000, 1010, … 1990 that keeps it largest.

The steps behind the first cross kinks, whatever the seed. "spread" is what rounding does to each loss then: the largest change
over four runs in float64 with noise in the results of all linear layers and convolutions, of 2^-22 and 2^-18 of their deviation.
The latter is more than the most inexact convolutions make, Winograd's, with 54 roundings of 2^-24. Where the spread is over a
quarter of what the test allows compiled steps, training amplifies rounding and its losses say nothing: this script refuses, and
the model needs a smaller "learning_rate" or fewer "steps".

usage: make_model_goldens.py [NAME...]
"""

import math
import sys
from pathlib import Path

import numpy
import torch
import torch.nn.functional as F

from golden_files import rewrite
from numbers_by_hash import labels, signed, tensor_record, uniform, with_deviation

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "peers"))
from models import MODELS  # noqa: E402

STEPS, BATCH, LEARNING_RATE = 10, 16, 0.05
NOISE, NOISY_RUNS = {torch.nn.Linear: 2**-22, torch.nn.Conv2d: 2**-18}, 4
INPUT_SEEDS = range(1000, 2000, 10)


def model_of(name, dtype):
    """The model with every parameter from the hash, scaled by its layer's fan-in."""
    model = MODELS[name]()
    for number, (key, parameter) in enumerate(model.named_parameters()):
        if key.endswith("weight") or parameter.ndim > 1:
            bound = numpy.float32(1 / math.sqrt(parameter[0].numel()))
        parameter.data.copy_(signed(100 + number, parameter.shape) * float(bound))
    return model.to(dtype)


def input_of(record, seed):
    """A batch of numbers from 0 to 1, or below the number of classes."""
    shape = (record.get("batch", BATCH), *record["input"])
    if record.get("dtype") == "i64":
        return labels(seed, math.prod(shape), record["classes"]).reshape(shape)
    return uniform(seed, shape)


def add_noise(model, seed):
    """Lets every convolution and linear layer of a model be as inexact as rounding makes it."""
    generator = torch.Generator().manual_seed(seed)

    def noisy(module, inputs, result):
        noise = torch.randn(result.shape, generator=generator, dtype=result.dtype)
        return result + NOISE[type(module)] * result.detach().std() * noise

    for module in model.modules():
        if type(module) in NOISE:
            module.register_forward_hook(noisy)


def train(name, record, dtype, noise_seed=None):
    """Returns the ten losses and the first step's gradients by parameter name."""
    model = model_of(name, dtype)
    if noise_seed is not None:
        add_noise(model, noise_seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=record.get("learning_rate", LEARNING_RATE))
    losses, gradients = [], {}
    for step in range(record.get("steps", STEPS)):
        optimizer.zero_grad()
        x = input_of(record, record["input_seed"] + step)
        logits = model(x.to(dtype) if x.is_floating_point() else x).reshape(-1, record["classes"])
        loss = F.cross_entropy(logits, labels(2000 + step, len(logits), record["classes"]))
        loss.backward()
        if step == 0:
            gradients = {key: value.grad.clone() for key, value in model.named_parameters()}
        losses.append(loss.item())
        optimizer.step()
    return losses, gradients


def pool_gap(x, size):
    """Returns the least distance between the two largest values of any non-overlapping window."""
    rows, columns = x.shape[2] // size * size, x.shape[3] // size * size
    windows = x[:, :, :rows, :columns].unfold(2, size, size).unfold(3, size, size).flatten(4)
    largest = windows.topk(2, dim=-1).values
    gaps = largest[..., 0] - largest[..., 1]
    return gaps[gaps > 0].min().item()  # equal values stem from a ReLU before the pool: none of them receives gradient


def smallest_kink(model, x):
    """Returns the least distance to a kink of the model for an input; see the top of the file."""
    distances, relu, max_pool2d = [], F.relu, F.max_pool2d

    def watched_relu(x, *options, **more):
        distances.append(x.abs().min().item())
        return relu(x, *options, **more)

    def watched_pool(x, size, *options, **more):
        distances.append(pool_gap(x, size))
        return max_pool2d(x, size, *options, **more)

    F.relu, F.max_pool2d = watched_relu, watched_pool
    try:
        model(x.double() if x.is_floating_point() else x)
    finally:
        F.relu, F.max_pool2d = relu, max_pool2d
    return min(distances, default=math.inf)


def choose_input(name, record):
    """Returns the record with the input seed that keeps kinks farthest."""
    model = model_of(name, torch.float64)
    kinks = {seed: smallest_kink(model, input_of(record, seed)) for seed in INPUT_SEEDS}
    seed = max(kinks, key=kinks.get)
    return record | {"input_seed": seed, "smallest_kink": kinks[seed] if math.isfinite(kinks[seed]) else None}


def spread_of(name, record, exact_losses):
    """Returns what noise does to each loss; see the top of the file."""
    runs = [train(name, record, torch.float64, seed)[0] for seed in range(NOISY_RUNS)]
    spread = [max(abs(loss - exact) for loss in losses) for *losses, exact in zip(*runs, exact_losses)]
    for step, (change, exact) in enumerate(zip(spread, exact_losses)):
        allowed = 8 * math.sqrt(4 * record["terms"]) * 2**-24 * exact
        if change > allowed / 4:
            sys.exit(f"{name}: rounding may change the loss of step {step} by {change:.1e}; the test allows {allowed:.1e}")
    return spread


def gradient_record(single, double):
    """As any tensor, but for what is 0 but for rounding, as a bias whose batch normalisation takes it out again."""
    cancels = double.norm() < 1e-6 * single.norm()
    return {"shape": list(single.shape), "cancels": True} if cancels else tensor_record(single, double)


def completed(name, record):
    record = choose_input(name, record)
    losses, gradients = train(name, record, torch.float32)
    exact_losses, exact_gradients = train(name, record, torch.float64)
    return record | {
        "parameters": sum(value.numel() for value in gradients.values()),
        "losses": with_deviation(losses, exact_losses),
        "spread": spread_of(name, record, exact_losses),
        "gradients": {key: gradient_record(value, exact_gradients[key]) for key, value in gradients.items()},
    }


if __name__ == "__main__":
    rewrite("models", completed)
