#!/usr/bin/env python3
"""Writes a model as an ONNX graph with given weights, for batches of one size: PyTorch exports its twin.

PyTorch's older exporter is used: the newer one needs packages that nothing else here does.
"""

import argparse
import io
import warnings

import onnx
import torch

import pytorch_twin


def export(model, example):
    """Returns the ONNX model of a module in evaluation mode."""
    file = io.BytesIO()
    with warnings.catch_warnings():  # with gradients: without them layers of transformers are one op that ONNX lacks
        warnings.simplefilter("ignore")
        torch.onnx.export(model.eval(), (example,), file, dynamo=False, opset_version=17,
                          input_names=["examples"], output_names=["logits"])  # fmt: skip
    return onnx.load_from_string(file.getvalue())


def relu_first(model):
    """Swaps each max-pooling with a ReLU that alone follows it, which commute, so that the ReLU can be fused with a
    convolution; returns how many."""
    graph, swapped = model.graph, 0
    users = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    for pool in graph.node:
        followers = users.get(pool.output[0], [])
        if pool.op_type != "MaxPool" or [node.op_type for node in followers] != ["Relu"]:
            continue
        (relu,) = followers
        # The nodes stay where they are, in order: what they do changes.
        attributes = list(pool.attribute)
        pool.op_type, relu.op_type = "Relu", "MaxPool"
        del pool.attribute[:]
        relu.attribute.extend(attributes)
        swapped += 1
    return swapped


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pytorch_twin.add_options(parser)
    parser.add_argument("--relu-first", action="store_true", help="put each ReLU before the pooling it follows")
    parser.add_argument("--out", required=True, help="the file to write")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    examples, _, options = pytorch_twin.load_examples(arguments)
    model = export(pytorch_twin.make_model(arguments, options), examples[: arguments.batch].contiguous())
    if arguments.relu_first and not relu_first(model):
        raise SystemExit(f"{arguments.model} has no ReLU behind a pooling")
    onnx.checker.check_model(model)
    onnx.save(model, arguments.out)


if __name__ == "__main__":
    main()
