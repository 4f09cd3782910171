# Generated from the package: the public names, and where they come from.

from treadle._core._nn._init import constant as constant
from treadle._core._nn._init import kaiming_normal as kaiming_normal
from treadle._core._nn._init import kaiming_uniform as kaiming_uniform
from treadle._core._nn._init import normal as normal
from treadle._core._nn._init import orthogonal as orthogonal
from treadle._core._nn._init import truncated_normal as truncated_normal
from treadle._core._nn._init import uniform as uniform
from treadle._core._nn._init import uniform_fan_in as uniform_fan_in
from treadle._core._nn._init import xavier_normal as xavier_normal
from treadle._core._nn._init import xavier_uniform as xavier_uniform
