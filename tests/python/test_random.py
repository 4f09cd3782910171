"""Generators, and the process's own."""

import pickle

import treadle as td


def test_generators_are_seeds_and_positions():
    generator = td.Generator(seed=3)
    assert (generator.seed, generator.offset) == (3, 0)
    td.nn.Linear(3, 2, generator=generator)
    assert generator.offset > 0
    copy = pickle.loads(pickle.dumps(generator))
    assert (copy.seed, copy.offset) == (3, generator.offset)
    assert generator.manual_seed(4) is generator and generator.initial_seed() == 4 and generator.offset == 0
    generator.offset = 5
    generator.seed = 1
    assert repr(generator) == "Generator(seed=1, offset=0)"


def test_equal_seeds_give_equal_weights():
    weights = [td.nn.Linear(3, 2, generator=td.Generator(seed)).weight.tolist() for seed in (1, 1, 2)]
    assert weights[0] == weights[1] != weights[2]


def test_the_processs_own():
    before = td.random.get_rng_state()
    try:
        assert td.manual_seed(5) is td.random.default_generator()
        first = td.nn.Linear(2, 2).weight.tolist()
        state = td.random.get_rng_state()
        later = td.nn.Linear(2, 2).weight.tolist()
        td.random.set_rng_state(state)
        assert td.nn.Linear(2, 2).weight.tolist() == later
        td.random.seed(5)
        assert td.random.initial_seed() == 5 and td.nn.Linear(2, 2).weight.tolist() == first
    finally:
        td.random.set_rng_state(before)
