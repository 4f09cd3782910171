#!/usr/bin/env python3
"""Computes promotion.json: the dtypes and values that PyTorch gives for operands of mixed dtypes, and the gradients of pow.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

An operand is named by its dtype and kind: "i64" is a tensor of three elements, "i64 rank0" one of rank 0, and
"number bool", "number int", "number float" are numbers of the host. Values (bool takes v != 0):

                    left                  right
    tensor          1.5, 0, 3 (floats)    2, 0.5, 2 (floats)
                    1, 0, 3 (others)      2, 1, 2 (others)
    rank 0          3                     2
    number          true, 3, 1.5          true, 2, 0.5

"result_types": for each ordered pair of operands, torch.result_type. "binary": for each op and pair of which one is a
tensor at least, as a matrix of cells "dtype n" with the result's dtype and the place of its values in
"values", "error", or "" where PyTorch has no such call. "clamp": dtype and bounds (true, 2, 0.5, "nan", "inf",
"-inf") → dtype and values. "wide_numbers": numbers that a tensor's integer dtype does not hold. "pow_gradients": for
each base and exponent in f64 the power and its two derivatives. Infinities and NaN are strings.
"""
import itertools
import json
import math
import pathlib
import warnings

import torch

warnings.filterwarnings("ignore")

DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
          "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "bool": torch.bool}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
NUMBERS = {"number bool": (True, True), "number int": (3, 2), "number float": (1.5, 0.5)}
OPERANDS = [*DTYPES, *(f"{name} rank0" for name in DTYPES), *NUMBERS]
OPS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "pow": lambda a, b: torch.pow(a, b),
    "maximum": lambda a, b: torch.maximum(a, b),
    "minimum": lambda a, b: torch.minimum(a, b),
    "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
    "greater_equal": torch.ge,
    "where": lambda a, b: torch.where(torch.tensor([True, False, True]), a, b),
}
BOUNDS = [(True, 2), (0, 2), (2, 1), (0.5, 2), (0, 2.5), (2.5, 0.5), (-math.inf, 2), (1, math.inf), (math.nan, 2.0),
          (0.0, math.nan)]


def operand(name, right):
    if name in NUMBERS:
        return NUMBERS[name][right]
    dtype = DTYPES[name.split()[0]]
    if name.endswith("rank0"):
        return torch.tensor(2 if right else 3, dtype=dtype)
    if dtype.is_floating_point:
        return torch.tensor([2, 0.5, 2] if right else [1.5, 0, 3], dtype=dtype)
    return torch.tensor([2, 1, 2] if right else [1, 0, 3], dtype=dtype)


def plain(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return int(value) if isinstance(value, bool) or value == int(value) else value


def record(compute):
    try:
        result = compute()
    except (RuntimeError, NotImplementedError):
        return "error"
    return [NAMES[result.dtype], *(plain(value) for value in result.reshape(-1).tolist())]


def is_called(name, a, b):
    """Whether PyTorch takes such operands: maximum and minimum take no numbers, comparisons none on the left."""
    numbers = (a in NUMBERS) + (b in NUMBERS)
    if numbers == 0:
        return True
    if numbers == 2 or name in ("maximum", "minimum"):
        return False
    return b in NUMBERS or name in ("add", "sub", "mul", "div", "pow", "where")


def cell(result, values):
    """"f32 7": the dtype, and which of `values` the result has."""
    if result == "error":
        return result
    dtype, *numbers = result
    if numbers not in values:
        values.append(numbers)
    return f"{dtype} {values.index(numbers)}"


def binary(name, values):
    return [[cell(record(lambda: OPS[name](operand(a, 0), operand(b, 1))), values) if is_called(name, a, b) else ""
             for b in OPERANDS] for a in OPERANDS]


def clamp():
    results = []
    for name in DTYPES:
        for low, high in BOUNDS:
            x = operand(name, 0)
            results.append([name, *(bound if isinstance(bound, bool) else plain(bound) for bound in (low, high)),
                            isinstance(low, float), isinstance(high, float),
                            record(lambda: torch.clamp(x, low, high))])
    return results


def wide_numbers():
    results = []
    for name, number in [("u8", 300), ("u8", -1), ("i8", 200), ("i8", -129), ("i16", 70000), ("i32", 2 ** 40 + 1)]:
        x = torch.tensor([0, 1, 100], dtype=DTYPES[name])
        for op in ("add", "sub", "mul", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
            results.append([name, number, op, record(lambda: OPS[op](x, number))])
    return results


def pow_gradients():
    results = []
    bases = [-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, math.inf, -math.inf, math.nan]
    exponents = [-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, math.inf, -math.inf, math.nan]
    for base, exponent in itertools.product(bases, exponents):
        a = torch.tensor([base], dtype=torch.float64, requires_grad=True)
        b = torch.tensor([exponent], dtype=torch.float64, requires_grad=True)
        y = torch.pow(a, b)
        y.sum().backward()
        results.append([text(value) for value in (base, exponent, y.item(), a.grad.item(), b.grad.item())])
    return results


def text(value):
    return value if math.isfinite(value) else str(value)


def main():
    result_types = [[NAMES[torch.result_type(operand(a, 0), operand(b, 1))] for b in OPERANDS] for a in OPERANDS]
    values = []
    ops = {name: binary(name, values) for name in OPS}
    contents = {"torch": torch.__version__, "operands": OPERANDS, "result_types": result_types,
                "values": values, "binary": ops, "clamp": clamp(), "wide_numbers": wide_numbers(),
                "pow_gradients": pow_gradients()}
    lines = []
    for key, value in contents.items():
        lines.append(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}")
    path = pathlib.Path(__file__).with_name("promotion.json")
    path.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
