"""Random numbers: generators and the process's own.

    td.manual_seed(7)                # initial weights, dropout and td.randn() from here on
    generator = td.Generator(seed=7)
    model = td.nn.Linear(3, 2, generator=generator)

Random numbers are a function of seed and position (Philox4x32-10), equal on every device and for any number of threads.
"""

from treadle._core._random import Generator, default_generator

Generator.__module__ = __name__

__all__ = ["Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"]


def manual_seed(seed: int) -> Generator:
    """Starts the sequence of a seed (0 to 2^64 - 1) in the process's generator, and returns that."""
    return default_generator().manual_seed(seed)


def seed(seed: int = 0) -> None:
    """Starts the sequence of a seed in the process's generator."""
    default_generator().seed = seed


def initial_seed() -> int:
    """The seed of the process's generator."""
    return default_generator().seed


def get_rng_state() -> tuple:
    """(seed, offset) of the process's generator, for set_rng_state()."""
    generator = default_generator()
    return generator.seed, generator.offset


def set_rng_state(state: tuple) -> None:
    """Goes on where get_rng_state() was called."""
    generator = default_generator()
    generator.seed, generator.offset = state
