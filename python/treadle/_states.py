"""States in files, and states exchanged with PyTorch: parameters have PyTorch's names and layouts."""

from __future__ import annotations

import os
from collections.abc import Mapping

from treadle import _core
from treadle._core import Tensor
from treadle._core._nn import Module

TYPE_CHECKING = False  # as of typing, whose import takes time
if TYPE_CHECKING:
    from typing import Any

_OF_TORCH = (".pt", ".pth", ".bin")


def save(path: str | os.PathLike, state: Mapping[str, Tensor] | Module, metadata: Mapping[str, str] | None = None) -> None:
    """Writes tensors by name, or those of a module, beside the target and renames.

    path: NAME.safetensors, which PyTorch's tools read, too; or NAME.pt or .pth, PyTorch's own format, which needs PyTorch
    metadata: texts that a safetensors file holds beside the tensors

    Raises FileError where it cannot be written, ImportError for .pt without PyTorch.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"save: the path comes first, then what is saved; the path is a {type(path).__name__}")
    tensors = state.state_dict() if isinstance(state, Module) else dict(state)
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"save: '{name}' is a {type(tensor).__name__}, not a tensor")
    if str(path).endswith(_OF_TORCH):
        _torch(path).save(to_torch(tensors), path)
    else:
        _core._checkpoints.save_tensors(os.fspath(path), tensors, {"format": "pt", **(metadata or {})})


def load(path: str | os.PathLike) -> dict[str, Tensor]:
    """The tensors of a file by name: a safetensors file, a checkpoint of a run (its parameters), or PyTorch's .pt and .pth,
    which need PyTorch and may hold more than tensors: lists, dicts and numbers stay what they are.

    Raises FileError where there is no file, FormatError where it is damaged, ImportError for .pt without PyTorch.
    """
    if str(path).endswith(_OF_TORCH):
        torch = _torch(path)
        if not os.path.exists(path):
            raise _core.FileError(f"{os.fspath(path)}: there is no such file")
        return from_torch(torch.load(path, map_location="cpu", weights_only=True))
    tensors, metadata = _core._checkpoints.load_tensors(os.fspath(path))
    if "treadle.checkpoint" in metadata:
        return {name: tensor for name, tensor in tensors.items() if not name.startswith("treadle.")}
    return tensors


def _torch(path):
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"{os.fspath(path)} is a file of PyTorch's, which is not installed: use NAME.safetensors, which needs nothing"
        ) from error
    return torch


def from_torch(value: Any) -> Any:
    """PyTorch's tensors as tensors of one's own: one, or those in a dict, a list or a tuple; anything else stays as it is.
    Tensors are copied."""
    if isinstance(value, Mapping):
        return {name: from_torch(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(from_torch(one) for one in value)
    if type(value).__module__.partition(".")[0] != "torch" or not hasattr(value, "__dlpack__"):
        return value
    source = value.detach().to("cpu").contiguous()
    if str(source.dtype) == "torch.bool":  # older PyTorch exports none
        return _core.from_array(source.numpy().copy())
    return _core.from_array(source).clone()


def to_torch(value: Any) -> Any:
    """Tensors as PyTorch's: one, or those in a dict, a list or a tuple. Tensors are copied. Raises ImportError without
    PyTorch."""
    import torch

    if isinstance(value, Tensor):
        own = value.detach().to("cpu")
        if own.dtype == _core.bool:
            return torch.from_numpy(own.numpy().copy())
        return torch.from_dlpack(own).clone()
    if isinstance(value, Mapping):
        return {name: to_torch(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(to_torch(one) for one in value)
    return value
