"""What a model is made of, as a table."""

from __future__ import annotations

from treadle._core import Tensor, full
from treadle._core._nn import ModelSummary, Module, _summarize


def summary(model: Module, *inputs: Tensor | tuple[int, ...]) -> ModelSummary:
    """Runs the model once, without gradients, on these tensors or on zeros of these shapes, and tells of each layer its output
    shape, parameters and multiply-adds; print() shows a table. Raises what the model raises.
    """
    parameter = next(iter(model.parameters()), None)
    dtype, device = ("float32", "cpu") if parameter is None else (parameter.dtype, parameter.device)
    tensors = [one if isinstance(one, Tensor) else full(one, 0, dtype, device) for one in inputs]
    return _summarize(model, tensors)


def _table(self: ModelSummary) -> str:
    rows = [("layer", "output", "parameters", "multiply-adds")]
    for one in self.layers:
        label = f"{'  ' * one.depth}{one.name + ': ' if one.name else ''}{one.description}"
        rows.append((label, ", ".join(str(shape) for shape in one.outputs), f"{one.parameters:,}", f"{one.multiply_adds:,}"))
    rows.append(("total", "", f"{self.parameters:,}", f"{self.multiply_adds:,}"))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}".rstrip() for row in rows
    ]
    kib = [f"{bytes_ / 1024:,.0f} KiB" for bytes_ in (self.input_bytes, self.activation_bytes, self.parameter_bytes)]
    return "\n".join([*lines, f"inputs {kib[0]}, activations {kib[1]}, parameters {kib[2]}"])


ModelSummary.__str__ = _table
