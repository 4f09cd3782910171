#!/usr/bin/env python3
"""Times one training or inference step of a model in PyTorch on the CPU, with real images.

A step gathers its batch from a tensor in memory by a shuffled index, as users with small data sets do, then computes.
The tensor holds the first 15,000 images as float32 in [0,1], as many bytes as all 60,000 take undecoded, so that the
memory of the data does not count against PyTorch.
"""

import argparse
import json
import resource
import time

import torch
import torch.nn.functional as F

from idx_data import FASHION_MNIST, as_pixels, load
from models import MODELS

IMAGES = 15000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="fashion_cnn")
    parser.add_argument("--mode", choices=["train", "inference"], default="train")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--fused", action="store_true", help="use the optimiser's fused implementation")
    parser.add_argument("--steps", type=int, default=200, help="timed steps")
    parser.add_argument("--warmup", type=int, default=20, help="steps before the timed ones")
    parser.add_argument("--config", choices=["eager", "channels_last", "compile"], default="eager")
    parser.add_argument("--data", default=FASHION_MNIST, help="folder with IDX files, gzip-compressed")
    parser.add_argument("--threads", type=int, default=0, help="0: PyTorch's default, one for each core")
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    return parser.parse_args()


def make_batches(arguments):
    """Returns a function from the step number to a batch (images [N,1,28,28], labels [N])."""
    images, labels = load(arguments.data, "train", IMAGES)
    images = as_pixels(images)
    if arguments.config == "channels_last":
        images = images.contiguous(memory_format=torch.channels_last)
    order = torch.randperm(len(images))
    batches = len(images) // arguments.batch

    def batch(step):
        start = step % batches * arguments.batch
        index = order[start : start + arguments.batch]
        return images[index], labels[index]

    return batch


def make_model(arguments):
    model = MODELS[arguments.model]()
    if arguments.config == "channels_last":
        model = model.to(memory_format=torch.channels_last)
    if arguments.config == "compile":
        model = torch.compile(model)
    return model.train(arguments.mode == "train")


def make_optimizer(model, arguments):
    fused = True if arguments.fused else None  # None: PyTorch chooses
    if arguments.optimizer == "adam":
        return torch.optim.Adam(model.parameters(), lr=1e-3, fused=fused)
    return torch.optim.SGD(model.parameters(), lr=0.05, fused=fused)


def train_step(model, batch, arguments):
    """Returns a function that does one training step."""
    optimizer = make_optimizer(model, arguments)

    def step(number):
        images, labels = batch(number)
        optimizer.zero_grad()
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def inference_step(model, batch):
    """Returns a function that computes the logits of one batch."""

    @torch.inference_mode()
    def step(number):
        return model(batch(number)[0])

    return step


def time_steps(step, arguments):
    """Returns the sorted seconds of the timed steps."""
    for number in range(arguments.warmup):
        step(number)
    seconds = []
    for number in range(arguments.warmup, arguments.warmup + arguments.steps):
        start = time.perf_counter()
        step(number)
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)


def measure(arguments):
    torch.manual_seed(1)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    batch, model = make_batches(arguments), make_model(arguments)
    train = arguments.mode == "train"
    seconds = time_steps(train_step(model, batch, arguments) if train else inference_step(model, batch), arguments)
    median, p10 = seconds[len(seconds) // 2], seconds[len(seconds) // 10]
    return {
        "model": arguments.model,
        "mode": arguments.mode,
        "batch": arguments.batch,
        "config": arguments.config,
        "images_per_second_median": arguments.batch / median,
        "images_per_second_p90": arguments.batch / p10,
        "step_seconds_median": median,
        "step_seconds_p10": p10,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "torch": torch.__version__,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
    }


def main():
    arguments = parse_arguments()
    result = measure(arguments)
    if arguments.json:
        print(json.dumps(result))
        return
    for key, value in result.items():
        print(f"{key}: {value}")


if __name__ == "__main__":
    main()
