"""Losses as modules, under PyTorch's names: each calls the function of treadle that its docstring names."""

from __future__ import annotations

from treadle import _core
from treadle._core import Tensor
from treadle._core._nn import Module

TYPE_CHECKING = False  # as of typing, whose import takes time
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MultiMarginLoss", "NLLLoss",
    "SmoothL1Loss",
]


class _Loss(Module):
    """A function of prediction and target, with what else it is called with."""

    _function: Callable[..., Tensor]

    def __init__(self, weights: dict[str, Tensor | None] | None = None, **options) -> None:
        super().__init__()
        self._options, self._weights = options, tuple(weights or ())
        for name, weight in (weights or {}).items():
            if weight is None:
                setattr(self, name, None)
            else:
                self.register_buffer(name, weight)  # moves with the module

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """The loss of predictions x: of rank 0 unless the reduction is "none"."""
        weights = {name: weight for name in self._weights if (weight := getattr(self, name)) is not None}
        return self._function(x, target, **weights, **self._options)

    def extra_repr(self) -> str:
        """Name and options."""
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"{type(self).__name__}({options})"


class CrossEntropyLoss(_Loss):
    """cross_entropy(): of logits [N, C] and labels [N], or probabilities [N, C]. Without an ignore_index every label is a
    class; without weight and smoothing, too, the loss and its gradient are one pass."""

    _function = staticmethod(_core.cross_entropy)

    def __init__(self, weight: Tensor | None = None, ignore_index: int | None = None, reduction: str = "mean",
                 label_smoothing: float = 0.0) -> None:
        options: dict[str, object] = {"reduction": reduction}
        if ignore_index is not None:
            options["ignore_index"] = ignore_index
        if label_smoothing:
            options["label_smoothing"] = label_smoothing
        super().__init__({"weight": weight}, **options)


class NLLLoss(_Loss):
    """nll_loss(): of logarithms of probabilities [N, C] and labels [N]."""

    _function = staticmethod(_core.nll_loss)

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, ignore_index=ignore_index, reduction=reduction)


class MultiMarginLoss(_Loss):
    """multi_margin_loss(): the hinge loss of several classes, of scores [N, C] and labels [N]."""

    _function = staticmethod(_core.multi_margin_loss)

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, p=p, margin=margin, reduction=reduction)


class MSELoss(_Loss):
    """mse(): the squared difference, of two tensors of one shape."""

    _function = staticmethod(_core.mse)

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)


class L1Loss(_Loss):
    """l1_loss(): the absolute difference, of two tensors of one shape."""

    _function = staticmethod(_core.l1_loss)

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)


class HuberLoss(_Loss):
    """huber_loss(): quadratic up to delta, then linear."""

    _function = staticmethod(_core.huber_loss)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction, delta=delta)


class SmoothL1Loss(_Loss):
    """smooth_l1_loss(): huber_loss() over beta."""

    _function = staticmethod(_core.smooth_l1_loss)

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction, beta=beta)


class BCELoss(_Loss):
    """binary_cross_entropy(): of probabilities and targets in [0, 1], of one shape."""

    _function = staticmethod(_core.binary_cross_entropy)

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__({"weight": weight}, reduction=reduction)


class BCEWithLogitsLoss(_Loss):
    """binary_cross_entropy_with_logits(): of logits and targets in [0, 1], of one shape."""

    _function = staticmethod(_core.binary_cross_entropy_with_logits)

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__(
            {"weight": weight, "pos_weight": pos_weight}, reduction=reduction
        )


class KLDivLoss(_Loss):
    """kl_div(): of logarithms of probabilities and targets, which are probabilities, or logarithms, too, with log_target."""

    _function = staticmethod(_core.kl_div)

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction=reduction, log_target=log_target)
