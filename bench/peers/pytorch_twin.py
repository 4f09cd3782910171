#!/usr/bin/env python3
"""Times one training or inference step of a model in PyTorch on the CPU, with real images, or windows of a text.

A step gathers its batch from a tensor in memory by a shuffled index, as users with small data sets do, then computes.
The tensor holds the first 15,000 images as float32 in [0,1], as many bytes as all 60,000 take undecoded, so that the
memory of the data does not count against PyTorch.
"""

import argparse
import json

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

import cifar_data
import idx_data
import step_timing
import text_data
from models import MODELS

IMAGES = 15000
BLOCK = 64  # characters of a window


def add_options(parser):
    """Adds those of a model with weights."""
    step_timing.add_options(parser, MODELS)
    parser.add_argument("--weights", help="start from the parameters in this safetensors file")
    parser.add_argument("--model-option", action="append", default=[], metavar="NAME=NUMBER", help="of the model itself")
    parser.add_argument("--mode", choices=["train", "inference"], default="train")
    parser.add_argument("--config", choices=["eager", "channels_last", "compile"], default="eager")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--lr", type=float, default=1e-3, help="small, so that the weights stay what they are")
    parser.add_argument("--fused", action="store_true", help="use the optimiser's fused implementation")
    return parser.parse_args()


def learns_text(arguments):
    return arguments.model == "char_gpt"


def load_examples(arguments):
    """Returns (images [N,C,H,W], labels [N], what the model is made with: nothing), or (characters [N,T], those that follow
    each [N,T], what the model is made with: how many characters there are, and T)."""
    if learns_text(arguments):
        characters, training, _ = text_data.load(arguments.data)
        text, end = torch.tensor(training), (len(training) - 1) // BLOCK * BLOCK
        return text[:end].view(-1, BLOCK), text[1 : end + 1].view(-1, BLOCK), (len(characters), BLOCK)
    cifar = arguments.data == "cifar-10"
    loaded = cifar_data.load(arguments.data, IMAGES) if cifar else idx_data.load(arguments.data, "train", IMAGES)
    images, labels = map(torch.from_numpy, loaded)
    images, labels = images.float().div_(255), labels.long()
    if arguments.config == "channels_last":
        images = images.contiguous(memory_format=torch.channels_last)
    return images, labels, ()


def make_batches(examples, targets, size):
    """Returns a function from the step number to a batch of examples with their targets."""
    order = torch.randperm(len(examples))
    batches = len(examples) // size

    def batch(step):
        start = step % batches * size
        index = order[start : start + size]
        return examples[index], targets[index]

    return batch


def load_weights(model, path):
    """Takes the model's parameters from a safetensors file that may hold more, such as a checkpoint of Treadle."""
    stored = load_file(path)
    model.load_state_dict({name: stored[name] for name in model.state_dict()})

def make_model(arguments, options):
    own = dict(word.split("=") for word in arguments.model_option)
    model = MODELS[arguments.model](*options, **{name: int(number) for name, number in own.items()})
    if arguments.weights:
        load_weights(model, arguments.weights)
    if arguments.config == "channels_last":
        model = model.to(memory_format=torch.channels_last)
    if arguments.config == "compile":
        model = torch.compile(model)
    return model.train(arguments.mode == "train")


def make_optimizer(model, arguments):
    fused = True if arguments.fused else None  # None: PyTorch chooses
    kind = torch.optim.Adam if arguments.optimizer == "adam" else torch.optim.SGD
    return kind(model.parameters(), lr=arguments.lr, fused=fused)


def train_step(model, batch, arguments):
    """Returns a function that does one training step and returns the loss."""
    optimizer = make_optimizer(model, arguments)

    def step(number):
        examples, targets = batch(number)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(examples).flatten(0, -2), targets.flatten())
        loss.backward()
        optimizer.step()
        return loss

    return step


def inference_step(model, batch):
    """Returns a function that computes the logits of one batch."""

    @torch.inference_mode()
    def step(number):
        return model(batch(number)[0])

    return step


def measure(arguments):
    torch.manual_seed(1)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    examples, targets, options = load_examples(arguments)
    batch, model = make_batches(examples, targets, arguments.batch), make_model(arguments, options)
    train = arguments.mode == "train"
    step = train_step(model, batch, arguments) if train else inference_step(model, batch)
    result = step_timing.report(step_timing.time_steps(step, arguments), arguments)
    if train:
        result["loss"] = step(0).item()
    return result | {
        "mode": arguments.mode,
        "unit": "windows" if learns_text(arguments) else "images",
        "config": arguments.config,
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
