#!/usr/bin/env python3
"""Trains a model in PyTorch by a recipe and prints its test accuracy as JSON.

The recipe is by default that of the accuracy comparison: Adam with learning rate 1e-3, batches of 32 shuffled each
epoch, and cosine decay to 0, stepwise over all epochs. Example: train_twin.py --model fashion_cnn --epochs 5 --seed 1
"""

import argparse
import json
import math
import sys
import time
from functools import partial

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from idx_data import load
from models import MODELS

OPTIMIZERS = {
    "sgd": torch.optim.SGD,
    "momentum": partial(torch.optim.SGD, momentum=0.9),
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


def one_cycle(step, steps, warm_up):
    progress = min((step + 1) / (steps + 1), 1)
    return progress / warm_up if progress < warm_up else (1 - progress) / (1 - warm_up)


# name -> the share of the learning rate in a step; treadle/optim/schedules has the formulas
SCHEDULES = {
    "constant": lambda step, steps, warm_up: 1.0,
    "cosine": lambda step, steps, warm_up: (1 + math.cos(math.pi * min(1.0, step / steps))) / 2,
    "linear": lambda step, steps, warm_up: 1 - min(1.0, step / steps),
    "one-cycle": one_cycle,
}


def parse_arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="fashion_cnn")
    parser.add_argument("--data", default="fashion-mnist", help="a data set's name, or a folder with IDX files")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adam")
    parser.add_argument("--schedule", choices=SCHEDULES, default="cosine", help="of the learning rate, over all steps")
    parser.add_argument("--warm-up", type=float, default=0.2, help="share of the steps in which one-cycle rises")
    parser.add_argument("--steps", type=int, default=0, help="end the run after so many steps; 0: after all epochs")
    parser.add_argument("--normalize", action="store_true", help="subtract the pixels' mean, divide by their deviation")
    parser.add_argument("--constant", action="store_const", const="constant", dest="schedule", help="no decay")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-batches", type=int, default=0, help="batches of an epoch; 0: all")
    parser.add_argument("--save", help="write the parameters to this safetensors file")
    return parser.parse_args(words)


def load_tensors(name, split):
    """Returns (images float32 in [0,1], channels-last, labels int64)."""
    images, labels = map(torch.from_numpy, load(name, split))
    return images.float().div_(255).contiguous(memory_format=torch.channels_last), labels.long()


def make_schedule(optimizer, steps, arguments):
    share = SCHEDULES[arguments.schedule]
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: share(step, steps, arguments.warm_up))


def train_epoch(model, images, labels, optimizer, schedule, batches, batch):
    """Trains one epoch on shuffled batches and returns the mean loss."""
    order, total = torch.randperm(len(images)), 0.0
    for step in range(batches):
        index = order[step * batch : (step + 1) * batch]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[index]), labels[index])
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item()
    return total / batches


def images_in(steps, batches, count, arguments):
    """Returns how many images so many steps take; an epoch's last batch may be a smaller one."""
    epochs, rest = divmod(steps, batches)
    return epochs * min(count, batches * arguments.batch) + min(count, rest * arguments.batch)


def train(model, images, labels, arguments):
    """Trains by the recipe and returns (the seconds it took, how many images it took)."""
    batches = -(-len(labels) // arguments.batch)
    batches = min(batches, arguments.limit_batches or batches)
    optimizer = OPTIMIZERS[arguments.optimizer](model.parameters(), lr=arguments.lr, fused=True)
    steps = arguments.epochs * batches
    steps = min(steps, arguments.steps or steps)
    schedule = make_schedule(optimizer, steps, arguments)
    start = time.perf_counter()
    for first in range(0, steps, batches):
        loss = train_epoch(model, images, labels, optimizer, schedule, min(batches, steps - first), arguments.batch)
        print(f"step {min(first + batches, steps)}: loss {loss:.4f}", file=sys.stderr)
    return time.perf_counter() - start, images_in(steps, batches, len(labels), arguments)


@torch.inference_mode()
def evaluate(model, images, labels):
    """Returns (accuracy, mean loss)."""
    logits = torch.cat([model(part) for part in images.split(500)])
    accuracy = (logits.argmax(1) == labels).float().mean().item()
    return accuracy, F.cross_entropy(logits, labels).item()


def main():
    arguments = parse_arguments()
    torch.manual_seed(arguments.seed)
    model = MODELS[arguments.model]().to(memory_format=torch.channels_last)
    images, labels = load_tensors(arguments.data, "train")
    mean, deviation = (images.mean().item(), images.std().item()) if arguments.normalize else (0.0, 1.0)
    if arguments.normalize:
        images.sub_(mean).div_(deviation)
    seconds, count = train(model, images, labels, arguments)
    images, labels = load_tensors(arguments.data, "t10k")
    accuracy, loss = evaluate(model.eval(), images.sub_(mean).div_(deviation), labels)
    if arguments.save:
        save_file({name: value.contiguous() for name, value in model.state_dict().items()}, arguments.save)
    keys = ("model", "data", "epochs", "steps", "batch", "lr", "seed", "optimizer", "schedule", "normalize")
    result = {key: getattr(arguments, key) for key in keys} | {"train_seconds": seconds, "images": count}
    print(json.dumps(result | {"test_accuracy": accuracy, "test_loss": loss, "torch": torch.__version__}))


if __name__ == "__main__":
    main()
