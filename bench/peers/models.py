"""The PyTorch twins of Treadle's models: the same layers, parameter names and order."""

import torch
import torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    """784 -> 128, ReLU, -> 10."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


class LeNet5(nn.Module):
    """Two 5x5 convolutions with max-pooling, then 400 -> 120 -> 84 -> 10."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc3(F.relu(self.fc2(x)))


class FashionCnn(nn.Module):
    """Two 3x3 convolutions, each followed by max-pooling and then ReLU, then 3200 -> 256 -> 10."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 64, 3)
        self.conv2 = nn.Conv2d(64, 128, 3)
        self.fc1 = nn.Linear(3200, 256)
        self.fc2 = nn.Linear(256, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


class MnistCnn(nn.Module):
    """Two 5x5 convolutions, each followed by max-pooling and then ReLU, then 512 -> 10."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 5)
        self.conv2 = nn.Conv2d(16, 32, 5)
        self.fc = nn.Linear(512, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        return self.fc(torch.flatten(x, 1))


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions with batch norm around a shortcut."""

    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + x)


def normalized_convolution(in_channels, out_channels):
    return nn.Sequential(nn.Conv2d(in_channels, out_channels, 3, padding=1), nn.BatchNorm2d(out_channels))


class MnistResnet(nn.Module):
    """Two stages of a 3x3 convolution and a residual block, each followed by max-pooling, then 3136 -> 128 -> 10."""

    def __init__(self):
        super().__init__()
        self.stem = normalized_convolution(1, 32)
        self.res1 = ResidualBlock(32)
        self.conv2 = normalized_convolution(32, 64)
        self.res2 = ResidualBlock(64)
        self.fc1 = nn.Linear(3136, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(self.res1(F.relu(self.stem(x))), 2)
        x = F.max_pool2d(self.res2(F.relu(self.conv2(x))), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


MODELS = {
    "mlp": Mlp,
    "lenet5": LeNet5,
    "fashion_cnn": FashionCnn,
    "mnist_cnn": MnistCnn,
    "mnist_resnet": MnistResnet,
}
