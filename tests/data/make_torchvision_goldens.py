#!/usr/bin/env python3
"""Writes torchvision_goldens.json: what torchvision's functions on tensors give for images [C, H, W].

Needs torch and torchvision; any Python that has them runs it. An image's values are uniform(seed) of tests/goldens/numbers_by_hash.py.
The parameters that torchvision's classes draw at random are given here.

usage: make_torchvision_goldens.py
"""

import json
import pathlib
import sys

import torchvision
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "goldens"))
from numbers_by_hash import uniform  # noqa: E402

SHAPES = [[1, 6, 7], [3, 5, 4]]
AFFINE = [
    {"degrees": 20, "right": 0, "down": 0, "scale": 1, "shear_x": 0, "shear_y": 0, "fill": 0},
    {"degrees": -35, "right": 1, "down": -2, "scale": 1.25, "shear_x": 0, "shear_y": 0, "fill": 0},
    {"degrees": 5, "right": 0, "down": 1, "scale": 0.75, "shear_x": 12, "shear_y": 0, "fill": 0.5},
    {"degrees": 0, "right": 2, "down": 0, "scale": 1, "shear_x": -8, "shear_y": 6, "fill": 1},
]
FACTORS = [0, 0.4, 1, 1.7]


def values(image):
    return [round(value, 7) for value in image.flatten().tolist()]


def affine(image, a):
    """Without torchvision's own fill, which weights pixels at the border by their share of the image twice."""
    moved = F.affine(image - a["fill"], a["degrees"], [a["right"], a["down"]], a["scale"], [a["shear_x"], a["shear_y"]],
                     interpolation=InterpolationMode.BILINEAR)
    return moved + a["fill"]


def cases():
    for seed, shape in enumerate(SHAPES, start=1):
        image = uniform(seed, shape)
        of_image = {"seed": seed, "shape": shape}
        for change in AFFINE:
            yield of_image | {"op": "affine"} | change | {"values": values(affine(image, change))}
        for factor in FACTORS:
            for name in ("brightness", "contrast", "saturation"):
                changed = getattr(F, f"adjust_{name}")(image, factor)
                yield of_image | {"op": name, "factor": factor, "values": values(changed)}


def main():
    lines = ",\n".join(json.dumps(case) for case in cases())
    text = f'{{"torchvision": "{torchvision.__version__}", "cases": [\n{lines}\n]}}\n'
    (HERE / "torchvision_goldens.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
