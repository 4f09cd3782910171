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


# Functions of the namespace that are methods, too: of the tensor alone, and of an axis that may be given by place.
_OF_ELEMENTS = (
    "ceil", "clip", "expm1", "floor", "isfinite", "isinf", "isnan", "log10", "log1p", "log2", "nonzero", "reciprocal",
    "round", "sign", "square", "tan", "trunc",
)
_ALONG_AN_AXIS = {
    **dict.fromkeys(("all", "any", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "flip", "prod", "std", "var")),
    **dict.fromkeys(("argsort", "diff", "sort"), -1),
}


def _method_of_elements(name: str):
    def method(self, *arguments, **options):
        from treadle import array_api

        return getattr(array_api, name)(self, *arguments, **options)

    return method


def _method_along_an_axis(name: str, default):
    def method(self, axis=default, **options):
        from treadle import array_api

        return getattr(array_api, name)(self, axis=axis, **options)

    return method


for _name in (*_OF_ELEMENTS, *_ALONG_AN_AXIS):
    _method = _method_of_elements(_name) if _name in _OF_ELEMENTS else _method_along_an_axis(_name, _ALONG_AN_AXIS[_name])
    _method.__name__, _method.__qualname__ = _name, f"Tensor.{_name}"
    _method.__doc__ = f"treadle.{_name}() of the tensor; arguments are those of treadle.array_api.{_name}()."
    _method.__annotations__ = {"return": tuple[Tensor, ...] if _name == "nonzero" else Tensor}
    setattr(Tensor, _name, _method)
