#!/usr/bin/env python3
"""Times one inference step of a model in ONNX Runtime on the CPU, with real images.

A step gathers its batch from an array in memory by a shuffled index, then computes the logits. Run it in a process of
its own without OMP_PROC_BIND: a thread that an OpenMP library has bound hands its one core on to the pool.
"""

import argparse
import json
import os

import numpy
import onnxruntime
from safetensors.numpy import load_file

import step_timing
from idx_data import load
from onnx_model import LAYERS, make_model

IMAGES = 15000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    step_timing.add_options(parser, LAYERS)
    parser.add_argument("--relu-first", action="store_true", help="put each ReLU before the pooling it follows")
    return parser.parse_args()


def make_session(arguments, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    model = make_model(arguments.model, load_file(arguments.weights), arguments.batch, arguments.relu_first)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def make_step(session, arguments):
    """Returns a function that computes the logits of one batch."""
    images = load(arguments.data, "train", IMAGES)[0].astype(numpy.float32) / 255
    order = numpy.random.default_rng(1).permutation(len(images))
    batches = len(images) // arguments.batch

    def step(number):
        start = number % batches * arguments.batch
        return session.run(None, {"images": images[order[start : start + arguments.batch]]})[0]

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
