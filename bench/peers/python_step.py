#!/usr/bin/env python3
"""Times compiled training steps that Python calls, as `treadle bench step --json` times those of the program.

The network is a class of Python's; each step takes a shuffled batch of real images from memory.
"""

import argparse
import json

import numpy as np
import step_timing
import treadle as td
from idx_data import load


class FashionCnn(td.nn.Module):
    """The network that the program calls fashion_cnn."""

    def __init__(self):
        super().__init__()
        self.conv1 = td.nn.Conv2d(1, 64, 3)
        self.conv2 = td.nn.Conv2d(64, 128, 3)
        self.pool = td.nn.MaxPool2d(2)
        self.fc1 = td.nn.Linear(3200, 256)
        self.fc2 = td.nn.Linear(256, 10)

    def forward(self, x):
        x = self.pool(self.conv1(x)).relu()
        x = self.pool(self.conv2(x)).relu()
        return self.fc2(self.fc1(x.flatten(1)).relu())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    step_timing.add_options(parser, ["fashion_cnn"])
    parser.add_argument("--weights", help="start from the parameters in this safetensors file")
    arguments = parser.parse_args()
    pixels, labels = load(arguments.data, "train")
    images, labels = pixels.astype(np.float32) / 255, labels.astype(np.int64)
    model = FashionCnn()
    if arguments.weights:
        model.load_state_dict({name: value for name, value in td.load(arguments.weights).items() if name in model.state_dict()})
    optimizer = td.optim.SGD(model.parameters(), lr=1e-3)

    @td.compile
    def train(x, y):
        optimizer.zero_grad()
        loss = td.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    batch = arguments.batch
    order = np.random.default_rng(0).permutation(len(labels))

    def step(number):
        first = number * batch % (len(order) - batch)
        chosen = order[first : first + batch]
        return train(td.from_numpy(images[chosen]), td.from_numpy(labels[chosen])).item()

    figures = step_timing.report(step_timing.time_steps(step, arguments), arguments)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
