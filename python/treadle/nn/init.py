"""Initialisation of parameters, in place and beside any graph: layers begin with PyTorch's defaults.

    for name, parameter in model.named_parameters():
        if parameter.ndim >= 2:
            td.nn.init.kaiming_normal(parameter)

Equal seeds give equal parameters. All raise ValueError for numbers that are not finite, DTypeError for a parameter that is
not floating.
"""

from treadle import _core
from treadle._core._nn._init import *  # noqa: F403
from treadle._names import adopt

__all__ = adopt(__name__, _core._nn._init)
