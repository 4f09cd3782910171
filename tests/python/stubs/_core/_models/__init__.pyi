# Generated from the package: the compiled half, with what Python adds to its classes.

from typing import Any
from typing import overload
