#!/usr/bin/env python3
"""Trains a model in PyTorch by the recipe of the accuracy comparison and prints its test accuracy as JSON.

Recipe: Adam with learning rate 1e-3, batches of 32 shuffled each epoch, and cosine decay to 0, stepwise over all epochs
(--constant: no decay). Example: train_twin.py --model fashion_cnn --epochs 5 --seed 1
"""

import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F

from idx_data import FASHION_MNIST, as_pixels, load
from models import MODELS


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="fashion_cnn")
    parser.add_argument("--data", default=FASHION_MNIST, help="folder with IDX files, gzip-compressed")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--constant", action="store_true", help="keep the learning rate constant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit-batches", type=int, default=0, help="batches of an epoch; 0: all")
    return parser.parse_args()


def to_input(images):
    return as_pixels(images).contiguous(memory_format=torch.channels_last)


def make_schedule(optimizer, steps, constant):
    if constant:
        return torch.optim.lr_scheduler.ConstantLR(optimizer, factor=1.0)
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)


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


def train(model, arguments):
    """Trains by the recipe and returns the seconds it took."""
    images, labels = load(arguments.data, "train")
    images, batches = to_input(images), -(-len(labels) // arguments.batch)
    batches = min(batches, arguments.limit_batches or batches)
    optimizer = torch.optim.Adam(model.parameters(), lr=arguments.lr, fused=True)
    schedule = make_schedule(optimizer, arguments.epochs * batches, arguments.constant)
    start = time.perf_counter()
    for epoch in range(1, arguments.epochs + 1):
        loss = train_epoch(model, images, labels, optimizer, schedule, batches, arguments.batch)
        print(f"epoch {epoch}: loss {loss:.4f}", file=sys.stderr)
    return time.perf_counter() - start


@torch.inference_mode()
def evaluate(model, arguments):
    """Returns (accuracy, mean loss) on the test images."""
    images, labels = load(arguments.data, "t10k")
    logits = torch.cat([model(to_input(part)) for part in images.split(500)])
    accuracy = (logits.argmax(1) == labels).float().mean().item()
    return accuracy, F.cross_entropy(logits, labels).item()


def main():
    arguments = parse_arguments()
    torch.manual_seed(arguments.seed)
    model = MODELS[arguments.model]().to(memory_format=torch.channels_last)
    seconds = train(model, arguments)
    accuracy, loss = evaluate(model.eval(), arguments)
    result = {key: getattr(arguments, key) for key in ("model", "data", "epochs", "batch", "lr", "seed")}
    result |= {"schedule": "constant" if arguments.constant else "cosine", "train_seconds": seconds}
    print(json.dumps(result | {"test_accuracy": accuracy, "test_loss": loss, "torch": torch.__version__}))


if __name__ == "__main__":
    main()
