#!/usr/bin/env python3
"""Asks treadle.array_api what array_api_cases.py lists, beside array-api-strict, and writes docs/array-api.md of the outcome.

usage: array_api_table.py [--check]

With --check nothing is written. Exit codes: 0 written, or up to date; 1 it is not up to date, or a case fails.
"""

import argparse
import functools
import pathlib
import sys
import warnings

import array_api_strict as strict
import array_api_cases
import numpy as np
import treadle.array_api as ours

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "array-api.md"
BEGIN, END = "<!-- array api -->", "<!-- end of array api -->"


def names_of_standard() -> list[str]:
    """What array-api-strict has, which is the standard and nothing else; functions of extensions by two names."""
    hidden = {"ArrayAPIStrictFlags", "set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags",
              "Device", "Array", "__version__"}
    found = [name for name in strict.__all__ if name not in hidden and not name.startswith("__array_api_strict")]
    return sorted({*found, *(f"linalg.{name}" for name in strict.linalg.__all__)})


def arrays(xp, values, dtype):
    return xp.asarray(np.asarray(values).astype(dtype), dtype=getattr(xp, dtype))


def flat(result) -> list:
    """Numbers, texts and arrays of a result, which may be a tuple of them."""
    if isinstance(result, (tuple, list)):
        return [
            type(result).__name__ if hasattr(result, "_fields") else len(result),
            *(x for part in result for x in flat(part)),
        ]
    if hasattr(result, "__array_namespace__"):
        return [np.from_dlpack(result) if hasattr(result, "__dlpack__") else np.asarray(result)]
    return [result]


def difference(found, expected, ulps: int) -> str:
    """How two results differ; empty where they do not."""
    found, expected = flat(found), flat(expected)
    if len(found) != len(expected):
        return f"{len(found)} parts, not {len(expected)}"
    for one, other in zip(found, expected):
        if not isinstance(other, np.ndarray):
            if one != other and not (one != one and other != other):
                return f"{one!r}, not {other!r}"
        elif one.shape != other.shape or one.dtype != other.dtype:
            return f"{one.dtype}{one.shape}, not {other.dtype}{other.shape}"
        elif not agree(one, other, ulps):
            return f"{one}, not {other}"
    return ""


def agree(one, other, ulps: int) -> bool:
    if one.dtype.kind != "f":
        return np.array_equal(one, other)
    finite = np.abs(other[np.isfinite(other)])
    unit = np.finfo(other.dtype).eps * max(finite.max(initial=0), np.finfo(other.dtype).tiny)
    with np.errstate(invalid="ignore"):
        near = np.abs(one - other) <= ulps * unit
    return bool(np.all(near | (one == other) | (np.isnan(one) & np.isnan(other))))


def failure(name: str, case) -> str:
    """What is wrong with a case of a function; empty where nothing is."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = case(strict, functools.partial(arrays, strict))
            found = case(ours, functools.partial(arrays, ours))
        except Exception as error:  # whatever is raised is the outcome
            return f"{type(error).__name__}: {error}"
    return difference(found, expected, array_api_cases.ULPS[name])


def outcome(name: str) -> str:
    """"passes", with what is special; or why it is not there, or what fails."""
    if name in array_api_cases.LEFT_OUT:
        return f"not there: {array_api_cases.LEFT_OUT[name]}"
    cases = array_api_cases.CASES.get(name)
    if not cases:
        return "fails: no case asks for it"
    failures = [text for text in (failure(name, case) for case in cases) if text]
    if failures:
        return f"fails: {failures[0]}"
    note = array_api_cases.NOTES.get(name.removeprefix("linalg."))
    return f"passes ({len(cases)} {'case' if len(cases) == 1 else 'cases'})" + (f"; {note}" if note else "")


@functools.cache
def outcomes() -> dict[str, str]:
    strict.set_array_api_strict_flags(api_version=ours.__array_api_version__)
    return {name: outcome(name) for name in names_of_standard()}


def table() -> str:
    rows = "\n".join(f"| `{name}` | {text} |" for name, text in outcomes().items())
    passing = sum(text.startswith("passes") for text in outcomes().values())
    absent = sum(text.startswith("not there") for text in outcomes().values())
    total = len(outcomes())
    return (
        f"{passing} of the {total} names pass all cases, {absent} are not there.\n\n"
        f"| name | outcome |\n|---|---|\n{rows}\n"
    )


def document() -> str:
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}{END}{rest.split(END)[1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    text = document()
    for name, found in outcomes().items():
        if found.startswith("fails"):
            print(f"{name}: {found}"[:300], file=sys.stderr)
    if arguments.check:
        return int(text != DOCUMENT.read_text(encoding="utf-8"))
    DOCUMENT.write_text(text, encoding="utf-8")
    return int(any(found.startswith("fails") for found in outcomes().values()))


if __name__ == "__main__":
    sys.exit(main())
