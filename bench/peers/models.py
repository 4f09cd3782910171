"""The PyTorch twins of Treadle's models: the same layers, parameter names and order."""

import torch
import torch.nn.functional as F
from torch import nn


class Mlp(nn.Module):
    """784 -> features, ReLU, as many layers as asked, -> 10."""

    def __init__(self, layers=1, features=128):
        super().__init__()
        sizes = [784, *[features] * layers, 10]
        for i in range(layers + 1):
            setattr(self, f"fc{i + 1}", nn.Linear(sizes[i], sizes[i + 1]))

    def forward(self, x):
        first, *others = self.children()
        x = first(torch.flatten(x, 1))
        for layer in others:
            x = layer(F.relu(x))
        return x


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


class Perceptron(nn.Module):
    """One linear layer, 2 -> 2."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(torch.flatten(x, 1))


class VggSmall(nn.Module):
    """Six 3x3 convolutions with batch norm in pairs of 64, 128 and 256 channels, global pooling, 256 -> 10."""

    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for width in (64, 128, 256):
            for _ in range(2):
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
                channels = width
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(256, 10)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


def normalized(in_channels, out_channels, kernel, stride=1, groups=1):
    """A convolution with batch norm and ReLU."""
    convolution = nn.Conv2d(in_channels, out_channels, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [convolution, nn.BatchNorm2d(out_channels), nn.ReLU()]


class MobilenetCifar(nn.Module):
    """A 3x3 convolution and five depthwise separable ones with batch norm, global pooling, 256 -> 10."""

    def __init__(self):
        super().__init__()
        layers, channels = normalized(3, 32, 3), 32
        for width, stride in (64, 1), (128, 2), (128, 1), (256, 2), (256, 1):
            layers += normalized(channels, channels, 3, stride, groups=channels) + normalized(channels, width, 1)
            channels = width
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(256, 10)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class LargeKernelCnn(nn.Module):
    """A 7x7 and two 5x5 convolutions, each with batch norm, ReLU and max-pooling, global pooling, 128 -> 10."""

    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for width, kernel in (32, 7), (64, 5), (128, 5):
            layers += [*normalized(channels, width, kernel), nn.MaxPool2d(2)]
            channels = width
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(128, 10)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class BasicBlock(nn.Module):
    """The block of ResNet-18."""

    def __init__(self, in_channels, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = None
        if in_channels != channels or stride != 1:
            shortcut = nn.Conv2d(in_channels, channels, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))


class Resnet18Cifar(nn.Module):
    """ResNet-18 without the stem of large images."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        channels = 64
        for i, width in enumerate((64, 128, 256, 512)):
            blocks = BasicBlock(channels, width, 2 if i else 1), BasicBlock(width, width, 1)
            setattr(self, f"layer{i + 1}", nn.Sequential(*blocks))
            channels = width
        self.fc = nn.Linear(512, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        return self.fc(x.mean((2, 3)))


class VisionTransformer(nn.Module):
    """Patches of 4x4 as tokens, a token for the class, four pre-norm encoder layers of 64 features."""

    def __init__(self):
        super().__init__()
        self.class_token = nn.Parameter(torch.zeros(1, 1, 64))
        self.position = nn.Parameter(torch.zeros(1, 50, 64))
        self.patch = nn.Conv2d(1, 64, 4, 4)
        layer = dict(dropout=0, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.Sequential(*(nn.TransformerEncoderLayer(64, 4, 128, **layer) for _ in range(4)))
        self.norm = nn.LayerNorm(64)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        patches = self.patch(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(len(x), 1, 64), patches], 1) + self.position
        return self.head(self.norm(self.layers(tokens))[:, 0])


class CharGpt(nn.Module):
    """Characters and their places as 128 features, four pre-norm layers of 4 heads that see no later character."""

    def __init__(self, characters=65, block=64, dropout=0.0):
        super().__init__()
        self.position = nn.Parameter(torch.zeros(block, 128))
        self.character = nn.Embedding(characters, 128)
        self.dropout = nn.Dropout(dropout)
        layer = dict(dropout=dropout, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.Sequential(*(nn.TransformerEncoderLayer(128, 4, 512, **layer) for _ in range(4)))
        self.norm = nn.LayerNorm(128)
        self.head = nn.Linear(128, characters)

    def forward(self, x):
        length = x.shape[1]
        hidden = nn.Transformer.generate_square_subsequent_mask(length, device=x.device, dtype=self.position.dtype)
        y = self.dropout(self.character(x) + self.position[:length])
        for layer in self.layers:
            y = layer(y, src_mask=hidden, is_causal=True)
        return self.head(self.norm(y))


MODELS = {
    "perceptron": Perceptron,
    "mlp": Mlp,
    "lenet5": LeNet5,
    "fashion_cnn": FashionCnn,
    "mnist_cnn": MnistCnn,
    "mnist_resnet": MnistResnet,
    "vgg_small": VggSmall,
    "mobilenet_cifar": MobilenetCifar,
    "large_kernel_cnn": LargeKernelCnn,
    "resnet18_cifar": Resnet18Cifar,
    "vision_transformer": VisionTransformer,
    "char_gpt": CharGpt,
}
