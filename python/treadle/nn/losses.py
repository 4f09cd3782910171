"""Losses as modules, under PyTorch's names: each calls the function of treadle that its docstring names."""

from __future__ import annotations

from treadle import _core
from treadle._core import Tensor
from treadle._core._nn import Module

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MultiMarginLoss", "NLLLoss",
    "SmoothL1Loss",
]


class _Loss(Module):
    """A function of prediction and target, with what else it is called with."""

    def __init__(self, function, weights: dict[str, Tensor | None] | None = None, **options) -> None:
        super().__init__()
        self._function, self._options, self._weights = function, options, tuple(weights or ())
        for name, weight in (weights or {}).items():
            if weight is None:
                setattr(self, name, None)
            else:
                self.register_buffer(name, weight)  # moves with the module

    def forward(self, x: Tensor, target: Tensor) -> Tensor:
        """The loss of predictions x: of rank 0 unless the reduction is "none"."""
        return self._function(x, target, **{name: getattr(self, name) for name in self._weights}, **self._options)

    def extra_repr(self) -> str:
        """Name and options."""
        options = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"{type(self).__name__}({options})"


class CrossEntropyLoss(_Loss):
    """cross_entropy(): of logits [N, C] and labels [N], or probabilities [N, C]."""

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        options = {"ignore_index": ignore_index, "reduction": reduction, "label_smoothing": label_smoothing}
        super().__init__(_core.cross_entropy, {"weight": weight}, **options)


class NLLLoss(_Loss):
    """nll_loss(): of logarithms of probabilities [N, C] and labels [N]."""

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(_core.nll_loss, {"weight": weight}, ignore_index=ignore_index, reduction=reduction)


class MultiMarginLoss(_Loss):
    """multi_margin_loss(): the hinge loss of several classes, of scores [N, C] and labels [N]."""

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(_core.multi_margin_loss, {"weight": weight}, p=p, margin=margin, reduction=reduction)


class MSELoss(_Loss):
    """mse(): the squared difference, of two tensors of one shape."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(_core.mse, reduction=reduction)


class L1Loss(_Loss):
    """l1_loss(): the absolute difference, of two tensors of one shape."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(_core.l1_loss, reduction=reduction)


class HuberLoss(_Loss):
    """huber_loss(): quadratic up to delta, then linear."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(_core.huber_loss, reduction=reduction, delta=delta)


class SmoothL1Loss(_Loss):
    """smooth_l1_loss(): huber_loss() over beta."""

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(_core.smooth_l1_loss, reduction=reduction, beta=beta)


class BCELoss(_Loss):
    """binary_cross_entropy(): of probabilities and targets in [0, 1], of one shape."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(_core.binary_cross_entropy, {"weight": weight}, reduction=reduction)


class BCEWithLogitsLoss(_Loss):
    """binary_cross_entropy_with_logits(): of logits and targets in [0, 1], of one shape."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__(
            _core.binary_cross_entropy_with_logits, {"weight": weight, "pos_weight": pos_weight}, reduction=reduction
        )


class KLDivLoss(_Loss):
    """kl_div(): of logarithms of probabilities and targets, which are probabilities, or logarithms, too, with log_target."""

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(_core.kl_div, reduction=reduction, log_target=log_target)
