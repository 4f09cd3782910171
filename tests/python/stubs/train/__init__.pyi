# Generated from the package: the public names, and where they come from.

from treadle._core._callbacks import Callback as Callback
from treadle._core._evaluation import ClassFigures as ClassFigures
from treadle._core._callbacks import CsvLog as CsvLog
from treadle._core._callbacks import EarlyStopping as EarlyStopping
from treadle._core._callbacks import EpochReport as EpochReport
from treadle._core._evaluation import Evaluation as Evaluation
from treadle._core._callbacks import FitResult as FitResult
from treadle._core._callbacks import FitStart as FitStart
from treadle._core._train import LearningRateCurve as LearningRateCurve
from treadle._core._callbacks import Profiler as Profiler
from treadle.train._progress import Progress as Progress
from treadle._core._checkpoints import RunFolder as RunFolder
from treadle._core._callbacks import StepReport as StepReport
from treadle._core._callbacks import TensorboardLog as TensorboardLog
from treadle._core._text import TextEvaluation as TextEvaluation
from treadle.train._evaluate import accuracy as accuracy
from treadle.train._evaluate import evaluate as evaluate
from treadle.train._fit import find_learning_rate as find_learning_rate
from treadle.train._fit import fit as fit
from treadle.train._generate import generate as generate
