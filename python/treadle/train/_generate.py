"""Writing with a model of a text."""

from __future__ import annotations

from treadle import _core, models
from treadle._core._nn import Module
from treadle.train._parts import device_of


def generate(
    model: Module, prompt: str = "", length: int = 200, *, temperature: float = 1.0, top_k: int = 0, seed: int = 0,
) -> str:
    """The prompt and what the model writes behind it, character by character.

    model: one that fit() has trained on a TextDataset, or that treadle.models.load() has read
    length: characters to write
    temperature: logits are divided by it; 0: always the likeliest
    top_k: only among so many likeliest; 0: among all
    seed: of what is drawn: the same one writes the same text

    Raises ValueError for a character that the model does not know, and for options that are negative or not finite.
    """
    known = models.about(model)
    if len(known.input) != 1 or not known.classes:
        raise ValueError(f"{known.model} has not been trained on a text")
    return _core._text._generate(
        model, list(known.classes), known.input[0], device_of(model), prompt, length, temperature, top_k, seed
    )
