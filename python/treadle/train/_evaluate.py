"""Figures of models on data."""

from __future__ import annotations

import os
from collections.abc import Callable

from treadle import _core, models
from treadle._core import Tensor
from treadle._core._data import DatasetSplits, ImageDataset
from treadle._core._evaluation import Evaluation
from treadle._core._nn import Module
from treadle._core._text import TextDataset, TextEvaluation
from treadle.data import load, load_text
from treadle.train._parts import device_of, examples_of, part_of


def accuracy(prediction: Tensor, labels: Tensor) -> Tensor:
    """The share of the rows of `prediction` [B, K] whose largest element is at their label [B]: a metric of fit()."""
    return (prediction.argmax(1) == labels).to(_core.float32).mean()


def evaluate(
    model: Module, data, *, loss: Callable | None = None, metrics: dict[str, Callable] | None = None, batch_size: int = 256,
    limit: int = 0, normalization: tuple | None = None,
) -> Evaluation | TextEvaluation | dict[str, float]:
    """Runs the model in evaluation mode over the data, in order, as a compiled function.

    data: a data set as fit() takes it; of one with parts, or a name, the test part
    loss, metrics: functions of prediction and target that give a mean over the batch. Without either the model is a
        classifier, and the figures are an Evaluation: accuracy, mean cross-entropy, and figures by class
    limit: only so many examples, or windows of a text; 0: all
    normalization: of an ImageDataset, (mean, deviation); default: that which the model was trained with

    Gives "loss" and the metrics by name where there are functions, a TextEvaluation of the test part of a text.
    """
    known = models.about(model)
    if isinstance(data, (str, os.PathLike)):
        data = load_text(os.fspath(data), *known.input, known.classes) if models.learns_texts(model) else load(data)
    if isinstance(data, TextDataset):
        return _core._text._evaluate(model, data, device_of(model), batch_size, limit)
    part = data.test if isinstance(data, DatasetSplits) else part_of(data)
    options = _core._train._Options()
    options.device = device_of(model)
    description = options.description
    description.normalization = tuple(map(list, normalization or known.normalization))
    options.description = description
    examples = examples_of(part, options.device)
    if loss is None and metrics is None:
        classes = len(part.classes) if isinstance(part, ImageDataset) else 0
        return _core._evaluation.evaluate_classifier(model, examples, options, classes, batch_size, limit)
    return _core._evaluation.evaluate_by(model, examples, options, loss, list((metrics or {}).items()), batch_size, limit)
