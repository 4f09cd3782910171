"""Sets of elements. NaN is unequal to itself, so each counts."""

import collections

from treadle import _core, _formula, _indexing
from treadle._arrays import asarray
from treadle._core import Tensor
from treadle.array_api._checks import require_tensor

UniqueAllResult = collections.namedtuple("UniqueAllResult", "values indices inverse_indices counts")
UniqueCountsResult = collections.namedtuple("UniqueCountsResult", "values counts")
UniqueInverseResult = collections.namedtuple("UniqueInverseResult", "values inverse_indices")


def unique_all(x: Tensor, /) -> UniqueAllResult:
    """The distinct elements in order, the place of the first of each in the flattened x, for each element of x the place among
    the distinct ones, and how often each occurs. Gradients of the values go to the first of each."""
    import numpy as np

    require_tensor("unique_all", x)
    _, first, inverse, counts = np.unique(
        np.asarray(x), return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    values = _indexing._select(_core.reshape(x, (-1,)), 0, first)
    places = (np.asarray(part, np.int64) for part in (first, inverse.reshape(x.shape), counts))
    return UniqueAllResult(values, *(asarray(part, device=x.device) for part in places))


def unique_counts(x: Tensor, /) -> UniqueCountsResult:
    """The distinct elements in order, and how often each occurs."""
    found = unique_all(x)
    return UniqueCountsResult(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverseResult:
    """The distinct elements in order, and for each element of x its place among them."""
    found = unique_all(x)
    return UniqueInverseResult(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct elements, in order."""
    return unique_all(x).values


def isin(x1: Tensor | float, x2: Tensor | float, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 is among those of x2, or is not where `invert` says so."""
    import numpy as np

    x1, x2 = _formula.promoted("isin", x1, x2)
    return asarray(np.isin(np.asarray(x1), np.asarray(x2), invert=invert), device=x1.device)


__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]
