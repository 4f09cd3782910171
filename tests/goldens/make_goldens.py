#!/usr/bin/env python3
"""Computes goldens.json: what PyTorch gives for weights and inputs that every language can make again.

Run with bench/peers/.venv/bin/python after bench/peers/setup.

Numbers. Everything comes from one hash on unsigned 32-bit integers (all products and sums modulo 2^32):

    mix(seed, index):  x = index * 0x9E3779B9 + seed * 0x85EBCA6B + 0x165667B1
                       x ^= x >> 16;  x *= 0x7FEB352D;  x ^= x >> 15;  x *= 0x846CA68B;  x ^= x >> 16
    uniform(seed, i) = (mix(seed, i) >> 8) * 2^-24    in [0, 1), exact in float32
    signed(seed, i)  = 2 * uniform(seed, i) - 1       in [-1, 1), exact in float32

An element's index i counts in row-major order (NCHW for images, KCRS for filters).

Seeds                                value
    100 + p       model parameter    float32(signed * bound) of parameter number p in state_dict order, from 0;
                                     bound = float32(1 / sqrt(fan_in)), fan_in = C*R*S, for the layer's bias too
    B + t         model input        uniform; step t = 0..9, shape [16,1,28,28]; B is "input_seed" in the file
    2000 + t      model labels       mix(2000 + t, n) % 10
    3000 + k      projections        sum over i of value[i] * signed(3000 + k, i), k = 0..3, summed in float64
    4000 + 10c    layer input        float32(scale * signed) of layer case number c; "scale" is a power of two
    4001 + 10c    layer weight       signed; 4002 + 10c bias; 4003 + 10c gradient of the output
    4004 + 10c    layer labels       mix(4004 + 10c, n) % classes

The file. "models": ten steps of plain SGD (learning rate 0.05, mean cross-entropy, float32, one thread) from the
weights above: the loss before each step, and the parameters' gradients of the first step. A tensor is stored as its
L2 norm and its four projections. "layers": outputs and gradients of single layers. "cosine_schedule": the learning
rate before each step and after the last. Those of optimisers are made by make_rule_goldens.py.

Every "deviation" beside a value is the float32 result minus the same computation in float64 from the same float32
weights and inputs, so value - deviation is the float64 result, and the deviation shows how far a correct float32
program strays. The float32 values differ by such amounts between processors, since PyTorch picks its kernels by
processor.

"smallest_kink" is the least distance, in the first step, of any pre-activation to a ReLU's zero or between the two
largest values of a max-pool window: rounding below it cannot change which elements receive gradient. The input
seeds, from 1000 to 1990, are chosen to keep it well above the rounding of a float32 convolution.
"""

import json
import math
import sys
from pathlib import Path

import numpy
import torch
import torch.nn.functional as F

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "peers"))
from models import MODELS  # noqa: E402

from numbers_by_hash import labels, measures, mix, signed, uniform  # noqa: E402

STEPS, BATCH, LEARNING_RATE = 10, 16, 0.05
INPUT_SEEDS = {"mlp": 1000, "lenet5": 1160, "fashion_cnn": 1740}


def with_deviation(single, double):
    """Pairs numbers computed in float32 with their distance to float64."""
    return {"value": single, "deviation": [a - b for a, b in zip(single, double)]}


def tensor_record(single, double):
    """Describes a tensor computed in float32 and in float64."""
    a, b = measures(single), measures(double)
    record = {"shape": list(single.shape), "norm": a[0], "projections": a[1:]}
    return record | {"norm_deviation": a[0] - b[0], "projection_deviations": [x - y for x, y in zip(a[1:], b[1:])]}


# Models


def fill_parameters(model):
    """Sets every parameter from the hash, scaled by its layer's fan-in."""
    modules = dict(model.named_modules())
    for number, (name, value) in enumerate(model.state_dict().items()):
        weight = modules[name.rpartition(".")[0]].weight
        bound = numpy.float32(1 / math.sqrt(weight[0].numel()))
        value.copy_(signed(100 + number, value.shape) * float(bound))


def train(name, dtype):
    """Returns the ten losses and the first step's gradients by parameter name."""
    model = MODELS[name]()
    fill_parameters(model)
    model.to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses, gradients = [], {}
    for step in range(STEPS):
        optimizer.zero_grad()
        logits = model(uniform(INPUT_SEEDS[name] + step, (BATCH, 1, 28, 28)).to(dtype))
        loss = F.cross_entropy(logits, labels(2000 + step, BATCH, 10))
        loss.backward()
        if step == 0:
            gradients = {key: value.grad.clone() for key, value in model.named_parameters()}
        losses.append(loss.item())
        optimizer.step()
    return losses, gradients


def pool_gap(x, size):
    """Returns the least distance between the two largest values of any non-overlapping window."""
    rows, columns = x.shape[2] // size * size, x.shape[3] // size * size
    windows = x[:, :, :rows, :columns].unfold(2, size, size).unfold(3, size, size).flatten(4)
    largest = windows.topk(2, dim=-1).values
    gaps = largest[..., 0] - largest[..., 1]
    return gaps[gaps > 0].min().item()  # equal values stem from a ReLU before the pool: none of them receives gradient


def smallest_kink(name):
    """Returns the least distance to a kink of the model in the first step; see the top of the file."""
    model = MODELS[name]()
    fill_parameters(model)
    model.double()
    distances, relu, max_pool2d = [], F.relu, F.max_pool2d

    def watched_relu(x):
        distances.append(x.abs().min().item())
        return relu(x)

    def watched_pool(x, size):
        distances.append(pool_gap(x, size))
        return max_pool2d(x, size)

    F.relu, F.max_pool2d = watched_relu, watched_pool
    try:
        model(uniform(INPUT_SEEDS[name], (BATCH, 1, 28, 28)).double())
    finally:
        F.relu, F.max_pool2d = relu, max_pool2d
    return min(distances)


def model_record(name):
    losses, gradients = train(name, torch.float32)
    exact_losses, exact_gradients = train(name, torch.float64)
    return {
        "parameters": sum(value.numel() for value in gradients.values()),
        "losses": with_deviation(losses, exact_losses),
        "input_seed": INPUT_SEEDS[name],
        "smallest_kink": smallest_kink(name),
        "gradients": {key: tensor_record(value, exact_gradients[key]) for key, value in gradients.items()},
    }


# Layers; scale is 1 where none is given.

CONV2D = {"stride": [2, 2], "padding": [1, 2], "dilation": [2, 2], "groups": 2}
MAX_POOL2D = {"kernel_size": [3, 3], "stride": [2, 2], "padding": [1, 1]}
AVG_POOL2D = {"kernel_size": [2, 3], "stride": [2, 1], "padding": [1, 1], "count_include_pad": True}

LAYERS = {
    "conv2d": {"shape": (2, 4, 9, 10), "weight": (6, 2, 3, 3), "attributes": CONV2D, "function": F.conv2d},
    "max_pool2d": {"shape": (2, 3, 9, 8), "attributes": MAX_POOL2D, "function": F.max_pool2d},
    "avg_pool2d": {"shape": (2, 3, 9, 8), "attributes": AVG_POOL2D, "function": F.avg_pool2d},
    "softmax": {"shape": (5, 7), "scale": 4, "attributes": {"dim": 1}, "function": F.softmax},
    "log_softmax": {"shape": (5, 7), "scale": 4, "attributes": {"dim": 1}, "function": F.log_softmax},
    "cross_entropy": {
        "shape": (6, 10),
        "scale": 4,
        "classes": 10,
        "attributes": {"reduction": "mean"},
        "function": F.cross_entropy,
    },
    "layer_norm": {
        "shape": (3, 4, 11),
        "scale": 2,
        "weight": (11,),
        "attributes": {"eps": 1e-3},
        "function": lambda x, weight, bias, eps: F.layer_norm(x, weight.shape, weight, bias, eps),
    },
}


def layer_arguments(number, layer, dtype):
    """Returns the tensors a layer is called with, by name."""
    seed, shapes = 4000 + 10 * number, {"input": layer["shape"]}
    if "weight" in layer:
        shapes |= {"weight": layer["weight"], "bias": layer["weight"][:1]}
    tensors = {name: signed(seed + offset, shape) for offset, (name, shape) in enumerate(shapes.items())}
    tensors["input"] *= layer.get("scale", 1)
    return {name: tensor.to(dtype).requires_grad_() for name, tensor in tensors.items()}


def run_layer(number, layer, dtype):
    """Returns a layer's output and the gradients of its arguments, by name."""
    seed, arguments = 4000 + 10 * number, layer_arguments(number, layer, dtype)
    target = [labels(seed + 4, layer["shape"][0], layer["classes"])] if "classes" in layer else []
    output = layer["function"](*arguments.values(), *target, **layer["attributes"])
    if output.dim() == 0:
        output.backward()
    else:
        output.backward(signed(seed + 3, output.shape).to(dtype))
    return {"output": output} | {f"{name}_gradient": value.grad for name, value in arguments.items()}


def layer_record(number, name):
    layer = LAYERS[name]
    single, double = run_layer(number, layer, torch.float32), run_layer(number, layer, torch.float64)
    record = {"case": number, "input_shape": list(layer["shape"]), "scale": layer.get("scale", 1)}
    if "weight" in layer:
        record["weight_shape"] = list(layer["weight"])
    record["attributes"] = layer["attributes"]
    return record | {key: tensor_record(value, double[key]) for key, value in single.items()}


# Schedules


def cosine_schedule(base=0.05, steps=10):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    rates = [schedule.get_last_lr()[0]]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        rates.append(schedule.get_last_lr()[0])
    return {"base": base, "T_max": steps, "eta_min": 0.0, "learning_rates": rates}


# The file


def hash_record():
    """Lists a few values of mix so that another implementation can check itself."""
    pairs = [(0, 0), (0, 1), (1, 0), (100, 7), (1009, 12543), (0xFFFFFFFF, 0xFFFFFFFF)]
    return [{"seed": seed, "index": index, "mix": int(mix(seed, [index])[0])} for seed, index in pairs]


def to_json(value, indent=""):
    """Formats nested dictionaries, one line for each that holds no other."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    if not any(isinstance(child, dict) for child in children):
        return json.dumps(value)
    deeper = indent + " "
    if isinstance(value, list):
        return "[\n" + ",\n".join(deeper + to_json(child, deeper) for child in value) + "\n" + indent + "]"
    lines = [f"{deeper}{json.dumps(key)}: {to_json(child, deeper)}" for key, child in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + indent + "}"


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    goldens = {
        "torch": torch.__version__,
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "hash": hash_record(),
        "models": {name: model_record(name) for name in INPUT_SEEDS},
        "layers": {name: layer_record(number, name) for number, name in enumerate(LAYERS)},
        "cosine_schedule": cosine_schedule(),
    }
    Path(__file__).with_name("goldens.json").write_text(to_json(goldens) + "\n")


if __name__ == "__main__":
    main()
