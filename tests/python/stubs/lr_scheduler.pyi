# Generated from the package: the public names, and where they come from.

from treadle._core._lr_scheduler import Rates as Rates

from typing import Any
from typing import overload

class LRScheduler:
    kind: str = ''

    @property
    def follows_figure(self) -> bool: ...
    def step(self, metrics: float | None=None) -> None: ...
    def get_last_lr(self) -> list[float]: ...
    def at(self, step: int, rate: float=1.0) -> float: ...
    def state_dict(self) -> dict: ...
    def load_state_dict(self, state: dict) -> None: ...
    def __repr__(self) -> str: ...

class ConstantSchedule(LRScheduler):
    kind: str = 'constant'

    def __init__(self, optimizer: Any=None, *, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

class CosineSchedule(LRScheduler):
    kind: str = 'cosine'

    def __init__(self, optimizer: Any=None, *, lowest_rate: float=0.0, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

class CosineWarmRestartsSchedule(LRScheduler):
    kind: str = 'cosine-warm-restarts'

    def __init__(self, optimizer: Any=None, *, restart_epochs: int=10, restart_factor: int=1, lowest_rate: float=0.0, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

class ExponentialSchedule(LRScheduler):
    kind: str = 'exponential'

    def __init__(self, optimizer: Any=None, *, gamma: float=0.1, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

class LinearSchedule(LRScheduler):
    kind: str = 'linear'

    def __init__(self, optimizer: Any=None, *, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

class MultiStepSchedule(LRScheduler):
    kind: str = 'multi-step'

    def __init__(self, optimizer: Any=None, *, milestones: Any=[], gamma: float=0.1, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

class OneCycleSchedule(LRScheduler):
    kind: str = 'one-cycle'

    def __init__(self, optimizer: Any=None, *, warm_up: float=0.2, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

class OneCycleCosineSchedule(LRScheduler):
    kind: str = 'one-cycle-cosine'

    def __init__(self, optimizer: Any=None, *, warm_up: float=0.2, initial_divisor: float=25.0, final_divisor: float=10000.0, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

class ReduceOnPlateauSchedule(LRScheduler):
    kind: str = 'reduce-on-plateau'

    def __init__(self, optimizer: Any=None, *, gamma: float=0.1, patience: int=10, threshold: float=0.0001, cooldown: int=0, lowest_rate: float=0.0, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

class StepSchedule(LRScheduler):
    kind: str = 'step'

    def __init__(self, optimizer: Any=None, *, step_size: int=10, gamma: float=0.1, total_steps: int=0, steps_per_epoch: int=1, warm_up_steps: int=0) -> None: ...

def make(name: str, optimizer: Any=None, **options: Any) -> LRScheduler: ...

def known_schedules() -> list[str]: ...

class StepLR(StepSchedule):

    def __init__(self, optimizer: Any, step_size: int, gamma: float=0.1) -> None: ...

class MultiStepLR(MultiStepSchedule):

    def __init__(self, optimizer: Any, milestones: list[int], gamma: float=0.1) -> None: ...

class ExponentialLR(ExponentialSchedule):

    def __init__(self, optimizer: Any, gamma: float) -> None: ...

class CosineAnnealingLR(CosineSchedule):

    def __init__(self, optimizer: Any, T_max: int, eta_min: float=0.0) -> None: ...

class CosineAnnealingWarmRestarts(CosineWarmRestartsSchedule):

    def __init__(self, optimizer: Any, T_0: int, T_mult: int=1, eta_min: float=0.0) -> None: ...

class OneCycleLR(OneCycleCosineSchedule):

    def __init__(self, optimizer: Any, max_lr: float, total_steps: int=0, pct_start: float=0.3, div_factor: float=25.0, final_div_factor: float=10000.0) -> None: ...

class ReduceLROnPlateau(ReduceOnPlateauSchedule):

    def __init__(self, optimizer: Any, mode: str='min', factor: float=0.1, patience: int=10, threshold: float=0.0001, cooldown: int=0, min_lr: float=0.0) -> None: ...

