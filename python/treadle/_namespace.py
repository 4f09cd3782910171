"""What makes a tensor an array of the Python array API standard; the namespace itself is loaded when it is asked for."""

from treadle._core import Tensor


def _array_namespace(self: Tensor, /, *, api_version=None):
    """The namespace treadle.array_api. Raises ValueError for a version of the standard that it does not follow."""
    from treadle import array_api

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", array_api.__array_api_version__):
        raise ValueError(f"treadle.array_api follows version {array_api.__array_api_version__}, not {api_version!r}")
    return array_api


def _to_device(self: Tensor, device, /, *, stream=None) -> Tensor:
    """On another device; itself where it is there. `stream` must be None."""
    if stream is not None:
        raise ValueError("to_device: streams are the library's own")
    return self.to(device)


Tensor.__array_namespace__ = _array_namespace
Tensor.to_device = _to_device
