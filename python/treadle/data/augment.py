"""Augmentations: random changes of training examples, a class for each kind that the library has.

    td.data.Loader(images, augment=[td.data.augment.Flip(), td.data.augment.Crop(padding=2)])
    td.data.Loader(images, augment="flip,crop:2")  # the same as the program takes it

Each example's change follows from the seed, the epoch and its index alone.
"""

from __future__ import annotations

from treadle import _core
from treadle._options import camel_case, documented, initializer


class Augmentation:
    """One augmentation with its options. Derived classes are the kinds."""

    kind: str = ""
    """The name by which the library and its program know it."""

    def _begin(self, options: dict) -> None:
        self.options = options
        _core._data._check_augmentations(str(self))

    def __str__(self) -> str:
        return ":".join([self.kind, *(f"{name}={_text(value)}" for name, value in self.options.items())])

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({given})"


def _text(value) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


def text_of(augment) -> str:
    """Augmentations as the program writes them: of a text, one augmentation, or several."""
    if augment is None or isinstance(augment, str):
        return augment or ""
    listed = [augment] if isinstance(augment, Augmentation) else list(augment)
    if not all(isinstance(one, Augmentation) for one in listed):
        raise TypeError("augmentations are a text as \"flip,crop:2\", or objects of treadle.data.augment")
    return ",".join(str(one) for one in listed)


def _class_of(kind: dict) -> type:
    made = type(camel_case(kind["name"]), (Augmentation,), {"kind": kind["name"], "__module__": __name__})
    initializer(made, "", kind["options"])
    made.__doc__ = f"{kind['summary'].capitalize()}.\n\n{documented(kind['options'])}"
    return made


_classes = {made.__name__: made for made in map(_class_of, _core._data._augmentation_kinds())}
globals().update(_classes)

__all__ = ["Augmentation", *_classes]
