#!/usr/bin/env python3
"""Seconds that single calls of small tensors cost, in this process: one JSON object on the last line.

usage: call_costs.py treadle|torch [--seconds S]
"""

import argparse
import json
import time

import numpy as np


def cases(library):
    """Name → function without arguments, under names that both libraries share."""
    numbers = np.arange(1, 5, dtype=np.float32)
    a, b = library.tensor(numbers), library.tensor(numbers)
    square = library.tensor(np.eye(4, dtype=np.float32))
    weight = library.tensor(numbers)
    weight.requires_grad = True

    def backward():
        (weight * a).sum().backward()

    return {
        "a + b": lambda: a + b,
        "a * 2": lambda: a * 2.0,
        "relu(a)": lambda: library.relu(a),
        "a.sum()": lambda: a.sum(),
        "s @ s, 4×4": lambda: square @ square,
        "a.reshape(2, 2)": lambda: a.reshape(2, 2),
        "a[1:3]": lambda: a[1:3],
        "a + w, w requires a gradient": lambda: a + weight,
        "(w * a).sum().backward()": backward,
        "from_numpy": lambda: library.from_numpy(numbers),
        "a.numpy()": lambda: a.numpy(),
        "a.sum().item()": lambda: a.sum().item(),
    }


def cost_of(function, seconds):
    """Median and p10 of the seconds of one call, over batches of about a millisecond."""
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        if time.perf_counter() - start > 1e-3:
            break
        calls *= 2
    samples, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples) < 10:
        start = time.perf_counter()
        for _ in range(calls):
            function()
        samples.append((time.perf_counter() - start) / calls)
    samples.sort()
    return samples[len(samples) // 2], samples[len(samples) // 10]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=["treadle", "torch"])
    parser.add_argument("--seconds", type=float, default=0.3, help="for each call")
    arguments = parser.parse_args()
    start = time.perf_counter()
    library = __import__(arguments.library)
    imported = time.perf_counter() - start
    found = {name: cost_of(function, arguments.seconds) for name, function in cases(library).items()}
    print(json.dumps({"import": imported, "calls": found, "version": library.__version__}))


if __name__ == "__main__":
    main()
