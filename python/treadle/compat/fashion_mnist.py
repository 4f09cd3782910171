"""The surface of a Fashion-MNIST network in CUDA: its layers, data set and training, with gradients through all of it.

    from treadle.compat.fashion_mnist import train_fashion_mnist_cuda

    model, history = train_fashion_mnist_cuda(
        train_images, train_labels, val_images, val_labels, epochs=5, batch_size=32, device="cpu"
    )

Images are uint8 of shape [N, 28, 28], labels integers of shape [N], as NumPy's or Treadle's or whatever NumPy reads.
Equal seeds (treadle.random.manual_seed) give equal runs.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import treadle as td
from treadle import Tensor, nn

__all__ = [
    "Conv2dCUDA",
    "CrossEntropyLossCUDA",
    "FashionMNISTCNN",
    "FashionMNISTDataset",
    "FlattenCUDA",
    "LinearCUDA",
    "MaxPool2dCUDA",
    "ReLUCUDA",
    "SoftmaxCUDA",
    "create_model",
    "evaluate_accuracy",
    "train_fashion_mnist_cuda",
    "train_step",
]

Array: TypeAlias = Any  # what NumPy makes an array of


class Conv2dCUDA(nn.Module):
    """A convolution without padding, of stride 1: [N, C, H, W] → [N, K, H − R + 1, W − R + 1].

    Weights begin by Xavier's uniform rule, the bias with zeros.
    """

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = _xavier((out_channels, in_channels, kernel_size, kernel_size))
        self.bias = _zeros(out_channels) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The convolution of x with the weight, plus the bias."""
        return td.conv2d(x, self.weight, self.bias)


class MaxPool2dCUDA(nn.Module):
    """The largest element of each window: [N, C, H, W] → [N, C, P, Q]. A stride of None is the window's size."""

    def __init__(self, kernel_size: int, stride: int | None = None) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride

    def forward(self, x: Tensor) -> Tensor:
        """The maxima; gradients flow to where they were."""
        return td.max_pool2d(x, self.kernel_size, self.stride)


class ReLUCUDA(nn.Module):
    """max(x, 0) of each element."""

    def forward(self, x: Tensor) -> Tensor:
        """Of any shape."""
        return td.relu(x)


class LinearCUDA(nn.Module):
    """x·wᵀ + b: [N, in_features] → [N, out_features]; axes behind the first are flattened before.

    Weights begin by Xavier's uniform rule, the bias with zeros.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.weight = _xavier((out_features, in_features))
        self.bias = _zeros(out_features) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The product with the weight, plus the bias."""
        return td.linear(x.flatten(1) if x.ndim > 2 else x, self.weight, self.bias)


class FlattenCUDA(nn.Module):
    """[N, …] → [N, the product of the rest]."""

    def forward(self, x: Tensor) -> Tensor:
        """The same elements."""
        return x.flatten(1)


class CrossEntropyLossCUDA(nn.Module):
    """The mean of −log softmax(logits)[label] over a batch."""

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Of logits [N, classes] and labels [N] of any integer dtype."""
        return td.cross_entropy(logits, targets.to(td.int64))


class SoftmaxCUDA(nn.Module):
    """exp(x) over its sum along an axis."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        """Of any shape that has the axis."""
        return td.softmax(x, self.dim)


class FashionMNISTCNN(nn.Module):
    """Two convolutions with max-pooling and ReLU, two linear layers: [N, 1, 28, 28] → logits [N, num_classes].

    896,522 parameters for ten classes.
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.conv1 = Conv2dCUDA(1, 64, kernel_size=3)
        self.pool1 = MaxPool2dCUDA(kernel_size=2, stride=2)
        self.relu1 = ReLUCUDA()
        self.conv2 = Conv2dCUDA(64, 128, kernel_size=3)
        self.pool2 = MaxPool2dCUDA(kernel_size=2, stride=2)
        self.relu2 = ReLUCUDA()
        self.flatten = FlattenCUDA()
        self.fc1 = LinearCUDA(128 * 5 * 5, 256)
        self.relu3 = ReLUCUDA()
        self.fc2 = LinearCUDA(256, num_classes)
        self.softmax = SoftmaxCUDA()

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        x = self.relu1(self.pool1(self.conv1(x)))
        x = self.relu2(self.pool2(self.conv2(x)))
        logits: Tensor = self.fc2(self.relu3(self.fc1(self.flatten(x))))
        return logits

    def predict(self, x: Tensor) -> Tensor:
        """Probabilities of the classes, [N, num_classes]."""
        probabilities: Tensor = self.softmax(self(x))
        return probabilities


class FashionMNISTDataset:
    """Images and labels on a device: `images` [N, 1, 28, 28] of pixel/255, `labels` [N].

    Raises ShapeError where there are not as many labels as images.
    """

    def __init__(self, images: Array, labels: Array, device: str = "cuda") -> None:
        pixels, classes = np.asarray(images), np.asarray(labels)
        if pixels.ndim != 3 or classes.shape != pixels.shape[:1]:
            raise td.ShapeError(f"images {pixels.shape} and labels {classes.shape}, where [N, H, W] and [N] are expected")
        self.images = td.tensor(pixels.astype(np.float32)[:, None] / 255, device=device)
        self.labels = td.tensor(classes.astype(np.int64), device=device)
        self._order = np.empty(0, np.int64)  # what is left of the current epoch

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, idx: Any) -> tuple[Tensor, Tensor]:
        return self.images[idx], self.labels[idx]

    def get_batch(self, batch_size: int = 32, shuffle: bool = True) -> tuple[Tensor, Tensor]:
        """Images and labels of a batch. Without `shuffle` the first ones.

        With it the next ones of a random order, of which there is a new one when all images were seen: the last batch
        before that may be smaller.
        """
        if not shuffle:
            return self[:batch_size]
        if len(self._order) == 0:
            self._order = np.argsort(td.rand(len(self)).numpy(), kind="stable")
        taken, self._order = self._order[:batch_size], self._order[batch_size:]
        places = td.from_numpy(taken.copy()).to(self.images.device)
        return td.index_select(self.images, 0, places), td.index_select(self.labels, 0, places)


def train_step(
    model: nn.Module, data_batch: Tensor, target_batch: Tensor, loss_fn: Callable[..., Tensor], optimizer: Any
) -> float:
    """One step of the optimizer on a batch; the loss before it."""
    optimizer.zero_grad()
    loss = loss_fn(model(data_batch), target_batch)
    loss.backward()
    optimizer.step()
    return float(loss.item())


def evaluate_accuracy(model: FashionMNISTCNN, dataset: FashionMNISTDataset, batch_size: int = 1000) -> float:
    """The share of images whose most probable class is their label. The model's mode is as before.

    Raises ValueError where there is no image.
    """
    if len(dataset) == 0:
        raise td.ValueError("evaluate_accuracy: the data set has no image")
    training, correct = model.training, 0
    model.eval()
    with td.no_grad():
        for begin in range(0, len(dataset), batch_size):
            images, labels = dataset[begin : begin + batch_size]
            classes = td.argmax(model.predict(images), 1)
            correct += int((classes == labels).to(td.int64).sum().item())
    model.train(training)
    return correct / len(dataset)


def create_model(device: str = "cuda") -> tuple[FashionMNISTCNN, CrossEntropyLossCUDA, Any]:
    """The network on the device, its loss, and Adam with a learning rate of 1e-3."""
    model = FashionMNISTCNN(num_classes=10)
    model.to(device)
    return model, CrossEntropyLossCUDA(), td.optim.Adam(model.parameters(), lr=1e-3)


def train_fashion_mnist_cuda(
    train_images: Array,
    train_labels: Array,
    val_images: Array,
    val_labels: Array,
    epochs: int = 5,
    batch_size: int = 32,
    device: str = "cuda",
) -> tuple[FashionMNISTCNN, dict[str, list[float]]]:
    """Trains the network and prints how it goes; every epoch sees each training image once.

    Returns the model and, for each epoch, "train_losses" (means over the batches), "train_accuracies" and
    "val_accuracies". Raises DeviceAbsent where the device is not there.
    """
    train, val = FashionMNISTDataset(train_images, train_labels, device), FashionMNISTDataset(val_images, val_labels, device)
    model, loss_fn, optimizer = create_model(device)
    print(f"Training CUDA CNN on {device}")
    print(f"Model parameters: {model.parameter_count():,}")
    history: dict[str, list[float]] = {"train_losses": [], "train_accuracies": [], "val_accuracies": []}
    batches = -(-len(train) // batch_size)
    for epoch in range(epochs):
        losses = []
        for batch in range(batches):
            losses.append(train_step(model, *train.get_batch(batch_size), loss_fn, optimizer))
            if batch % 100 == 0:
                print(f"Epoch {epoch + 1}/{epochs}, Batch {batch}/{batches}, Loss: {losses[-1]:.4f}")
        history["train_losses"].append(sum(losses) / len(losses))
        history["train_accuracies"].append(evaluate_accuracy(model, train))
        history["val_accuracies"].append(evaluate_accuracy(model, val))
        loss, seen, new = (figures[-1] for figures in history.values())
        print(f"Epoch {epoch + 1}/{epochs} - Loss: {loss:.4f}, Train Acc: {seen:.4f}, Val Acc: {new:.4f}")
    return model, history


def _xavier(shape: tuple[int, ...]) -> nn.Parameter:
    weight = nn.Parameter(td.empty(shape))
    nn.init.xavier_uniform(weight)
    return weight


def _zeros(count: int) -> nn.Parameter:
    return nn.Parameter(td.zeros(count))
