"""Constants."""

import math

e, pi, inf, nan = math.e, math.pi, math.inf, math.nan
newaxis = None

__all__ = ["e", "inf", "nan", "newaxis", "pi"]
