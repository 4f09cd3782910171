"""Progress of a training: a line that is redrawn on a terminal, and one for each epoch."""

from __future__ import annotations

import shutil
import sys

from treadle._core._callbacks import Callback, EpochReport, FitResult, StepReport

_BAR = 24


class Progress(Callback):
    """Prints a line after each epoch on standard output and, where standard error is a terminal, redraws one as steps go
    by. Rates are those of training steps alone. fit() has one of its own unless `verbose` is False."""

    def __init__(self, unit: str = "examples") -> None:
        super().__init__()
        self._unit, self._drawn = unit, False

    def tick(self, report: StepReport, loss: float, seconds: float, steps: int) -> None:
        """Called by fit() now and then: the smooth loss, and seconds and steps of this epoch."""
        if not sys.stderr.isatty():
            return
        left = seconds / steps * (
            report.steps_in_epoch - report.step_in_epoch + (report.epochs - report.epoch - 1) * report.steps_in_epoch
        )
        filled = report.step_in_epoch * _BAR // max(report.steps_in_epoch, 1)
        text = (
            f"epoch {report.epoch + 1}/{report.epochs}  {'━' * filled}{'─' * (_BAR - filled)}  loss {loss:.4f}  "
            f"{self._rate(report.examples_done, seconds)}  {_clock(left)} left"
        )
        sys.stderr.write("\r\033[K" + text[: shutil.get_terminal_size().columns - 1])
        sys.stderr.flush()
        self._drawn = True

    def end_epoch(self, report: EpochReport) -> None:
        """Prints the epoch's figures."""
        self.clear()
        parts = [f"epoch {report.epoch}/{report.epochs}", f"loss {report.train_loss:.4f}"]
        for part, figures in (("validation", report.validation), ("test", report.test)):
            parts += [f"{part} {name} {_figure(name, figures[name])}" for name in sorted(figures or (), key=_loss_first)]
        parts += [f"{report.seconds:.1f} s", self._rate(report.examples, report.seconds)]
        print("  ".join(parts + ["best so far"] * report.best), flush=True)

    def end_fit(self, result: FitResult) -> None:
        """Removes the line."""
        self.clear()

    def clear(self) -> None:
        """Removes the line that is drawn."""
        if self._drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        self._drawn = False

    def _rate(self, examples: int, seconds: float) -> str:
        return f"{examples / max(seconds, 1e-9):,.0f} {self._unit}/s"


def _loss_first(name: str) -> tuple:
    return name != "loss", name


def _figure(name: str, value: float) -> str:
    return f"{100 * value:.2f} %" if name == "accuracy" else f"{value:.4f}"


def _clock(seconds: float) -> str:
    whole = int(seconds + 0.5)
    return f"{whole // 60}:{whole % 60:02}"
