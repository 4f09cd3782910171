"""What is compared: models, modes, batch sizes, recipes, and the goal of each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """Treadle's figure divided by that of a reference must reach a factor (or stay below it, where at_most is set)."""

    # "PyTorch", "ONNX Runtime": its best configuration. "as installed", "default layout": one configuration of PyTorch.
    # "dense roofline": arithmetic of the dense network at the measured peak. "memory": peak of the processes.
    reference: str
    factor: float
    at_most: bool = False

    def __str__(self):
        return f"{'≤' if self.at_most else '≥'} {self.factor:g}×"

    def met(self, ratio):
        return ratio <= self.factor if self.at_most else ratio >= self.factor


@dataclass(frozen=True)
class StepCell:
    """Images, or windows of a text, per second of one step."""

    model: str
    mode: str  # train or inference
    batch: int
    goals: tuple
    optimizer: str = "sgd"
    data: str = "fashion-mnist"
    # How many batches of 32 images the weights are trained on before; 0: an epoch. More change nothing where no
    # contender's speed depends on them.
    trained_batches: int = 0

    @property
    def name(self):
        optimizer = "" if self.optimizer == "sgd" else f"-{self.optimizer}"
        return f"{self.model}/{self.mode}{optimizer}/{self.batch}"


@dataclass(frozen=True)
class RecipeCell:
    """Seconds from process start to the saved model, which must reach an accuracy."""

    name: str
    command: tuple  # of the program
    accuracy: float
    goals: tuple


@dataclass(frozen=True)
class ArenaCell:
    """Bytes of a compiled step's arena against the peak of the same step op by op."""

    name: str
    model: str
    batch: int
    goals: tuple


def pytorch(factor):
    return (Goal("PyTorch", factor),)


def onnxruntime(factor):
    return (Goal("ONNX Runtime", factor),)


TRAIN_32 = (
    Goal("PyTorch", 4.5),
    Goal("as installed", 6),
    Goal("default layout", 8),
    Goal("dense roofline", 1.8),
    Goal("memory", 0.5, at_most=True),
)

CELLS = [
    StepCell("fashion_cnn", "train", 32, TRAIN_32),
    StepCell("fashion_cnn", "train", 1, pytorch(6)),
    StepCell("fashion_cnn", "train", 64, pytorch(4.2)),
    StepCell("fashion_cnn", "train", 256, pytorch(4.5)),
    StepCell("fashion_cnn", "train", 32, pytorch(4.5), optimizer="adam"),
    StepCell("fashion_cnn", "inference", 1, onnxruntime(2)),
    StepCell("fashion_cnn", "inference", 8, onnxruntime(2)),
    StepCell("fashion_cnn", "inference", 32, onnxruntime(2)),
    StepCell("fashion_cnn", "inference", 64, onnxruntime(2)),
    StepCell("mlp", "train", 32, pytorch(4)),
    StepCell("mlp", "train", 1, pytorch(10)),
    StepCell("lenet5", "train", 32, pytorch(5)),
    StepCell("mnist_resnet", "train", 64, pytorch(2), trained_batches=50),
    StepCell("mnist_resnet", "train", 128, pytorch(2), trained_batches=50),
    StepCell("vgg_small", "train", 64, pytorch(1.2), data="cifar-10", trained_batches=50),
    StepCell("resnet18_cifar", "train", 32, pytorch(1.2), data="cifar-10", trained_batches=20),
    StepCell("vision_transformer", "train", 64, pytorch(1.2), trained_batches=50),
    StepCell("char_gpt", "train", 16, pytorch(1.2), data="licences", trained_batches=50),
    RecipeCell("fashion-mnist/91.4", ("fashion_cnn", "--preset", "fast"), 0.914, pytorch(4.5)),
    RecipeCell("mnist/99", ("mnist_cnn", "--preset", "fast"), 0.99, pytorch(6)),
    ArenaCell("fashion_cnn/arena/32", "fashion_cnn", 32, (Goal("eager", 0.6, at_most=True),)),
]
QUICK = ("fashion_cnn/train/32", "fashion_cnn/inference/32", "mlp/train/1")

# Multiply-adds × 2 of the dense network for one image of a training step.
DENSE_OPERATIONS = {"fashion_cnn": 60.01e6}
