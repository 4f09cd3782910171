# Generated from the package: the public names, and where they come from.

from treadle.array_api._info import __array_namespace_info__ as __array_namespace_info__
from treadle.array_api._elementwise import abs as abs
from treadle.array_api._utility import all as all
from treadle.array_api._utility import any as any
from treadle.array_api._creation import arange as arange
from treadle.array_api._searching import argmax as argmax
from treadle.array_api._searching import argmin as argmin
from treadle.array_api._sorting import argsort as argsort
from treadle.array_api._creation import asarray as asarray
from treadle.array_api._dtypes import astype as astype
from treadle._operators import bitwise_and as bitwise_and
from treadle._operators import bitwise_invert as bitwise_invert
from treadle._operators import bitwise_left_shift as bitwise_left_shift
from treadle._operators import bitwise_or as bitwise_or
from treadle._operators import bitwise_right_shift as bitwise_right_shift
from treadle._operators import bitwise_xor as bitwise_xor
from treadle._core import bool as bool
from treadle.array_api._manipulation import broadcast_arrays as broadcast_arrays
from treadle.array_api._manipulation import broadcast_shapes as broadcast_shapes
from treadle.array_api._manipulation import broadcast_to as broadcast_to
from treadle.array_api._dtypes import can_cast as can_cast
from treadle.array_api._elementwise import clip as clip
from treadle._creation import concat as concat
from treadle.array_api._searching import count_nonzero as count_nonzero
from treadle.array_api._statistical import cumulative_prod as cumulative_prod
from treadle.array_api._statistical import cumulative_sum as cumulative_sum
from treadle.array_api._utility import diff as diff
from treadle.array_api._creation import empty as empty
from treadle._creation import empty_like as empty_like
from treadle.array_api._manipulation import expand_dims as expand_dims
from treadle.array_api._creation import eye as eye
from treadle.array_api._dtypes import finfo as finfo
from treadle.array_api._manipulation import flip as flip
from treadle._core import float32 as float32
from treadle._core import float64 as float64
from treadle._operators import floor_divide as floor_divide
from treadle.array_api._creation import from_dlpack as from_dlpack
from treadle.array_api._creation import full as full
from treadle._creation import full_like as full_like
from treadle.array_api._dtypes import iinfo as iinfo
from treadle._core import int16 as int16
from treadle._core import int32 as int32
from treadle._core import int64 as int64
from treadle._core import int8 as int8
from treadle.array_api._dtypes import isdtype as isdtype
from treadle.array_api._elementwise import isfinite as isfinite
from treadle.array_api._sets import isin as isin
from treadle.array_api._elementwise import isinf as isinf
from treadle.array_api._elementwise import isnan as isnan
from treadle.array_api import linalg as linalg
from treadle.array_api._creation import linspace as linspace
from treadle.array_api._products import matmul as matmul
from treadle.array_api._products import matrix_transpose as matrix_transpose
from treadle.array_api._statistical import max as max
from treadle.array_api._statistical import mean as mean
from treadle.array_api._creation import meshgrid as meshgrid
from treadle.array_api._statistical import min as min
from treadle.array_api._manipulation import moveaxis as moveaxis
from treadle.array_api._searching import nonzero as nonzero
from treadle.array_api._creation import ones as ones
from treadle._creation import ones_like as ones_like
from treadle.array_api._manipulation import permute_dims as permute_dims
from treadle.array_api._statistical import prod as prod
from treadle._operators import remainder as remainder
from treadle.array_api._manipulation import repeat as repeat
from treadle.array_api._manipulation import reshape as reshape
from treadle.array_api._dtypes import result_type as result_type
from treadle.array_api._manipulation import roll as roll
from treadle.array_api._searching import searchsorted as searchsorted
from treadle.array_api._elementwise import sign as sign
from treadle.array_api._elementwise import signbit as signbit
from treadle.array_api._sorting import sort as sort
from treadle.array_api._manipulation import squeeze as squeeze
from treadle._creation import stack as stack
from treadle.array_api._statistical import std as std
from treadle.array_api._statistical import sum as sum
from treadle.array_api._searching import take as take
from treadle.array_api._searching import take_along_axis as take_along_axis
from treadle.array_api._products import tensordot as tensordot
from treadle.array_api._manipulation import tile as tile
from treadle._creation import tril as tril
from treadle._creation import triu as triu
from treadle._core import uint8 as uint8
from treadle.array_api._sets import unique_all as unique_all
from treadle.array_api._sets import unique_counts as unique_counts
from treadle.array_api._sets import unique_inverse as unique_inverse
from treadle.array_api._sets import unique_values as unique_values
from treadle.array_api._manipulation import unstack as unstack
from treadle.array_api._statistical import var as var
from treadle.array_api._products import vecdot as vecdot
from treadle.array_api._searching import where as where
from treadle.array_api._creation import zeros as zeros
from treadle._creation import zeros_like as zeros_like

from treadle._core import Tensor
from typing import Any
from typing import overload
__array_api_version__: str = '2025.12'
e: float = 2.718281828459045
inf: float = float('inf')
nan: float = float('nan')
newaxis: None = None
pi: float = 3.141592653589793

def acos(x: Tensor, /) -> Tensor: ...

def acosh(x: Tensor, /) -> Tensor: ...

def add(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def asin(x: Tensor, /) -> Tensor: ...

def asinh(x: Tensor, /) -> Tensor: ...

def atan(x: Tensor, /) -> Tensor: ...

def atan2(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def atanh(x: Tensor, /) -> Tensor: ...

def ceil(x: Tensor, /) -> Tensor: ...

def conj(x: Tensor, /) -> Tensor: ...

def copysign(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def cos(x: Tensor, /) -> Tensor: ...

def cosh(x: Tensor, /) -> Tensor: ...

def divide(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def equal(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def exp(x: Tensor, /) -> Tensor: ...

def expm1(x: Tensor, /) -> Tensor: ...

def floor(x: Tensor, /) -> Tensor: ...

def greater(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def greater_equal(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def hypot(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def less(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def less_equal(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def log(x: Tensor, /) -> Tensor: ...

def log10(x: Tensor, /) -> Tensor: ...

def log1p(x: Tensor, /) -> Tensor: ...

def log2(x: Tensor, /) -> Tensor: ...

def logaddexp(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def logical_and(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def logical_not(x: Tensor, /) -> Tensor: ...

def logical_or(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def logical_xor(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def maximum(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def minimum(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def multiply(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def negative(x: Tensor, /) -> Tensor: ...

def nextafter(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def not_equal(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def positive(x: Tensor, /) -> Tensor: ...

def pow(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def real(x: Tensor, /) -> Tensor: ...

def reciprocal(x: Tensor, /) -> Tensor: ...

def round(x: Tensor, /) -> Tensor: ...

def sin(x: Tensor, /) -> Tensor: ...

def sinh(x: Tensor, /) -> Tensor: ...

def sqrt(x: Tensor, /) -> Tensor: ...

def square(x: Tensor, /) -> Tensor: ...

def subtract(x1: Tensor | float, x2: Tensor | float, /) -> Tensor: ...

def tan(x: Tensor, /) -> Tensor: ...

def tanh(x: Tensor, /) -> Tensor: ...

def trunc(x: Tensor, /) -> Tensor: ...

