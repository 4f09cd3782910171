# Generated from the package: the compiled half, with what Python adds to its classes.

from typing import Any
from typing import overload

class LearningRateCurve:

    @property
    def rates(self) -> list[float]: ...
    @property
    def losses(self) -> list[float]: ...
    @property
    def suggestion(self) -> float: ...

