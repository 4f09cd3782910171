"""What the namespace says of itself."""

from treadle import _core
from treadle.array_api import _dtypes


class NamespaceInfo:
    """`__array_namespace_info__()`: capabilities, devices and dtypes."""

    def capabilities(self) -> dict:
        """Indexing by masks and shapes that depend on values are there; a tensor has at most 8 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> str:
        """Where tensors are made unless a device is given."""
        return "cpu"

    def devices(self) -> list:
        """The devices that are there."""
        return _core.known_devices()

    def default_dtypes(self, *, device: str | None = None) -> dict:
        """What dtypes numbers have where none is given. There is no complex one."""
        return {"real floating": _core.float32, "complex floating": None, "integral": _core.int64, "indexing": _core.int64}

    def dtypes(self, *, device: str | None = None, kind=None) -> dict:
        """The standard's dtypes that tensors have, by name; of a kind, or of one of a tuple of kinds, where one is given."""
        names = {dtype.name: dtype for dtype in (*_dtypes.KINDS["bool"], *_dtypes.SIGNED, *_dtypes.UNSIGNED, *_dtypes.FLOATING)}
        if kind is None:
            return names
        return {name: dtype for name, dtype in names.items() if _dtypes.isdtype(dtype, kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """What the namespace can do."""
    return NamespaceInfo()


__all__ = ["__array_namespace_info__"]
