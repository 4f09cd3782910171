#!/usr/bin/env python3
"""Writes into ops/*.json what PyTorch gives for ops: their outputs and the gradients of their inputs.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

A file is called as its op and written by hand but for "outputs", "gradients" and "second_gradients". Each of its "cases" has

    "pytorch"    the same in PyTorch: an expression of the inputs and options by their names, and of torch and F
    "options"    those of the op that differ from their defaults
    "inputs"     the op's operands in order, each with a "name" and a "shape"; numbers are spread over "range", [-1, 1]
                 where none is given; with "classes" they are labels below that. "gradient": false where none is compared.
    "second_terms"  in place of "terms" for second gradients, where those differ, and in "second_because" why
    "terms"      roundings behind a result, by which the tolerance is set, and in "because" how they are counted

Whoever adds a case leaves the rest out and runs this.

Seeds: input i is low + (high - low) * uniform(4000 + i), rounded once to float32, or labels(4000 + i). The gradients are those
of the sum over outputs k of output k * signed(4100 + k). PyTorch may give fewer outputs than the op has. Second gradients
are those of the sum over inputs i of the gradient of input i * signed(4200 + i), in float64; inputs that it does not depend on
are left out, and all where PyTorch cannot differentiate again.

usage: make_op_goldens.py [NAME...]
"""

import math

import torch
import torch.nn.functional as F

from golden_files import rewrite
from numbers_by_hash import labels, signed, tensor_record, uniform


def input_tensor(number, spec, dtype):
    shape, seed = spec["shape"], 4000 + number
    if "classes" in spec:
        return labels(seed, math.prod(shape), spec["classes"]).reshape(shape)
    low, high = spec.get("range", [-1, 1])
    values = (low + (high - low) * uniform(seed, shape).double()).float()
    return values.to(dtype).requires_grad_(spec.get("gradient", True))


def run(case, dtype):
    """Returns the outputs, and the gradients by the inputs' names."""
    inputs = {spec["name"]: input_tensor(i, spec, dtype) for i, spec in enumerate(case["inputs"])}
    outputs = eval(case["pytorch"], {"torch": torch, "F": F} | case.get("options", {}) | inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    wanted = {name: x for name, x in inputs.items() if x.requires_grad}
    total = sum((y * signed(4100 + k, y.shape).to(dtype)).sum() for k, y in enumerate(outputs))
    gradients = torch.autograd.grad(total, list(wanted.values()), create_graph=True)
    return outputs, dict(zip(wanted, gradients)), second_gradients(inputs, wanted, gradients)


def second_gradients(inputs, wanted, gradients):
    numbers = [list(inputs).index(name) for name in wanted]
    weighted = sum((g * signed(4200 + i, g.shape).to(g.dtype)).sum() for i, g in zip(numbers, gradients))
    if not weighted.requires_grad:
        return {}
    try:
        found = torch.autograd.grad(weighted, list(wanted.values()), allow_unused=True)
    except RuntimeError as error:
        print(f"no second gradients: {error}")
        return {}
    return {name: gradient for name, gradient in zip(wanted, found) if gradient is not None}


def completed(case):
    (single, slopes, _), (double, exact_slopes, second) = (run(case, dtype) for dtype in (torch.float32, torch.float64))
    return case | {
        "outputs": [tensor_record(one, other) for one, other in zip(single, double)],
        "gradients": {name: tensor_record(slope, exact_slopes[name]) for name, slope in slopes.items()},
        "second_gradients": {name: tensor_record(slope, slope) for name, slope in second.items()},
    }


if __name__ == "__main__":
    rewrite("ops", lambda _, contents: {"cases": [completed(case) for case in contents["cases"]]})
