# Generated from the package: the public names, and where they come from.

from treadle._core._optim import LossScaler as LossScaler
from treadle._core._optim import WeightAverage as WeightAverage
from treadle._core._optim import clip_grad_norm_ as clip_grad_norm_
from treadle._core._optim import clip_grad_value_ as clip_grad_value_

from collections.abc import Callable
from treadle._core import Tensor
from typing import Any
from typing import overload
import treadle._core._optim

class ParameterGroup(dict):

    def __init__(self, optimizer: Optimizer, index: int, contents: dict) -> None: ...
    def __getitem__(self, key: str) -> Any: ...
    def __setitem__(self, key: str, value: Any) -> None: ...

class Optimizer(treadle._core._optim.Optimizer):
    rule: str = ''

    @property
    def param_groups(self) -> list: ...
    def step(self, closure: Callable[[], Tensor] | None=None) -> Tensor | None: ...
    def state_dict(self) -> dict[str, Tensor]: ...
    def load_state_dict(self, state: dict[str, Tensor]) -> None: ...
    def __repr__(self) -> str: ...

class Adagrad(Optimizer):
    rule: str = 'adagrad'

    def __init__(self, params: Any, lr: float=0.01, *, learning_rate_decay: float=0.0, eps: float=1e-10, weight_decay: float=0.0, initial_accumulator: float=0.0, decay_vectors: bool=True, **spellings: Any) -> None: ...

class Adam(Optimizer):
    rule: str = 'adam'

    def __init__(self, params: Any, lr: float=0.001, *, beta1: float=0.9, beta2: float=0.999, eps: float=1e-08, weight_decay: float=0.0, decoupled: bool=False, decay_vectors: bool=True, **spellings: Any) -> None: ...

class AdamW(Optimizer):
    rule: str = 'adamw'

    def __init__(self, params: Any, lr: float=0.001, *, beta1: float=0.9, beta2: float=0.999, eps: float=1e-08, weight_decay: float=0.01, decoupled: bool=True, decay_vectors: bool=True, **spellings: Any) -> None: ...

class RMSprop(Optimizer):
    rule: str = 'rmsprop'

    def __init__(self, params: Any, lr: float=0.01, *, alpha: float=0.99, eps: float=1e-08, weight_decay: float=0.0, momentum: float=0.0, centered: bool=False, decay_vectors: bool=True) -> None: ...

class SGD(Optimizer):
    rule: str = 'sgd'

    def __init__(self, params: Any, lr: float=0.001, *, momentum: float=0.0, dampening: float=0.0, weight_decay: float=0.0, nesterov: bool=False, decay_vectors: bool=True) -> None: ...

class Muon(Optimizer):
    rule: str = 'muon'

    def __init__(self, params: Any, lr: float=0.001, *, momentum: float=0.95, weight_decay: float=0.1, eps: float=1e-07, iterations: int=5, nesterov: bool=True, scale: str='match_rms_adamw', decay_vectors: bool=True, **spellings: Any) -> None: ...

def make(name: str, params: Any, lr: float, **options: Any) -> Optimizer: ...

def known_optimizers() -> list[str]: ...

