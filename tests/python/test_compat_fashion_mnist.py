"""The surface of the Fashion-MNIST network: its example, and what the original got wrong."""

import sys
import types

import numpy as np
import pytest
import treadle as td
from treadle.compat import fashion_mnist
from treadle.compat.fashion_mnist import (
    Conv2dCUDA,
    CrossEntropyLossCUDA,
    FashionMNISTCNN,
    FashionMNISTDataset,
    FlattenCUDA,
    LinearCUDA,
    MaxPool2dCUDA,
    ReLUCUDA,
    SoftmaxCUDA,
    create_model,
    evaluate_accuracy,
    train_step,
)

# The original's example. What changes is the first import line, and the device, as there is no GPU. What it evaluates at
# the end it neither makes nor imports.
EXAMPLE = """
from fashion_mnist_cnn_model import train_fashion_mnist_cuda
from torchvision import datasets

# Download Fashion-MNIST
train_data = datasets.FashionMNIST('./data', train=True, download=True)
test_data = datasets.FashionMNIST('./data', train=False, download=True)

# Train the CUDA model
model, history = train_fashion_mnist_cuda(
    train_data.data, train_data.targets,
    test_data.data, test_data.targets,
    epochs=5, batch_size=32
)

# Evaluate
test_accuracy = evaluate_accuracy(model, test_dataset)
print(f"Test accuracy: {test_accuracy:.4f}")
"""


def squares(count, seed=0):
    """Images of a bright square, whose class is the quarter it lies in."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, count)
    images = rng.integers(0, 60, (count, 28, 28), dtype=np.uint8)
    for image, label in zip(images, labels):
        row, column = 14 * (label // 2), 14 * (label % 2)
        image[row : row + 12, column : column + 12] += 180
    return images, labels


def test_the_example_runs(monkeypatch, capsys):
    def downloaded(folder, train, download):
        images, labels = squares(96 if train else 32, seed=train)
        return types.SimpleNamespace(data=images, targets=labels)

    datasets = types.SimpleNamespace(FashionMNIST=downloaded)
    monkeypatch.setitem(sys.modules, "torchvision", types.SimpleNamespace(datasets=datasets))
    td.manual_seed(1)
    names = {
        "evaluate_accuracy": evaluate_accuracy,
        "test_dataset": FashionMNISTDataset(*squares(32, seed=0), device="cpu"),
    }
    text = EXAMPLE.replace("fashion_mnist_cnn_model", "treadle.compat.fashion_mnist")
    exec(text.replace("batch_size=32", 'batch_size=32, device="cpu"'), names)
    history = names["history"]
    assert list(history) == ["train_losses", "train_accuracies", "val_accuracies"]
    assert all(len(figures) == 5 for figures in history.values())
    assert history["train_losses"][-1] < 0.5 * history["train_losses"][0]
    assert names["test_accuracy"] == history["val_accuracies"][-1] > 0.9
    printed = capsys.readouterr().out
    assert "Model parameters: 896,522" in printed and "Epoch 5/5 - Loss: " in printed and "Test accuracy: " in printed


def test_the_network_is_the_original():
    model = FashionMNISTCNN()
    assert {name: parameter.shape for name, parameter in model.named_parameters()} == {
        "conv1.weight": (64, 1, 3, 3), "conv1.bias": (64,), "conv2.weight": (128, 64, 3, 3), "conv2.bias": (128,),
        "fc1.weight": (256, 3200), "fc1.bias": (256,), "fc2.weight": (10, 256), "fc2.bias": (10,),
    }
    assert sum(parameter.size for parameter in model.parameters()) == 896_522
    weight = model.conv2.weight.detach().numpy()
    bound = np.sqrt(6 / ((64 + 128) * 9))  # Xavier's
    assert 0.99 * bound < abs(weight).max() <= bound and not model.conv2.bias.detach().numpy().any()
    x = td.rand((3, 1, 28, 28))
    assert model(x).shape == (3, 10)
    np.testing.assert_allclose(model.predict(x).detach().numpy().sum(1), 1, rtol=1e-6)
    assert FashionMNISTCNN(num_classes=7)(x).shape == (3, 7)


def test_all_parameters_learn():
    """The original's max-pool gives no gradient, so its convolutions never do."""
    model, loss_fn, optimizer = create_model("cpu")
    before = {name: parameter.detach().numpy().copy() for name, parameter in model.named_parameters()}
    images, labels = FashionMNISTDataset(*squares(8), device="cpu")[:]
    first = train_step(model, images, labels, loss_fn, optimizer)
    assert first == pytest.approx(loss_fn(FashionMNISTCNN()(images), labels).item(), rel=0.5)
    assert train_step(model, images, labels, loss_fn, optimizer) < first
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and (parameter.detach().numpy() != before[name]).any(), name


def test_the_gradient_of_max_pooling_goes_to_the_maxima():
    x = td.tensor(np.array([[1, 5, 2, 0], [3, 4, 9, 8]], np.float32).reshape(1, 1, 2, 4), requires_grad=True)
    y = MaxPool2dCUDA(2)(x)
    assert y.tolist() == [[[[5.0, 9.0]]]]
    (y * td.tensor([10.0, 20.0])).sum().backward()
    assert x.grad.tolist() == [[[[0.0, 10.0, 0.0, 0.0], [0.0, 0.0, 20.0, 0.0]]]]
    assert MaxPool2dCUDA(2, stride=1)(x).shape == (1, 1, 1, 3)


def test_layers_by_themselves():
    x = td.tensor(np.arange(8, dtype=np.float32).reshape(2, 1, 2, 2) - 3)
    assert ReLUCUDA()(x).tolist()[0] == [[[0.0, 0.0], [0.0, 0.0]]]
    assert FlattenCUDA()(x).shape == (2, 4)
    linear = LinearCUDA(4, 3)
    np.testing.assert_array_equal(linear(x).detach().numpy(), linear(x.flatten(1)).detach().numpy())
    assert LinearCUDA(4, 3, bias=False).bias is None
    assert [name for name, _ in Conv2dCUDA(1, 2, 2, bias=False).named_parameters()] == ["weight"]
    assert Conv2dCUDA(1, 2, kernel_size=2)(x).shape == (2, 2, 1, 1)


def test_softmax_is_along_its_axis():
    """The original's is along the last one, whatever is asked for."""
    x = td.rand((2, 3, 4))
    np.testing.assert_allclose(SoftmaxCUDA(dim=1)(x).numpy().sum(1), 1, rtol=1e-6)
    np.testing.assert_allclose(SoftmaxCUDA()(x).numpy().sum(2), 1, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_labels_of_any_integer_dtype(dtype):
    logits = td.tensor([[0.0, 0.0], [0.0, 0.0]], requires_grad=True)
    loss = CrossEntropyLossCUDA()(logits, td.tensor([0, 1], dtype=dtype))
    assert loss.item() == pytest.approx(np.log(2))


def test_an_epoch_sees_each_image_once():
    """The original draws a new order for each batch, so that a third of the images are missed."""
    images = np.zeros((70, 28, 28), np.uint8)
    dataset = FashionMNISTDataset(images, np.arange(70), device="cpu")
    epochs = []
    for _ in range(2):
        batches = [dataset.get_batch(32)[1].tolist() for _ in range(3)]
        assert [len(batch) for batch in batches] == [32, 32, 6]
        epochs.append(sum(batches, []))
        assert sorted(epochs[-1]) == list(range(70))
    assert epochs[0] != epochs[1] != list(range(70))
    assert dataset.get_batch(4, shuffle=False)[1].tolist() == [0, 1, 2, 3]


def test_training_uses_every_image(monkeypatch):
    seen = []

    def step(model, images, labels, loss_fn, optimizer):
        seen.extend(labels.tolist())
        return 1.0

    monkeypatch.setattr(fashion_mnist, "train_step", step)
    images = np.zeros((45, 28, 28), np.uint8)
    fashion_mnist.train_fashion_mnist_cuda(images, np.arange(45) % 10, images, np.zeros(45, int), epochs=1, device="cpu")
    assert sorted(seen) == sorted(np.arange(45) % 10)


def test_accuracy_is_the_share_of_hits():
    class Knows(FashionMNISTCNN):
        def predict(self, x):
            assert not self.training and not td.is_grad_enabled()
            return td.tensor(np.eye(10, dtype=np.float32)[x.numpy()[:, 0, 0, 0].astype(int)])

    images = np.zeros((25, 28, 28), np.uint8)
    images[:, 0, 0] = 255  # class 1
    model = Knows()
    dataset = FashionMNISTDataset(images, np.arange(25) % 5, device="cpu")
    assert evaluate_accuracy(model, dataset, batch_size=10) == 5 / 25
    assert model.training and evaluate_accuracy(model.eval(), dataset) == 5 / 25 and not model.training
    with pytest.raises(ValueError, match="no image"):
        evaluate_accuracy(model, FashionMNISTDataset(images[:0], np.zeros(0, int), device="cpu"))


def test_what_is_no_data_set_is_refused():
    with pytest.raises(td.ShapeError, match=r"\(3, 28, 28\).*\(2,\)"):
        FashionMNISTDataset(np.zeros((3, 28, 28), np.uint8), np.zeros(2, int), device="cpu")
    with pytest.raises(td.ShapeError):
        FashionMNISTDataset(np.zeros((3, 784), np.uint8), np.zeros(3, int), device="cpu")
