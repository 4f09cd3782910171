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


class OfNetwork:
    """A cell of one model with weights. What these are trained on before, and the model's options, where it does not say."""

    trained_batches = 20
    options = ()

    @property
    def network(self):
        return self.model + "".join(f"-{name}-{value}" for name, value in self.options)


@dataclass(frozen=True)
class StepCell(OfNetwork):
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
    options: tuple = ()  # of the model itself: (name, value), …
    relu_behind_pooling: bool = False  # in the model: exported graphs can be had the other way about, too

    @property
    def name(self):
        optimizer = "" if self.optimizer == "sgd" else f"-{self.optimizer}"
        return f"{self.network}/{self.mode}{optimizer}/{self.batch}"


@dataclass(frozen=True)
class RecipeCell:
    """Seconds from process start to the saved model, which must reach an accuracy."""

    name: str
    command: tuple  # of the program
    accuracy: float
    goals: tuple


@dataclass(frozen=True)
class RunCell:
    """Images per second of a whole training as users start it: beside the same training in PyTorch, and beside the steps that
    `bench step` takes from where it ended."""

    model: str
    optimizer: str
    data: str = "fashion-mnist"
    epochs: int = 5
    batch: int = 32
    goals: tuple = (Goal("PyTorch", 1), Goal("own steps", 0.95))

    @property
    def name(self):
        return f"{self.model}/run-{self.optimizer}/{self.batch}"


@dataclass(frozen=True)
class LongCell(OfNetwork):
    """Images per second in the slowest tenth of many steps of Adam, beside the first tenth."""

    model: str
    data: str
    batch: int = 1
    steps: int = 20000
    options: tuple = ()
    goals: tuple = (Goal("first tenth", 0.95),)

    @property
    def name(self):
        return f"{self.network}/long/{self.batch}"


@dataclass(frozen=True)
class BusyCell(OfNetwork):
    """Images per second beside a process that computes all the time, and alone."""

    model: str
    bound: bool
    batch: int = 32
    data: str = "fashion-mnist"
    goals: tuple = (Goal("alone", 0.45),)

    @property
    def name(self):
        return f"{self.model}/busy{'-bound' * self.bound}/{self.batch}"


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
    Goal("dense roofline", 2.4),
    Goal("memory", 0.5, at_most=True),
)

MAIN = [
    StepCell("fashion_cnn", "train", 32, TRAIN_32),
    StepCell("fashion_cnn", "train", 1, pytorch(8)),
    StepCell("fashion_cnn", "train", 64, pytorch(4.5)),
    StepCell("fashion_cnn", "train", 256, pytorch(5)),
    StepCell("fashion_cnn", "train", 32, pytorch(4.5), optimizer="adam"),
    StepCell("fashion_cnn", "inference", 1, onnxruntime(3), relu_behind_pooling=True),
    StepCell("fashion_cnn", "inference", 8, onnxruntime(2), relu_behind_pooling=True),
    StepCell("fashion_cnn", "inference", 32, onnxruntime(2), relu_behind_pooling=True),
    StepCell("fashion_cnn", "inference", 64, onnxruntime(2), relu_behind_pooling=True),
    StepCell("mlp", "train", 32, pytorch(6)),
    StepCell("mlp", "train", 1, pytorch(20)),
    StepCell("lenet5", "train", 32, pytorch(6)),
    RecipeCell("fashion-mnist/91.4", ("fashion_cnn", "--preset", "fast"), 0.914, pytorch(4.5)),
    RecipeCell("mnist/99", ("mnist_cnn", "--preset", "fast"), 0.99, pytorch(6)),
    ArenaCell("fashion_cnn/arena/32", "fashion_cnn", 32, (Goal("eager", 0.6, at_most=True),)),
]


def brought(model, data, options=()):
    """What users bring: never slower than the best of the peers, for one, some and many examples."""
    for mode, goals in ("train", pytorch(1)), ("inference", (*pytorch(1), *onnxruntime(1))):
        for batch in 1, 32, 128:
            yield StepCell(model, mode, batch, goals, data=data, trained_batches=20, options=options)


WIDE = (("layers", 3), ("features", 1024))
BROUGHT = {
    "resnet18_cifar": "cifar-10",
    "mobilenet_cifar": "cifar-10",
    "large_kernel_cnn": "cifar-10",
    "vision_transformer": "fashion-mnist",
    "char_gpt": "licences",
}
NETWORKS = [
    StepCell("mnist_resnet", "train", 64, pytorch(2), trained_batches=50),
    StepCell("mnist_resnet", "train", 128, pytorch(2), trained_batches=50),
    StepCell("vgg_small", "train", 64, pytorch(1.2), data="cifar-10", trained_batches=50),
    StepCell("vision_transformer", "train", 64, pytorch(1.2), trained_batches=50),
    StepCell("char_gpt", "train", 16, pytorch(1.2), data="licences", trained_batches=50),
    *(cell for model, data in BROUGHT.items() for cell in brought(model, data)),
    *brought("mlp", "fashion-mnist", WIDE),
]

# What the benches' seconds do not show: whole trainings, many steps, company.
RUNS = [
    *(
        RunCell(model, optimizer, data)
        for model, data in (("fashion_cnn", "fashion-mnist"), ("lenet5", "mnist"), ("mlp", "mnist"))
        for optimizer in ("sgd", "adam")
    ),
    *(LongCell(model, "fashion-mnist", 32) for model in ("fashion_cnn", "lenet5", "mlp", "mnist_cnn", "mnist_resnet")),
    *(LongCell(model, data) for model, data in (*BROUGHT.items(), ("vgg_small", "cifar-10"))),
    LongCell("mlp", "fashion-mnist", options=WIDE),
    *(BusyCell(model, bound) for model in ("fashion_cnn", "mlp") for bound in (False, True)),
]

TABLES = {"cpu": MAIN, "networks": NETWORKS, "runs": RUNS}
CELLS = [cell for cells in TABLES.values() for cell in cells]
QUICK = ("fashion_cnn/train/32", "fashion_cnn/inference/32", "mlp/train/1")

# Multiply-adds × 2 of the dense network for one image of a training step.
DENSE_OPERATIONS = {"fashion_cnn": 60.01e6}
