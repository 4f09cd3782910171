"""What is of tensors in Python: where they come from, indexing, operators, printing. Importing it completes the class."""

from treadle import _familiar, _indexing, _namespace  # noqa: F401  methods of the class
from treadle._arrays import asarray, from_dlpack, from_numpy, tensor
from treadle._creation import (
    arange,
    cat,
    chunk,
    concat,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    rand,
    randn,
    split,
    stack,
    tril,
    triu,
    unbind,
    zeros,
    zeros_like,
)
from treadle._operators import (
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    floor_divide,
    remainder,
)
from treadle._printing import set_printoptions

__all__ = [
    "arange", "asarray", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "cat", "chunk", "concat", "empty", "empty_like", "eye", "floor_divide", "from_dlpack", "from_numpy", "full",
    "full_like", "linspace", "meshgrid", "ones", "ones_like", "rand", "randn", "remainder", "set_printoptions", "split", "stack", "tensor",
    "tril", "triu", "unbind", "zeros", "zeros_like",
]
