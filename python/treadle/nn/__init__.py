"""Layers and networks: Module and what derives from it.

    class Net(td.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = td.nn.Conv2d(1, 8, kernel_size=3)
            self.fc = td.nn.Linear(8 * 26 * 26, 10)

        def forward(self, x):
            return self.fc(self.conv(x).relu().flatten(1))
"""

from treadle import _core
from treadle._core._nn import *  # noqa: F403
from treadle._names import adopt
from treadle.nn import _copies  # noqa: F401  methods of the classes
from treadle.nn import functional, init, losses, utils
from treadle.nn._module import ModuleList, Parameter
from treadle.nn._summary import summary
from treadle.nn.losses import *  # noqa: F403

__all__ = [*adopt(__name__, _core._nn), *losses.__all__, "ModuleList", "Parameter", "functional", "init", "summary", "utils"]
