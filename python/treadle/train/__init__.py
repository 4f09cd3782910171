"""Training: fit(), its callbacks, and figures of models on data.

    model = td.models.make("fashion_cnn", seed=0)
    result = td.train.fit(model, "fashion-mnist", optimizer="adam", lr=1e-3, epochs=5)
    print(result.test["accuracy"])
"""

from treadle._core._callbacks import (
    Callback, CsvLog, EarlyStopping, EpochReport, FitResult, FitStart, Profiler, StepReport, TensorboardLog,
)
from treadle._core._checkpoints import RunFolder
from treadle._core._evaluation import ClassFigures, Evaluation
from treadle._core._text import TextEvaluation
from treadle._core._train import LearningRateCurve
from treadle.train._evaluate import accuracy, evaluate
from treadle.train._fit import find_learning_rate, fit
from treadle.train._generate import generate
from treadle.train._progress import Progress

_bound = (
    Callback, ClassFigures, CsvLog, EarlyStopping, EpochReport, Evaluation, FitResult, FitStart, LearningRateCurve, Profiler,
    RunFolder, StepReport, TensorboardLog, TextEvaluation,
)
for _kind in _bound:
    _kind.__module__ = __name__

__all__ = [*(one.__name__ for one in _bound), "Progress", "accuracy", "evaluate", "find_learning_rate", "fit", "generate"]
