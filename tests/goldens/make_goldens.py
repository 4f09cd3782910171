#!/usr/bin/env python3
"""Computes goldens.json: values of the hash of numbers_by_hash.py.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

"hash": a few values of mix, for whoever writes it in another language. What belongs to one op, model,
optimiser or schedule is made by make_op_goldens.py, make_model_goldens.py, make_rule_goldens.py and make_schedule_goldens.py.
"""

from pathlib import Path

from golden_files import to_text
from numbers_by_hash import mix


def hash_record():
    """Lists a few values of mix so that another implementation can check itself."""
    pairs = [(0, 0), (0, 1), (1, 0), (100, 7), (1009, 12543), (0xFFFFFFFF, 0xFFFFFFFF)]
    return [{"seed": seed, "index": index, "mix": int(mix(seed, [index])[0])} for seed, index in pairs]


if __name__ == "__main__":
    goldens = {"hash": hash_record()}
    Path(__file__).with_name("goldens.json").write_text(to_text(goldens) + "\n", encoding="utf-8")
