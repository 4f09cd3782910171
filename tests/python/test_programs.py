"""Small programs made of a seed: their gradients in float32 are those that JAX computes in float64.

How far float32 may be off follows from each program: Treadle runs it again in float64 with every operand, result and gradient of
every op disturbed by what an op may be off, and the largest deviation of several such runs bounds the difference.
"""

import dataclasses
import functools
import os
import random

import numpy as np
import pytest
import treadle as td
import treadle.array_api as xp

# Compiling is what takes time: of these programs nothing need be fast.
os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
jax = pytest.importorskip("jax")
jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

PROGRAMS = 200
TOGETHER = 10
OPS_OF_A_PROGRAM = (3, 6)
# Functions of float32 are off by at most 4 units of 2⁻²³ (the error models of the ops). Sums are off in proportion to the sum of
# absolute terms, which disturbed operands stand for.
UNIT = 2.0**-23
OFF = 4 * UNIT
RUNS = 4
# Signs are drawn: n independent errors of one size add up to √n of it, in the worst case to n; a program of six ops has 18 of
# them and as many in its gradients, √36 = 6.
WORST_OVER_DRAWN = 6
SHAPES = ((3, 4), (4,), (1, 4), (3, 1), (2, 3, 4))


@dataclasses.dataclass(frozen=True)
class Step:
    """An op of a program: its name and the numbers of its operands."""

    name: str
    operands: tuple


# name → Treadle's function and JAX's. Of equal elements the first gets the gradient in Treadle, in JAX each a share: so JAX is
# told which to take.
UNARY = {
    "tanh": (td.tanh, jnp.tanh),
    "sigmoid": (td.sigmoid, jax.nn.sigmoid),
    "sin": (xp.sin, jnp.sin),
    "cos": (xp.cos, jnp.cos),
    "atan": (xp.atan, jnp.arctan),
    "abs": (td.abs, jnp.abs),
    "relu": (td.relu, jax.nn.relu),
    "softplus": (td.softplus, jax.nn.softplus),
    "gelu": (td.gelu, functools.partial(jax.nn.gelu, approximate=False)),
    "exp": (lambda x: td.exp(-td.abs(x)), lambda x: jnp.exp(-jnp.abs(x))),
    "log": (lambda x: td.log(1 + x * x), lambda x: jnp.log(1 + x * x)),
    "sqrt": (lambda x: td.sqrt(1 + td.abs(x)), lambda x: jnp.sqrt(1 + jnp.abs(x))),
    "pow": (lambda x: (1 + td.abs(x)) ** -1.5, lambda x: (1 + jnp.abs(x)) ** -1.5),
    "softmax": (lambda x: td.softmax(x, -1), lambda x: jax.nn.softmax(x, -1)),
    "log_softmax": (lambda x: td.log_softmax(x, -1), lambda x: jax.nn.log_softmax(x, -1)),
    "mean": (lambda x: x.mean(axis=-1, keepdims=True), lambda x: x.mean(axis=-1, keepdims=True)),
    "sum": (lambda x: x.sum(axis=0, keepdims=True), lambda x: x.sum(axis=0, keepdims=True)),
    "max": (lambda x: x.max(axis=-1, keepdims=True), lambda x: jnp.take_along_axis(x, x.argmax(-1, keepdims=True), -1)),
    "var": (lambda x: xp.var(x, axis=-1, keepdims=True), lambda x: jnp.var(x, axis=-1, keepdims=True)),
    "prod": (lambda x: xp.prod(td.tanh(x), axis=-1, keepdims=True), lambda x: jnp.prod(jnp.tanh(x), axis=-1, keepdims=True)),
    "cumulative_sum": (lambda x: xp.cumulative_sum(x, axis=-1), lambda x: jnp.cumsum(x, axis=-1)),
    "sort": (lambda x: xp.sort(x), lambda x: jnp.sort(x)),
    "backwards": (lambda x: x[..., ::-1], lambda x: x[..., ::-1]),
    "selected": (lambda x: x[..., [0, -1, 0]], lambda x: x[..., np.array([0, -1, 0])]),
    "part": (lambda x: x[..., 1:], lambda x: x[..., 1:]),
    "transposed": (lambda x: x.T, lambda x: x.T),
    "flat": (lambda x: x.reshape(-1), lambda x: x.reshape(-1)),
    "standing": (lambda x: x.reshape(-1, 1), lambda x: x.reshape(-1, 1)),
}
BINARY = {
    "add": (td.add, jnp.add),
    "sub": (td.sub, jnp.subtract),
    "mul": (td.mul, jnp.multiply),
    "div": (lambda a, b: a / (1 + b * b), lambda a, b: a / (1 + b * b)),
    "maximum": (td.maximum, lambda a, b: jnp.where(a >= b, a, b)),
    "minimum": (td.minimum, lambda a, b: jnp.where(a <= b, a, b)),
    "where": (lambda a, b: td.where(a > 0.1, a, b), lambda a, b: jnp.where(a > 0.1, a, b)),
    "atan2": (lambda a, b: xp.atan2(a, 1 + b * b), lambda a, b: jnp.arctan2(a, 1 + b * b)),
    "outer": (lambda a, b: a.reshape(-1, 1) @ b.reshape(1, -1), lambda a, b: a.reshape(-1, 1) @ b.reshape(1, -1)),
    "gram": (
        lambda a, b: (a + b) @ (a - b).reshape(-1, (a - b).shape[-1]).T,
        lambda a, b: (a + b) @ (a - b).reshape(-1, (a - b).shape[-1]).T,
    ),
    "joined": (
        lambda a, b: td.concat([a.reshape(-1), b.reshape(-1)]),
        lambda a, b: jnp.concatenate([a.reshape(-1), b.reshape(-1)]),
    ),
    "stacked": (lambda a, b: td.stack([a + b, a - b], -1), lambda a, b: jnp.stack([a + b, a - b], -1)),
}
OPS = {**UNARY, **BINARY}
MOST_ELEMENTS = 64


def made(seed: int) -> tuple:
    """The leaves' values, and the steps; each may use any leaf and any result before."""
    chance = random.Random(seed)
    values = np.random.default_rng(seed)
    leaves = [values.uniform(-1.5, 1.5, chance.choice(SHAPES)).astype("f") for _ in range(3)]
    shapes = [leaf.shape for leaf in leaves]
    steps = []
    wanted = chance.randint(*OPS_OF_A_PROGRAM)
    while len(steps) < wanted:
        name = chance.choice(list(OPS))
        recent = len(shapes) - 1
        operands = tuple(
            recent if chance.random() < 0.5 else chance.randrange(len(shapes)) for _ in range(2 if name in BINARY else 1)
        )
        try:
            shape = np.broadcast_shapes(*(shapes[i] for i in operands)) if name not in ("outer", "joined") else None
            shape = jax.eval_shape(OPS[name][1], *(jax.ShapeDtypeStruct(shapes[i], np.float32) for i in operands)).shape
        except (ValueError, TypeError):
            continue  # shapes that do not go together
        if not 0 < np.prod(shape, dtype=int) <= MOST_ELEMENTS or len(shape) > 4:
            continue
        steps.append(Step(name, operands))
        shapes.append(shape)
    return leaves, steps


def weights(shape):
    """Of the elements of the last results, so that none hides another; exact in float32."""
    count = int(np.prod(shape, dtype=int))
    return (np.arange(count) % 7 * 0.25 - 0.625).reshape(shape)


def run(steps, leaves, side: int, disturb=lambda x: x):
    """The sum of the weighted results that no step used, by Treadle (side 0) or JAX (side 1)."""
    results, used = list(leaves), set()
    for step in steps:
        operands = [disturb(results[i]) for i in step.operands]
        results.append(disturb(OPS[step.name][side](*operands)))
        used.update(step.operands)
    total = 0.0
    for i, result in enumerate(results):
        if i not in used:
            weight = weights(result.shape)
            total = total + (result * (weight if side else td.tensor(weight).to(result.dtype))).sum()
    return total


def gradients_of_treadle(leaves, steps, dtype="float32", disturb=lambda x: x):
    tensors = [td.tensor(leaf, dtype=dtype, requires_grad=True) for leaf in leaves]
    run(steps, tensors, 0, disturb).backward()
    return [np.zeros_like(leaf) if x.grad is None else x.grad.numpy() for leaf, x in zip(leaves, tensors)]


def gradients_of_jax(programs):
    """Of several programs, which are compiled together."""
    given = [[leaf.astype(np.float64) for leaf in leaves] for leaves, _ in programs]

    def total(all_leaves):
        return sum(run(steps, leaves, 1) for leaves, (_, steps) in zip(all_leaves, programs))

    return [[np.asarray(one) for one in leaves] for leaves in jax.jit(jax.grad(total))(given)]


class Disturbed(td.autograd.Function):
    """x, and its gradient, each off by as much as an op may be, up or down as drawn."""

    @staticmethod
    def forward(ctx, x, values):
        ctx.values = values
        return x * Disturbed.factors(values, x.shape)

    @staticmethod
    def backward(ctx, dy):
        return dy * Disturbed.factors(ctx.values, dy.shape), None

    @staticmethod
    def factors(values, shape):
        return td.tensor(1 + OFF * values.choice((-1.0, 1.0), shape))


def allowed(leaves, steps, seed: int):
    """For each leaf, how far its gradient may be off."""
    exact = gradients_of_treadle(leaves, steps, "float64")
    deviations = []
    for run_number in range(RUNS):
        values = np.random.default_rng((seed, run_number))
        disturbed = gradients_of_treadle(leaves, steps, "float64", lambda x: Disturbed.apply(x, values))
        deviations.append([np.abs(one - other) for one, other in zip(disturbed, exact)])
    return [WORST_OVER_DRAWN * np.max(of_leaf, axis=0) + np.finfo("f").tiny for of_leaf in zip(*deviations)]


@pytest.mark.parametrize("block", range(PROGRAMS // TOGETHER))
def test_gradients_are_those_of_jax(block):
    seeds = range(block * TOGETHER, (block + 1) * TOGETHER)
    programs = [made(seed) for seed in seeds]
    for seed, (leaves, steps), expected in zip(seeds, programs, gradients_of_jax(programs)):
        found = gradients_of_treadle(leaves, steps)
        for k, (ours, theirs, bound) in enumerate(zip(found, expected, allowed(leaves, steps, seed))):
            wrong = np.abs(ours - theirs) > bound
            assert not wrong.any(), (
                f"program {seed}: the gradient of leaf {k} is {ours[wrong][:3]}, "
                f"not {theirs[wrong][:3]} within {bound[wrong][:3]}\n"
                + "\n".join(map(str, steps))
            )


def test_programs_are_of_all_ops():
    found = {step.name for seed in range(PROGRAMS) for step in made(seed)[1]}
    assert found == set(OPS)
