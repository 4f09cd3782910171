#!/usr/bin/env python3
"""Writes numpy_goldens.json: .npy and .npz files as NumPy writes them, with the numbers they hold.

usage: bench/peers/setup && bench/peers/.venv/bin/python tests/formats/make_numpy_goldens.py
"""

import io
import json
import pathlib

import numpy

DTYPES = ["f4", "f8", "f2", "i1", "u1", "i2", "i4", "i8", "b1"]


def numbers(dtype, count):
    """Values that need the width of the dtype; of bools both."""
    values = numpy.arange(count) * 5 - 11
    if dtype == "b1":
        return values % 2 == 0
    if dtype == "u1":
        return (values % 256).astype("u1")
    return (values * (1 if dtype == "i1" else 1000)).astype(dtype) + numpy.dtype(dtype).type(0.25 if dtype[0] == "f" else 0)


def npy(array, version=None):
    file = io.BytesIO()
    numpy.lib.format.write_array(file, array, version=version, allow_pickle=True)
    return file.getvalue()


def case(name, file, array):
    return {"name": name, "file": file.hex(), "dtype": array.dtype.str[1:], "shape": list(array.shape),
            "values": [float(value) for value in array.ravel("C")]}  # fmt: skip


def arrays():
    for dtype in DTYPES:
        array = numbers(dtype, 6).reshape(2, 3)
        yield case(dtype, npy(array), array)
        if array.dtype.itemsize > 1:
            yield case(dtype + " big-endian", npy(array.astype(">" + dtype)), array)
    cube = numbers("f4", 24).reshape(2, 3, 4)
    yield case("Fortran's order", npy(numpy.asfortranarray(cube)), cube)
    for version in (1, 2, 3):
        yield case(f"version {version}", npy(cube, (version, 0)), cube)
    for name, shape in (("no axis", ()), ("one axis", (5,)), ("no elements", (3, 0, 2))):
        array = numbers("f8", int(numpy.prod(shape))).reshape(shape)
        yield case(name, npy(array), array)


def archives():
    members = {"x_train": numbers("u1", 24).reshape(2, 3, 4), "y_train": numbers("i8", 2), "empty": numpy.zeros((0, 2), "f4")}
    for name, save in (("stored", numpy.savez), ("deflated", numpy.savez_compressed)):
        file = io.BytesIO()
        save(file, **members)
        yield {"name": name, "file": file.getvalue().hex(),
               "arrays": [case(key, b"", array) | {"file": ""} for key, array in members.items()]}  # fmt: skip


def refused():
    structure = numpy.zeros(2, [("a", "i4"), ("b", "f8")])
    for name, array, says in (
        ("objects", numpy.array([{}, None], object), "Python objects"),
        ("several fields", structure, "several fields"),
        ("complex", numpy.zeros(2, "c8"), "'<c8'"),
        ("unsigned", numpy.zeros(2, "u4"), "'<u4'"),
        ("text", numpy.array(["ab"]), "'<U2'"),
        ("dates", numpy.zeros(2, "M8[s]"), "'<M8[s]'"),
    ):
        yield {"name": name, "file": npy(array).hex(), "says": says}


def main():
    goldens = {"numpy": numpy.__version__, "arrays": list(arrays()), "archives": list(archives()), "refused": list(refused())}
    rows = ",\n ".join(f'"{key}": {json.dumps(value)}' for key, value in goldens.items())
    text = "{" + rows.replace('}, {"name"', '},\n  {"name"') + "}\n"
    pathlib.Path(__file__).with_name("numpy_goldens.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
