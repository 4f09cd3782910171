#!/usr/bin/env python3
"""Times one inference step of a model in ONNX Runtime on the CPU, with real images, or windows of a text.

A step gathers its batch from an array in memory by a shuffled index, then computes the logits. Run it in a process of
its own without OMP_PROC_BIND: a thread that an OpenMP library has bound hands its one core on to the pool.
"""

import argparse
import json
import os

import numpy
import onnxruntime

import cifar_data
import idx_data
import step_timing
import text_data

IMAGES = 15000
BLOCK = 64  # characters of a window


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    step_timing.add_options(parser)
    parser.add_argument("--graph", required=True, help="the model as onnx_export.py writes it, for batches of this size")
    return parser.parse_args()


def make_session(arguments, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(arguments.graph, options, providers=["CPUExecutionProvider"])


def load_examples(arguments):
    """Returns images [N,C,H,W] as float32 in [0,1], or windows of characters [N,T] as int64."""
    if arguments.data.endswith(".txt"):
        training = text_data.load(arguments.data)[1]
        return numpy.array(training[: (len(training) - 1) // BLOCK * BLOCK]).reshape(-1, BLOCK)
    cifar = arguments.data == "cifar-10"
    images, _ = cifar_data.load(arguments.data, IMAGES) if cifar else idx_data.load(arguments.data, "train", IMAGES)
    return images.astype(numpy.float32) / 255


def make_step(session, arguments):
    """Returns a function that computes the logits of one batch."""
    examples = load_examples(arguments)
    order = numpy.random.default_rng(1).permutation(len(examples))
    batches = len(examples) // arguments.batch

    def step(number):
        start = number % batches * arguments.batch
        return session.run(None, {"examples": examples[order[start : start + arguments.batch]]})[0]

    return step


def main():
    arguments = parse_arguments()
    threads = arguments.threads or len(os.sched_getaffinity(0))
    step = make_step(make_session(arguments, threads), arguments)
    result = step_timing.report(step_timing.time_steps(step, arguments), arguments)
    result |= {"mode": "inference", "onnxruntime": onnxruntime.__version__, "threads": threads}
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
