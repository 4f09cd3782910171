"""What makes a tensor an array of the Python array API standard; the namespace itself is loaded when it is asked for."""

from treadle._core import Tensor


def _array_namespace(self: Tensor, /, *, api_version: str | None = None):
    """The namespace treadle.array_api. Raises ValueError for a version of the standard that it does not follow."""
    from treadle import array_api

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", array_api.__array_api_version__):
        raise ValueError(f"treadle.array_api follows version {array_api.__array_api_version__}, not {api_version!r}")
    return array_api


def _to_device(self: Tensor, device: str, /, *, stream: None = None) -> Tensor:
    """On another device; itself where it is there. `stream` must be None."""
    if stream is not None:
        raise ValueError("to_device: streams are the library's own")
    return self.to(device)


Tensor.__array_namespace__ = _array_namespace
Tensor.to_device = _to_device


def _function(name: str):
    from treadle import array_api

    return getattr(array_api, name)


def _of_elements(name: str):
    def method(self: Tensor) -> Tensor:
        return _function(name)(self)

    method.__doc__ = f"treadle.array_api.{name}() of the tensor."
    return method


for _name in (
    "ceil", "expm1", "floor", "isfinite", "isinf", "isnan", "log10", "log1p", "log2", "reciprocal", "round", "sign", "square",
    "tan", "trunc",
):
    setattr(Tensor, _name, _of_elements(_name))


class _Methods:
    """Functions of the namespace whose axis may be given by place: x.std(0), x.any(axis=(0, 1), keepdims=True)."""

    def all(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
        """Whether no element along axes is 0; True of nothing."""
        return _function("all")(self, axis=axis, keepdims=keepdims)

    def any(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
        """Whether an element along axes is not 0; False of nothing."""
        return _function("any")(self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """The place (int64) of the first smallest element along an axis, or of the flattened tensor."""
        return _function("argmin")(self, axis=axis, keepdims=keepdims)

    def argsort(self, axis: int = -1, descending: bool = False) -> Tensor:
        """The places (int64) that sort along an axis; equal elements keep their order."""
        return _function("argsort")(self, axis=axis, descending=descending)

    def clip(self, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
        """The elements between two bounds, which broadcast to the shape; None bounds nothing."""
        return _function("clip")(self, min, max)

    def count_nonzero(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
        """How many elements along axes are not 0, in int64."""
        return _function("count_nonzero")(self, axis=axis, keepdims=keepdims)

    def cumulative_prod(self, axis: int | None = None, include_initial: bool = False) -> Tensor:
        """The products of the elements up to each along an axis, which a tensor of one axis need not name."""
        return _function("cumulative_prod")(self, axis=axis, include_initial=include_initial)

    def cumulative_sum(self, axis: int | None = None, include_initial: bool = False) -> Tensor:
        """The sums of the elements up to each along an axis, which a tensor of one axis need not name."""
        return _function("cumulative_sum")(self, axis=axis, include_initial=include_initial)

    def diff(self, axis: int = -1, n: int = 1) -> Tensor:
        """The differences of neighbours along an axis, `n` times."""
        return _function("diff")(self, axis=axis, n=n)

    def flip(self, axis: int | tuple[int, ...] | None = None) -> Tensor:
        """The elements in reverse order along these axes, or all."""
        return _function("flip")(self, axis=axis)

    def nonzero(self) -> tuple[Tensor, ...]:
        """The places of all elements that are not 0: for each axis a tensor of int64."""
        return _function("nonzero")(self)

    def prod(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Tensor:
        """The product along axes; integers and bools in int64."""
        return _function("prod")(self, axis=axis, keepdims=keepdims)

    def sort(self, axis: int = -1, descending: bool = False) -> Tensor:
        """The elements in order along an axis; the gradient goes to where each came from."""
        return _function("sort")(self, axis=axis, descending=descending)

    def std(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, correction: float = 0.0) -> Tensor:
        """The square root of var()."""
        return _function("std")(self, axis=axis, keepdims=keepdims, correction=correction)

    def var(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, correction: float = 0.0) -> Tensor:
        """Σ (x - mean)² / (n - correction) of the n elements along axes."""
        return _function("var")(self, axis=axis, keepdims=keepdims, correction=correction)


for _name, _method in vars(_Methods).items():
    if not _name.startswith("_"):
        setattr(Tensor, _name, _method)
