"""Writes the models as ONNX graphs with given weights."""

import numpy
from onnx import TensorProto, checker, helper, numpy_helper

# Layers in order. "NAME:PADDING" is a convolution, "NAME:norm" batch norm; "add" adds what "keep" remembers.
FASHION_CNN = ["conv1:0", "pool", "relu", "conv2:0", "pool", "relu", "flatten", "fc1", "relu", "fc2"]
LENET5 = ["conv1:2", "relu", "pool", "conv2:0", "relu", "pool", "flatten", "fc1", "relu", "fc2", "relu", "fc3"]
MLP = ["flatten", "fc1", "relu", "fc2"]
MNIST_CNN = ["conv1:0", "pool", "relu", "conv2:0", "pool", "relu", "flatten", "fc"]


def residual_block(name):
    first = [f"{name}.conv1:1", f"{name}.bn1:norm", "relu"]
    return ["keep", *first, f"{name}.conv2:1", f"{name}.bn2:norm", "add", "relu", "pool"]


MNIST_RESNET = ["stem.0:1", "stem.1:norm", "relu", *residual_block("res1"), "conv2.0:1", "conv2.1:norm", "relu"]
MNIST_RESNET += [*residual_block("res2"), "flatten", "fc1", "relu", "fc2"]
LAYERS = {
    "mlp": MLP,
    "lenet5": LENET5,
    "fashion_cnn": FASHION_CNN,
    "mnist_cnn": MNIST_CNN,
    "mnist_resnet": MNIST_RESNET,
}


def relu_first(layers):
    """Swaps pooling with a ReLU after it, which commute, so that the ReLU can be fused with the convolution."""
    layers = list(layers)
    for i in range(len(layers) - 1):
        if layers[i : i + 2] == ["pool", "relu"]:
            layers[i : i + 2] = ["relu", "pool"]
    return layers


def make_node(layer, source, target, kept):
    name, _, padding = layer.partition(":")
    if name == "add":
        return helper.make_node("Add", [source, kept], [target])
    if name == "pool":
        return helper.make_node("MaxPool", [source], [target], kernel_shape=[2, 2], strides=[2, 2])
    if name == "relu":
        return helper.make_node("Relu", [source], [target])
    if name == "flatten":
        return helper.make_node("Flatten", [source], [target], axis=1)
    operands = [source, f"{name}.weight", f"{name}.bias"]
    if padding == "norm":
        statistics = [f"{name}.running_mean", f"{name}.running_var"]
        return helper.make_node("BatchNormalization", operands + statistics, [target], epsilon=1e-5)
    if padding:
        return helper.make_node("Conv", operands, [target], pads=[int(padding)] * 4)
    return helper.make_node("Gemm", operands, [target], transB=1)


def make_nodes(layers):
    nodes, value, kept = [], "images", None
    for i, layer in enumerate(layers):
        if layer == "keep":
            kept = value
            continue
        target = "logits" if i == len(layers) - 1 else f"value{i}"
        nodes.append(make_node(layer, value, target, kept))
        value = target
    return nodes


def make_model(name, weights, batch, swap=False):
    """Returns the ONNX model for batches [batch,1,28,28]; weights: parameter name -> float32 array."""
    layers = relu_first(LAYERS[name]) if swap else LAYERS[name]
    nodes = make_nodes(layers)
    used = {operand for node in nodes for operand in node.input}
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, [batch, 1, 28, 28])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, 10])],
        [numpy_helper.from_array(numpy.asarray(weights[key]), key) for key in sorted(used & set(weights))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    checker.check_model(model)
    return model
