"""Where the surfaces compute when they are not told."""

import functools

from treadle import _core


@functools.cache
def default_device() -> str:
    """The name "cuda" where there is a GPU, else "cpu"."""
    try:
        _core.empty((1,), device="cuda")
    except _core.DeviceError:
        return "cpu"
    return "cuda"
