#!/usr/bin/env python3
"""Runs programs of tests/random in PyTorch: one JSON program a line on stdin, one JSON answer a line on stdout.

An answer holds for each result, then for each parameter's gradient, the shape, L2 norm and four projections in
float64, as in tests/goldens/numbers_by_hash.py; or "refused" with PyTorch's reason.
"""

import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "goldens"))
from numbers_by_hash import labels, measures, signed  # noqa: E402


def pads(x, o, value):
    """Pads before pooling, where PyTorch's own padding may be half the kernel at most."""
    height, width = o["padding"]
    return F.pad(x, (width, width, height, height), value=value)


def reduce(f):
    return lambda x, o: f(x[0], o["axes"] or list(range(x[0].dim())), o["keep"])


def slice_axis(x, o):
    index = [slice(None)] * x[0].dim()
    index[o["axis"]] = slice(o["begin"], o["end"], o["step"])
    return x[0][tuple(index)]


def extremum(largest):
    """The first of equal values gets the gradient; the programs have none."""

    def f(x, axes, keep):
        return torch.amax(x, axes, keep) if largest else torch.amin(x, axes, keep)

    return f


def sum_axes(x, axes, keep):
    return torch.sum(x, axes, keep) if axes else x


def mean_axes(x, axes, keep):
    return torch.mean(x, axes, keep) if axes else x


STEPS = {
    "neg": lambda x, o: -x[0],
    "abs": lambda x, o: x[0].abs(),
    "exp": lambda x, o: x[0].exp(),
    "log": lambda x, o: x[0].log(),
    "sqrt": lambda x, o: x[0].sqrt(),
    "relu": lambda x, o: x[0].relu(),
    "sigmoid": lambda x, o: x[0].sigmoid(),
    "tanh": lambda x, o: x[0].tanh(),
    "gelu": lambda x, o: F.gelu(x[0]),
    "silu": lambda x, o: F.silu(x[0]),
    "leaky_relu": lambda x, o: F.leaky_relu(x[0], o["slope"]),
    "clamp": lambda x, o: x[0].clamp(o["low"], o["high"]),
    "add_number": lambda x, o: x[0] + o["number"],
    "mul_number": lambda x, o: x[0] * o["number"],
    "add": lambda x, o: x[0] + x[1],
    "sub": lambda x, o: x[0] - x[1],
    "mul": lambda x, o: x[0] * x[1],
    "div": lambda x, o: x[0] / x[1],
    "maximum": lambda x, o: torch.maximum(x[0], x[1]),
    "minimum": lambda x, o: torch.minimum(x[0], x[1]),
    "where_greater": lambda x, o: torch.where(x[0] > x[1], x[2], x[3]),
    "reshape": lambda x, o: x[0].reshape(o["shape"]),
    "expand": lambda x, o: x[0].expand(o["shape"]),
    "permute": lambda x, o: x[0].permute(o["axes"]),
    "squeeze": lambda x, o: x[0].squeeze(o["axis"]),
    "unsqueeze": lambda x, o: x[0].unsqueeze(o["axis"]),
    "slice": slice_axis,
    "contiguous": lambda x, o: x[0].contiguous(),
    "channels_last": lambda x, o: x[0].contiguous(memory_format=torch.channels_last),
    "clone": lambda x, o: x[0].clone(),
    "concat": lambda x, o: torch.cat(x, o["axis"]),
    "index_select": lambda x, o: x[0].index_select(o["axis"], x[1]),
    "sum": reduce(sum_axes),
    "mean": reduce(mean_axes),
    "max": reduce(extremum(True)),
    "min": reduce(extremum(False)),
    "argmax": lambda x, o: x[0].argmax(o["axis"]).to(x[0].dtype),
    "softmax": lambda x, o: x[0].softmax(o["axis"]),
    "log_softmax": lambda x, o: x[0].log_softmax(o["axis"]),
    "matmul": lambda x, o: x[0] @ x[1],
    "linear": lambda x, o: F.linear(*x),
    "conv2d": lambda x, o: F.conv2d(
        *x[:2], x[2] if len(x) > 2 else None, o["stride"], o["padding"], o["dilation"], o["groups"]
    ),
    "max_pool2d": lambda x, o: F.max_pool2d(
        pads(x[0], o, float("-inf")), o["kernel"], o["stride"], 0, o["dilation"]
    ),
    "avg_pool2d": lambda x, o: F.avg_pool2d(
        x[0], o["kernel"], o["stride"], o["padding"], count_include_pad=o["count_include_pad"]
    ),
    "mse": lambda x, o: F.mse_loss(*x, reduction=o["reduction"]),
    "cross_entropy": lambda x, o: F.cross_entropy(*x, reduction=o["reduction"]),
}


def make_leaf(leaf):
    if leaf["kind"] == "indices":
        return labels(leaf["seed"], leaf["shape"][0], leaf["classes"])
    values = signed(leaf["seed"], leaf["shape"]) * leaf["scale"]
    return values.double().requires_grad_(leaf["kind"] == "parameter")


def describe(tensor):
    return {"shape": list(tensor.shape), "measures": measures(tensor)}


def run(program):
    """Returns what the program's results and gradients measure."""
    values = [make_leaf(leaf) for leaf in program["leaves"]]
    parameters = [value for value, leaf in zip(values, program["leaves"]) if leaf["kind"] == "parameter"]
    for step in program["steps"]:
        values.append(STEPS[step["op"]]([values[i] for i in step["inputs"]], step["options"]))
    if values[-1].requires_grad:
        values[-1].backward()
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    return {"tensors": [describe(t) for t in [values[i] for i in program["results"]] + gradients]}


def main():
    torch.set_num_threads(1)
    for line in sys.stdin:
        try:
            answer = run(json.loads(line))
        except (RuntimeError, IndexError, ValueError) as error:
            answer = {"refused": str(error).splitlines()[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
