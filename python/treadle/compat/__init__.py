"""The Python surfaces of other projects, over Treadle: programs written for them change their import lines.

`treadle.compat.fashion_mnist`
    A Fashion-MNIST network: layers, data set, training (train_fashion_mnist_cuda).
`treadle.compat.gpumat`
    Matrices on a device over NumPy arrays (PyGpuMatrix).
`treadle.compat.micrograd`
    Micrograd with tensors (Tensor, MLP, Operations).

Each is imported by its own name; `import treadle` brings none of them.
"""
