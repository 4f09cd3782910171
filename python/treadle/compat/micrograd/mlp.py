"""Networks of layers with tanh: the examples are columns, [features, batch].

    model = MLP(3, [4, 4, 1])
    y = model(Tensor([[2.0], [3.0], [-1.0]]))  # shape (1, 1)
"""

import json
import pathlib
import random

from treadle.compat.micrograd._data import Data
from treadle.compat.micrograd.tensor import Tensor

__all__ = ["MLP", "Layer"]


class Layer:
    """tanh(w·[x; 1]), with x of shape [nin, batch] and w of [nout, nin + 1], whose last column is the bias.

    The weights come from Python's generator, even between -1 and 1: random.seed() repeats them.
    """

    def __init__(self, nin: int, nout: int, label: str | None = None) -> None:
        weights = [[random.uniform(-1, 1) for _ in range(nin + 1)] for _ in range(nout)]
        self.w = Tensor(weights, label=label or f"nin:{nin} nout:{nout}")

    def __call__(self, x: Tensor) -> Tensor:
        ones = Tensor([[1.0] * x.shape[1]], requires_grad=False, device=x.device)
        return (self.w @ x.concat(ones)).tanh()

    def parameters(self) -> list[Tensor]:
        """The weights, in a list."""
        return [self.w]

    def to(self, device: str) -> "Layer":
        """Moves the weights; returns the layer."""
        self.w.to(device)
        return self


class MLP:
    """Layers of the sizes `nouts`, one after another, on `nin` features."""

    def __init__(self, nin: int, nouts: list[int]) -> None:
        sizes = [nin, *nouts]
        self.layers = [Layer(before, after) for before, after in zip(sizes, nouts)]

    def __call__(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x

    def parameters(self) -> list[Tensor]:
        """The weights of all layers, in order."""
        return [parameter for layer in self.layers for parameter in layer.parameters()]

    def to(self, device: str) -> "MLP":
        """Moves all weights; returns the model."""
        for layer in self.layers:
            layer.to(device)
        return self

    def copy(self) -> "MLP":
        """A model of the same weights, which changes by itself."""
        sizes = self._sizes()
        model = MLP(sizes[0], sizes[1:])
        model.to(self.layers[0].w.device)
        model.load_state_dict(self.state_dict())
        return model

    def state_dict(self) -> dict[str, Data]:
        """The weights' data by number and label of their layer, which tell layers of one size apart."""
        return {f"{i} {layer.w.label}": layer.w.data for i, layer in enumerate(self.layers)}

    def load_state_dict(self, state: dict[str, Data]) -> None:
        """Takes over data of the same shapes. Labels alone, as of files of the original, count where they name one layer.

        Raises ValueError for a layer that has none, ShapeError for another shape.
        """
        labels = [layer.w.label for layer in self.layers]
        for i, layer in enumerate(self.layers):
            key = f"{i} {layer.w.label}"
            if key not in state and labels.count(layer.w.label) == 1:
                key = str(layer.w.label)
            if key not in state:
                raise ValueError(f"layer {i} ({layer.w.label}) has no weights of its own; there are {', '.join(state)}")
            layer.w.data = state[key]

    def save(self, directory: str | pathlib.Path) -> None:
        """Writes config.json, the sizes, and weights.json into the folder, which is made."""
        folder = pathlib.Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        weights = {key: data if isinstance(data, list) else data.tolist() for key, data in self.state_dict().items()}
        (folder / "weights.json").write_text(json.dumps(weights, indent=4), encoding="utf-8")
        (folder / "config.json").write_text(json.dumps(self._sizes(), indent=4), encoding="utf-8")

    @classmethod
    def load(cls, directory: str | pathlib.Path) -> "MLP":
        """The model that save() wrote, on the cpu. Raises what load_state_dict() raises."""
        folder = pathlib.Path(directory)
        sizes = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        model = cls(sizes[0], sizes[1:])
        model.load_state_dict(json.loads((folder / "weights.json").read_text(encoding="utf-8")))
        return model

    def _sizes(self) -> list[int]:
        return [layer.w.shape[1] - 1 for layer in self.layers] + [self.layers[-1].w.shape[0]]
