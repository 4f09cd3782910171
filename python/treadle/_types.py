"""Types of arguments, for annotations."""

from treadle._core import DType

DTypeLike = DType | str | type
"""A dtype, its name, NumPy's, or float, int and bool."""
